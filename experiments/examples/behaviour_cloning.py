"""Train a network to choose what the agents of a dataset chose (behaviour cloning), and let it play them.

    python -m experiments.dataset --agents greedy --games 50000 --output runs/greedy
    python -m experiments.examples.behaviour_cloning --dataset runs/greedy --run runs/cloned --graph-width 32
    python -m experiments.tournament --agents greedy,ppo:runs/cloned

The policy learns the actions, the value of the seat that decides learns its return. Ctrl-C ends the training early and
keeps the network; --init-from goes on from one.
"""

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import torch
from rich.console import Console
from torch.nn.functional import nll_loss

from agents.networks.agent import NetworkAgent
from agents.networks.config import NetworkConfig, supports_bfloat16
from agents.networks.network import PolicyValueNet, new_network
from agents.networks.network_files import load_network, save_network
from agents.registry import make_agent
from agents.settings import Range
from experiments.common.cli import command_line, progress_bar, run_program
from experiments.common.interrupts import Interrupt
from experiments.common.provenance import commit, cpu_name
from experiments.common.ranges import Count, Seed, Width, Widths, check_ranges
from experiments.evaluation.matches import estimate, one_against_others
from experiments.training.init_network import origin_of
from samurai_env import __version__

if TYPE_CHECKING:
    from experiments.datasets.reader import Dataset

COLUMNS = ("observation", "action_mask", "action", "return")


@dataclass
class Config:
    """Settings of behaviour cloning."""

    dataset: Path = Path("runs/dataset")
    """Folder of the dataset."""
    run: Path = Path("runs/cloned")
    """Folder for the network."""
    total_timesteps: Annotated[int, Range(1, 10**12)] = 5_000_000
    """Decisions to learn from; beyond the dataset's number it is gone through again."""
    init_from: Path | None = None
    """Go on from this network of the same form."""
    hidden: Widths = (256,)
    """Widths of the hidden layers."""
    graph_width: Width = 0
    """Width of layers that read the map as a graph, with shared weights; 0 for none."""
    minibatch_size: Count = 256
    """Decisions in a gradient step."""
    learning_rate: Annotated[float, Range(1e-6, 1e6)] = 2e-3
    """AdamW's largest step size, reached after 50,000 decisions; then it falls to nothing."""
    vf_coef: Annotated[float, Range(0, 1e6)] = 0.1
    """Weight of the loss of the values."""
    seed: Seed = 1
    """Seed of weights and order."""
    eval_opponent: str | None = None
    """Agent to play at the end; the first of the dataset if not given."""
    eval_deals: Annotated[int, Range(1, 10**6)] = 500
    """Deals that are played, each from every seat."""


def train(
    config: Config, dataset: "Dataset", console: Console, interrupt: Interrupt | None = None
) -> tuple[PolicyValueNet, int]:
    """Train a network on all shards but the last.

    Returns:
        The network, and how many decisions it learned from; after Ctrl-C fewer than wanted.

    Raises:
        ValueError: there is no such network, the one to go on from has another form, or there is one shard only.
    """
    if dataset.shards < 2:
        raise ValueError("the last shard is held out, and this dataset has no other: make one of fewer --shard-games")
    torch.manual_seed(config.seed)
    form = NetworkConfig(
        dataset.variant.spec,
        dataset.origin.encoding,
        tuple(config.hidden),
        graph_width=config.graph_width,
    )
    shards = range(dataset.shards - 1)
    if config.init_from:
        net = load_network(config.init_from).train()
        if net.config != form:
            raise ValueError(f"the network in {config.init_from} does not fit: {net.config.differences(form)}")
    else:
        net = new_network(form)
        net.standardize(next(dataset.torch_batches(20_000, COLUMNS, config.seed, shards))["observation"])
    optimizer = torch.optim.AdamW(net.parameters(), config.learning_rate, fused=True)
    seen = 0
    with interrupt or Interrupt() as interrupt, progress_bar(console, "decisions", config.total_timesteps) as bar:
        while seen < config.total_timesteps and not interrupt.asked:
            epoch = config.seed + seen
            for batch in dataset.torch_batches(config.minibatch_size, COLUMNS, epoch, shards):
                for group in optimizer.param_groups:
                    group["lr"] = config.learning_rate * min(
                        1.0, seen / 50_000 + 0.01, 1.0 - seen / config.total_timesteps
                    )
                with torch.autocast("cpu", torch.bfloat16, supports_bfloat16()):
                    log_probs, values = net(batch["observation"], batch["action_mask"])
                own = values[:, 0]  # values are seat-relative: the seat that decides comes first
                loss = nll_loss(log_probs, batch["action"]) + config.vf_coef * (own - batch["return"]).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                seen += len(own)
                bar(seen, f"loss {loss.item():.3f}")
                if seen >= config.total_timesteps or interrupt.asked:
                    break
    return net.eval(), seen


@torch.no_grad()
def accuracy(net: PolicyValueNet, dataset: "Dataset") -> float:
    """Agreement on the last shard: the share of decisions, among those with a choice, that are made alike."""
    right = decisions = 0
    for batch in dataset.torch_batches(4096, COLUMNS, shards=[dataset.shards - 1]):
        choice = batch["action_mask"].sum(1) > 1
        log_probs, _ = net(batch["observation"], batch["action_mask"])
        right += int((log_probs.argmax(1) == batch["action"])[choice].sum())
        decisions += int(choice.sum())
    return right / decisions


def main(config: Config) -> PolicyValueNet:
    """Train, measure, write.

    Raises:
        ValueError: a setting is impossible, or the dataset damaged.
        FileNotFoundError: there is no dataset.
    """
    from experiments.datasets.reader import Dataset

    check_ranges(config)
    console, started = Console(), time.perf_counter()
    dataset = Dataset(config.dataset)
    opponent = config.eval_opponent or dataset.origin.agents[0]
    other = make_agent(opponent, dataset.variant)  # fail before anything is learned
    origin = origin_of(config.init_from) if config.init_from else None  # before that file may be overwritten
    interrupt = Interrupt()
    net, steps = train(config, dataset, console, interrupt)
    minutes = round((time.perf_counter() - started) / 60, 1)
    save_network(net, config.run / "model.safetensors", {"steps": steps})  # kept if what follows is stopped
    agreement = accuracy(net, dataset)
    agents = [NetworkAgent(dataset.variant, net), other]
    share = estimate(one_against_others(dataset.variant, agents, 0, config.eval_deals))
    settings = {name: str(value) if isinstance(value, Path) else value for name, value in asdict(config).items()}
    notes = {
        "command": command_line("experiments.examples.behaviour_cloning", config),
        "commit": commit(),
        "version": __version__,
        "machine": cpu_name(),
        "steps": steps,
        "minutes": minutes,
        "agreement": round(agreement, 4),
        f"win_share_{opponent}": [round(value, 4) for value in (share.mean, share.low, share.high)],
        "config": settings,
        "dataset": msgspec.to_builtins(dataset.origin) | {"games": dataset.games, "decisions": dataset.decisions},
        "origin": origin,
    }
    save_network(net, config.run / "model.safetensors", notes)
    console.print(
        f"{steps:,} decisions in {minutes:g} minutes; {agreement:.1%} of those held out are made alike; "
        f"win share against {opponent} {share} over {config.eval_deals:,} deals"
    )
    console.print(f"the network is {config.run / 'model.safetensors'}; as an agent: ppo:{config.run}")
    interrupt.end(f"{steps:,} decisions are learned, and --init-from {config.run} goes on from there")
    return net


if __name__ == "__main__":
    run_program("experiments.examples.behaviour_cloning", Config, main, __doc__)
