"""Learn a belief about hidden hands from games, for searches (`belief=FILE`; `agents.search.beliefs`).

    python -m experiments.training.belief --run runs/belief --game samurai players=2 --agents greedy mcts:1000

Agents, drawn anew for every seat, play games. A small network learns from what the seat to move sees what the others
have in hand: the likelihood of the true hands is maximised, as `samurai_env.games.hands` deals them. The network of the
epoch with the greatest likelihood on the games held out is kept. Ctrl-C keeps the games played so far; the same command
resumes.
"""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from rich.console import Console
from torch import nn

from agents.arena import play_to_end
from agents.best import named
from agents.registry import make_agent
from agents.search.beliefs import LARGEST_LOGIT, Belief, hand_kinds, save_belief, shapes
from agents.settings import Range
from agents.spec import split_agent_specs
from experiments.common import gathered_positions
from experiments.common.array_files import load_arrays
from experiments.common.cli import GameSpec, run_program
from experiments.common.ranges import Count, check_ranges
from experiments.common.tasks import WorkerSettings
from experiments.training.supervised import FitSettings, Recorder, check_positions, fit
from samurai_env import parse_variant
from samurai_env.core.game import Variant
from samurai_env.game_batch import GameBatch

DEALS = 16  # played by a worker at a time
HELD_OUT = 10  # one part in so many is held out
LAYERS = ("first", "second")
FORMS = {"observations": ("|i1", 2), "hands": ("|i1", 3), "unseen": ("|i1", 3)}


@dataclass
class Config(FitSettings, WorkerSettings):
    """Settings of such a run."""

    run: Path = Path("runs/belief")
    """Folder for the belief and the games."""
    game: GameSpec = "samurai players=2"
    """The game, in which players hold hands, with its number of players and options."""
    agents: tuple[str, ...] = ("greedy", "mcts:1000")
    """Specs of who plays, separated by blanks or commas."""
    deals: Annotated[int, Range(2 * DEALS, 10**7)] = 4000  # a part to learn from, one held out
    """Games to play."""
    share: Annotated[float, Range(0, 1, above=True)] = 0.5
    """Share of the decisions that are kept, drawn at random."""
    encoding: str | None = None
    """Encoding of observations; the game's default if not given."""
    hidden: Annotated[int, Range(1, 2**16)] = 128
    """Units of the hidden layer."""
    epochs: Count = 12
    """Passes over the positions."""
    learning_rate: Annotated[float, Range(1e-6, 1e6)] = 2e-3
    """AdamW's largest step size; it rises, and falls to nothing."""

    def __post_init__(self) -> None:
        self.agents = split_agent_specs(self.agents)


Task = tuple[str, str, tuple[str, ...], float, int, int]  # spec, encoding, agents, share, part, seed


def play(task: Task) -> dict[str, np.ndarray]:
    """Worker: decisions of some deals.

    Returns:
        observations: int8 (decisions, numbers), of the seat to move.
        hands: int8 (decisions, others, kinds), what the others hold, the next seat first.
        unseen: the same, hand and supply together.
    """
    spec, encoding, names, share, part, seed = task
    variant, rng, kept = parse_variant(spec), np.random.default_rng((seed, part)), list[np.ndarray]()
    agents = [Recorder(make_agent(name, variant), share, rng, kept) for name in names]
    seating = rng.integers(len(agents), size=(DEALS, variant.num_players))
    play_to_end(variant, agents, seating, rng.integers(2**62, size=DEALS))
    states = np.concatenate(kept)
    others = (states["seat"].astype(int)[:, None] + np.arange(1, variant.num_players)) % variant.num_players
    rows, size = np.arange(len(states))[:, None], int(np.prod(variant.encoding(encoding).shape))
    return {
        "observations": GameBatch(variant).observe(states, encoding=encoding).reshape(len(states), size),
        "hands": states["hand"][rows, others],
        "unseen": states["unseen"][rows, others],
    }


class Positions:
    """Decisions of many games."""

    def __init__(self, files: list[Path]) -> None:
        loaded = [load_arrays(file, FORMS) for file in files]
        self.observations, self.hands, self.unseen = (
            torch.from_numpy(np.concatenate([arrays[name] for arrays in loaded])) for name in FORMS
        )

    def __len__(self) -> int:
        return len(self.observations)


def log_likelihood(logits: torch.Tensor, hands: torch.Tensor, unseen: torch.Tensor) -> torch.Tensor:
    """The logarithm of the probability of hands, of their size, by logits of the odds of their kinds.

    Args:
        logits: float32 (..., kinds).
        hands: int8 (..., kinds), how many of each are in the hand.
        unseen: int8 (..., kinds), how many of each are in hand and supply.

    Returns:
        float32 (...).
    """
    odds, sizes = logits.exp(), hands.sum(-1).long()
    ways = torch.zeros((*sizes.shape, int(sizes.max()) + 1))  # sums of products of odds, by the number of tiles chosen
    ways[..., 0] = 1.0
    choices = torch.zeros(sizes.shape)  # logarithm of the ways to take these kinds from what there is
    for kind in range(odds.shape[-1]):
        for copy in range(int(unseen[..., kind].max())):
            there = (unseen[..., kind] > copy)[..., None]
            more = torch.cat([torch.zeros_like(ways[..., :1]), ways[..., :-1] * odds[..., kind, None]], -1)
            ways = ways + torch.where(there, more, torch.zeros(()))
        count, held = unseen[..., kind].float(), hands[..., kind].float()
        choices = choices + torch.lgamma(count + 1) - torch.lgamma(held + 1) - torch.lgamma(count - held + 1)
    total = ways.gather(-1, sizes[..., None])[..., 0]
    return choices + (logits * hands).sum(-1) - total.log()


class Net(nn.Module):
    """The layers of a belief, in training."""

    def __init__(self, variant: Variant, encoding: str, hidden: int) -> None:
        super().__init__()
        (inputs, _), (_, outputs) = (shapes(variant, encoding, hidden)[f"{name}.weight"] for name in LAYERS)
        self.first, self.second = nn.Linear(inputs, hidden), nn.Linear(hidden, outputs)
        self.others, self.kinds = variant.num_players - 1, hand_kinds(variant)
        nn.init.zeros_(self.second.weight)
        nn.init.zeros_(self.second.bias)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Logits of the odds, float32 (batch, others, kinds); `observations` int8 (batch, numbers)."""
        logits = self.second(self.first(observations.float()).relu()).unflatten(-1, (self.others, self.kinds))
        return LARGEST_LOGIT * (logits / LARGEST_LOGIT).tanh()

    def tensors(self) -> dict[str, np.ndarray]:
        """The tensors of a `Belief`."""
        return {
            f"{name}.{part}": np.ascontiguousarray(getattr(getattr(self, name), part).detach().numpy().T)
            for name in LAYERS
            for part in ("weight", "bias")
        }


@torch.no_grad()
def judged(net: Net, positions: Positions, size: int) -> tuple[float, float]:
    """Mean log-likelihood of a hand by the network, and if all hands were alike."""
    by_net = alike = 0.0
    for rows in torch.arange(len(positions)).split(size):
        hands, unseen = positions.hands[rows], positions.unseen[rows]
        logits = net(positions.observations[rows])
        by_net += float(log_likelihood(logits, hands, unseen).sum())
        alike += float(log_likelihood(torch.zeros_like(logits), hands, unseen).sum())
    return by_net / positions.hands[..., 0].numel(), alike / positions.hands[..., 0].numel()


def learn(config: Config, console: Console) -> Belief:
    """Play, fit, write.

    Raises:
        ValueError: a setting is impossible, or nobody holds a hand in the game.
        OSError: an agent's file does not exist, or the folder cannot be made.
    """
    check_ranges(config)
    if not config.agents:
        raise ValueError("--agents are one or more, such as greedy mcts:1000")
    variant = parse_variant(config.game)
    config = replace(config, agents=tuple(named(spec, variant) for spec in config.agents))
    encoding = variant.encoding_name(config.encoding)
    started = time.perf_counter()
    torch.manual_seed(config.seed)
    net = Net(variant, encoding, config.hidden)
    for name in config.agents:
        make_agent(name, variant)  # fail before anything is played
    config.run.mkdir(parents=True, exist_ok=True)
    made = f"{variant.spec}; {encoding}; {' '.join(config.agents)}; share {config.share:g}; seed {config.seed}"
    count = -(-config.deals // DEALS)
    tasks: list[Task] = [
        (variant.spec, encoding, config.agents, config.share, part, config.seed) for part in range(count)
    ]
    files = gathered_positions.gather(play, tasks, DEALS, config.run, made, config.agents, config, console)
    learned = Positions([file for number, file in enumerate(files) if number % HELD_OUT])
    held_out = Positions(files[::HELD_OUT])
    check_positions(learned, held_out)

    def likelihood(rows: torch.Tensor) -> torch.Tensor:
        return log_likelihood(net(learned.observations[rows]), learned.hands[rows], learned.unseen[rows]).mean()

    fit(net, config, len(learned), likelihood, lambda: judged(net, held_out, config.minibatch_size)[0], console)
    by_net, alike = judged(net, held_out, config.minibatch_size)
    console.print(
        f"{len(held_out):,} positions held out: mean log-likelihood of a hand {by_net:.3f}, of equally likely hands "
        f"{alike:.3f}"
    )
    notes = gathered_positions.notes(
        "experiments.training.belief",
        config,
        len(learned) + len(held_out),
        time.perf_counter() - started,
        log_likelihood={"belief": round(by_net, 4), "all hands alike": round(alike, 4)},
    )
    belief = Belief(variant, encoding, net.tensors())
    save_belief(belief, config.run / "model.safetensors", notes)
    console.print(f"the belief is {config.run / 'model.safetensors'}")
    return belief


if __name__ == "__main__":
    run_program("experiments.training.belief", Config, lambda config: learn(config, Console()), __doc__)
