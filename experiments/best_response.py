"""How much can be won against an agent by somebody who knows it? Exploiters are trained against it, or search.

    python -m experiments.best_response --target ppo:weights/samurai-2.safetensors --total-timesteps 5000000

Each exploiter sits in one seat, the target in all others, on duplicate deals that no training plays. What one of them
wins is a lower bound of what the best response wins; that of the best of several is a little too high, since it is
chosen on the deals that measure it. PPO starts once for each seed, from the target's own network if it is one, and
keeps a learning curve: what more decisions bring. The same command resumes.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.best import named
from agents.networks.network_files import load_network
from agents.old_names import current_settings
from agents.registry import make_agent
from agents.settings import Range
from agents.spec import parse_agent_spec, split_agent_specs
from experiments.common.cli import GameSpec, command_line, make_folder, run_program
from experiments.common.file_hashes import check_file_hash
from experiments.common.interrupts import Interrupt
from experiments.common.provenance import add_new, as_list, commit, cpu_name
from experiments.common.ranges import Count, check_fits, check_ranges
from experiments.evaluation.best_responses import KeptShares
from experiments.evaluation.matches import Estimate, estimate, one_against_others
from experiments.train_ppo import train
from experiments.training.checkpoint import checkpoint_file
from experiments.training.config import Config as Training
from samurai_env import parse_variant
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line
from samurai_env.files.atomic_write import write_atomically
from samurai_env.files.json_reader import read_json

BLOCK = 50  # deals between two writes
# Settings that decide how good the exploiters become
FIXED = (
    "target",
    "total_timesteps",
    "learning_rate",
    "ent_coef",
    "num_envs",
    "hidden",
    "graph_width",
    "heuristic_prior",
)


@dataclass
class Config:
    """Settings of a search for the best response."""

    target: str
    """Spec of the agent to be exploited."""
    game: GameSpec = "samurai"
    """The game with its number of players and options."""
    total_timesteps: Annotated[int, Range(1, 10**12)] = 5_000_000
    """Decisions in the games from which each exploiter learns, those of the target included."""
    seeds: Annotated[int, Range(0, 100)] = 3
    """Exploiters to train, with the seeds 1, 2, ...; 0 for search alone."""
    agents: tuple[str, ...] = ("mcts:1000",)
    """Further exploiters, by spec, that need no training."""
    learning_rate: Annotated[float, Range(0, 1, above=True)] = 5e-4
    """Step size of PPO at the start."""
    ent_coef: Annotated[float, Range(0, 1e3)] = 0.01
    """Weight of the entropy bonus at the start."""
    num_envs: Count = 256
    """Games that PPO plays at once."""
    graph_width: Annotated[int, Range(0, 10**4)] = 0
    """See train_ppo; for a target that is no network."""
    hidden: tuple[int, ...] = (256, 256)
    """See train_ppo; for a target that is no network."""
    heuristic_prior: bool = False
    """See train_ppo; for a target that is no network."""
    deals: Count = 1000
    """Deals on which each exploiter is measured, each played from every seat."""
    output: Path = Path("runs/best_response")
    """Folder for best_response.json and the runs."""

    def __post_init__(self) -> None:
        self.agents = split_agent_specs(self.agents)


def network_of(target: str) -> Path | None:
    """The file or run of a target that plays a network without search, where exploiters start; None for others."""
    spec = parse_agent_spec(target)
    return Path(spec.argument) if spec.name == "ppo" else None


def with_form(config: Config) -> Config:
    """Enter the form of the network from which exploiters start, if the target is one.

    Raises:
        ValueError: another form was asked for.
    """
    start = network_of(config.target)
    if start is None:
        return config
    form = load_network(start).config
    forms: dict[str, Any] = {
        "graph_width": form.graph_width,
        "hidden": tuple(form.hidden),
        "heuristic_prior": form.heuristic_prior,
    }
    for name, value in forms.items():
        if getattr(config, name) not in (value, getattr(Config, name)):
            flag = name.replace("_", "-")
            raise ValueError(f"--{flag} is for a target that is no network; exploiters of {start} have its {name}")
    return replace(config, **forms)


def training(config: Config, seed: int) -> Training:
    """The settings of the exploiter with this seed."""
    run = config.output / f"seed-{seed}"
    settings = Training(
        run=run,
        resume=checkpoint_file(run).exists(),
        game=config.game,
        total_timesteps=config.total_timesteps,
        learning_rate=config.learning_rate,
        ent_coef=config.ent_coef,
        num_envs=config.num_envs,
        graph_width=config.graph_width,
        hidden=config.hidden,
        heuristic_prior=config.heuristic_prior,
        opponents=(config.target,),
        opponent_share=1.0,
        eval_opponents=(config.target,),
        seed=seed,
    )
    start = network_of(config.target)
    if start is not None:
        form = load_network(start).config
        if form.variant != parse_variant(config.game).spec:
            raise ValueError(
                "--target: exploiters start from its network; "
                f"name with --game what that was trained for: {form.variant}"
            )
        settings.init_from = start
        for name in ("encoding", "entity_width", "action_width", "spatial_width", "tuned_prior"):
            setattr(settings, name, getattr(form, name))
    return settings


def learning_curve(run: Path) -> list[tuple[int, float]]:
    """Decisions and win share against the target, from the card of a run."""
    points = json.loads((run / "model.json").read_text(encoding="utf-8"))["notes"]["curve"]
    return [(point["steps"], share) for point in points for name, share in point.items() if name.startswith("win_")]


class Shares:
    """Win shares of exploiters by deal and seat, in a file that is whole after every block of deals."""

    def __init__(self, config: Config, variant: Variant) -> None:
        """Start, or continue from the file.

        Raises:
            ValueError: the file is damaged, or of a target with other settings.
        """
        self.path = config.output / "best_response.json"
        self.command = command_line("experiments.best_response", config)
        self.settings = {"variant": variant.spec, **{name: str(getattr(config, name)) for name in FIXED}}
        self.networks: dict[str, str] = {}
        self.by_exploiter: dict[str, list[list[float]]] = {}
        self.curves: dict[str, list[tuple[int, float]]] = {}
        self.commits, self.machines = list[str](), list[str]()
        self.now = commit(), cpu_name()
        if not self.path.exists():
            return
        kept = read_json(self.path, KeptShares)
        settings = current_settings(kept.settings)
        if settings != self.settings:
            names = sorted({name for name, _ in settings.items() ^ self.settings.items()})
            other = ", ".join(f"{name} {settings.get(name, 'not noted')}" for name in names)
            raise ValueError(one_line(f"{self.path} was measured with {other}; choose another --output"))
        for name, rows in kept.shares.items():
            if any(len(row) != variant.num_players for row in rows):
                raise ValueError(one_line(f"{self.path} is damaged: {name} has a deal with a seat too many or too few"))
        self.networks, self.by_exploiter, self.curves = kept.networks, kept.shares, kept.curves
        self.commits, self.machines = as_list(kept.commit), as_list(kept.machine)

    def measure(self, name: str, spec: str, config: Config, variant: Variant, interrupt: Interrupt) -> None:
        """Play what is missing; Ctrl-C ends it after a block."""
        rows = self.by_exploiter.setdefault(name, [])
        agents = [make_agent(spec, variant), make_agent(config.target, variant)]
        while len(rows) < config.deals and not interrupt.asked:
            deals = min(BLOCK, config.deals - len(rows))
            rows += one_against_others(variant, agents, len(rows), deals).tolist()
            self.save()

    def save(self) -> None:
        """Write the file, with what this run has measured."""
        add_new(self.commits, self.now[0])
        add_new(self.machines, self.now[1])
        kept = {
            "settings": self.settings,
            "networks": self.networks,
            # most are 0 or 1, which need half the room as integers
            "shares": {
                name: [[int(share) if share == int(share) else share for share in row] for row in rows]
                for name, rows in self.by_exploiter.items()
            },
            "commit": self.commits,
            "machine": self.machines,
            "command": self.command,
            "curves": self.curves,
        }
        write_atomically(self.path, json.dumps(kept) + "\n")

    def estimates(self) -> dict[str, Estimate]:
        """What each exploiter wins, the best first."""
        found = {name: estimate(np.array(rows)) for name, rows in self.by_exploiter.items() if rows}
        return dict(sorted(found.items(), key=lambda item: -item[1].mean))


def search(config: Config, console: Console, interrupt: Interrupt) -> Shares:
    """Train and measure what is missing.

    Raises:
        FileNotFoundError: a file that a spec names does not exist.
        ValueError: a setting cannot be used; the text names it.
    """
    check_ranges(config)
    variant = parse_variant(config.game)
    if variant.game.cooperative:
        raise ValueError(f"{variant.game.title} is cooperative: nobody plays against the target")
    config = replace(
        config,
        target=named(config.target, variant),  # what `best` stands for may change
        agents=tuple(named(spec, variant) for spec in config.agents),
    )
    if not (config.seeds or config.agents):
        raise ValueError("nobody exploits: give --seeds or --agents")
    for spec in (config.target, *config.agents):
        make_agent(spec, variant)
    config = with_form(config)
    check_fits("deals", config.deals, (config.seeds + len(config.agents)) * (22 * variant.num_players + 4))
    shares = Shares(config, variant)
    for spec in (config.target, *config.agents):
        check_file_hash(spec, shares.networks, shares.path)
    make_folder(config.output)
    exploiters = {spec: spec for spec in config.agents}
    for seed in range(1, config.seeds + 1):
        settings = training(config, seed)
        if not interrupt.asked:
            console.print(f"exploiter with seed {seed} of {config.seeds}")
            train(settings, console, interrupt)
        if not interrupt.asked:
            exploiters[f"PPO, seed {seed}"] = spec = f"ppo:{settings.run}"
            check_file_hash(spec, shares.networks, shares.path)
            shares.curves[f"PPO, seed {seed}"] = learning_curve(settings.run)
    for name, spec in exploiters.items():
        if not interrupt.asked:
            shares.measure(name, spec, config, variant, interrupt)
    return shares


def main(config: Config) -> None:
    """Search and show."""
    console, interrupt = Console(), Interrupt()
    with interrupt:
        shares = search(config, console, interrupt)
    target, variant = shares.settings["target"], shares.settings["variant"]
    table = Table(title=f"win share against {target}, {variant}", title_justify="left")
    table.add_column("exploiter")
    table.add_column("win share [95 %]", justify="right")
    table.add_column("deals", justify="right")
    for name, found in shares.estimates().items():
        table.add_row(name, str(found).strip(), str(len(shares.by_exploiter[name])))
    console.print(table)
    console.print(f"results: {shares.path}")
    interrupt.end("the same command goes on")


if __name__ == "__main__":
    run_program("experiments.best_response", Config, main, __doc__)
