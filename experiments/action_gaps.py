"""Measure what single choices of agents gain on those of another agent, which plays on; far cheaper than games.

    python -m experiments.action_gaps --base ppo:weights/samurai-4.safetensors --agents mcts:99 --game samurai players=4

The base plays games against itself; from each one position with a choice is drawn. Where an agent chooses otherwise
than the base, both choices are played on many times, by the base in all seats and with the same determinizations, so
that luck that they have in common cancels. The mean of the differences is what one decision of the agent gains. It
tells of a single decision among players like the base; only games tell who wins. The same
command resumes, and with further agents measures only these.
"""

import json
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
from msgspec import Meta, Struct, field
from rich.console import Console
from rich.table import Table

from agents.best import named
from agents.registry import make_agent
from agents.settings import Range
from agents.spec import split_agent_specs
from experiments.common.cli import GameSpec, make_folder, progress_bar, run_program
from experiments.common.file_hashes import check_file_hash
from experiments.common.interrupts import Interrupt
from experiments.common.provenance import add_new, as_list, commit, cpu_name
from experiments.common.ranges import Seed, check_fits, check_ranges
from experiments.common.tasks import WorkerSettings, results_in_order
from experiments.evaluation.matches import Z95, Timed, warm_agent
from experiments.evaluation.matchups import Natural, Seconds
from samurai_env import parse_variant
from samurai_env.agent_api import Agent, decision_keys
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line, shown
from samurai_env.files.atomic_write import write_atomically
from samurai_env.files.json_reader import read_json
from samurai_env.game_batch import GameBatch

RANDOM = 0.1  # share of random moves in the games that give the positions
BLOCK = 8  # positions that a worker looks at, or choices that it plays on, at a time
FEW = 5  # differences for which a normal interval would promise too much
FORMAT = "samurai_env gains 1"  # the file's first name
Key = TypeVar("Key")


@dataclass
class Config(WorkerSettings):
    """Settings of a comparison."""

    agents: tuple[str, ...] = ("greedy",)
    """Agents whose choices are measured, separated by commas or spaces."""
    base: str = "greedy"
    """Agent against whose choices they are measured, and who plays on."""
    game: GameSpec = "samurai"
    """The game with its number of players and options."""
    positions: Annotated[int, Range(2, 10**6)] = 400
    """Positions compared, each from a game of its own."""
    games: Annotated[int, Range(1, 10**5)] = 128
    """Games in which each choice is played on."""
    seed: Seed = 1
    """Seed of positions and games."""
    output: Path = Path("runs/gains")
    """Folder for gains.json."""


def draw_positions(variant: Variant, base: str, count: int, seed: int) -> np.ndarray:
    """States with a choice, one from each of `count` games of the base, all stages alike.

    Raises:
        ValueError: there was a game without any choice.
    """
    batch, agent, rng = GameBatch(variant), make_agent(base, variant), np.random.default_rng(seed)
    kept, choices = variant.new(count), np.zeros(count, np.int64)
    states = batch.reset(rng.integers(2**62, size=count))
    running = np.arange(count)
    while len(running):
        now = states[running]
        legal = batch.legal_masks(now) > 0
        choice = legal.sum(1) > 1
        choices[running] += choice
        drawn = choice & (rng.random(len(now)) * choices[running] < 1.0)  # in the end each of a game's is as likely
        kept[running[drawn]] = now[drawn]
        actions = agent.act(now, decision_keys(now["seed"], now["steps"], 0))
        by_chance = np.where(legal, rng.random(legal.shape), -1.0).argmax(1)
        batch.step(now, np.where(rng.random(len(now)) < RANDOM, by_chance, actions))
        states[running] = now
        running = running[now["over"] == 0]
    if not choices.all():
        raise ValueError(f"{variant.spec} has games without a choice")
    return kept


def choose(task: tuple[str, str, np.ndarray]) -> tuple[list[int], float]:
    """Worker: what the agent chooses in some positions, and the seconds of processor time that it took."""
    spec, agent, states = task
    timed = Timed(warm_agent(agent, spec))
    actions = timed.act(states.copy(), decision_keys(states["seed"], states["steps"], 1))
    return [int(action) for action in actions], timed.seconds


def play_on(task: tuple[str, str, int, np.ndarray, np.ndarray]) -> list[float]:
    """Worker: the mean own return after each choice, by spec, base, number of games, positions and actions."""
    spec, base, games, states, actions = task
    variant = parse_variant(spec)
    batch, agent = GameBatch(variant), warm_agent(base, spec)
    played = np.repeat(states, games)
    seats = played["seat"].astype(np.int64)
    trial = np.tile(np.arange(games, dtype=np.uint64), len(states))
    seeds = decision_keys(played["seed"], played["steps"], 2) + trial  # the same for all choices in a position
    batch.determinize(played, decision_keys(seeds, np.zeros(len(seeds), np.int64), 3), seats)
    batch.step(played, np.repeat(actions, games))
    return own_returns(batch, agent, played, seats, seeds).reshape(-1, games).mean(1).tolist()


def own_returns(batch: GameBatch, agent: Agent, states: np.ndarray, seats: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Play games to the end, one agent in all seats; the returns of `seats`, float64 (games,)."""
    running = np.flatnonzero(states["over"] == 0)
    while len(running):
        now = states[running]
        batch.step(now, agent.act(now, decision_keys(seeds[running], now["steps"], 4)))
        states[running] = now
        running = running[now["over"] == 0]
    return batch.returns(states)[np.arange(len(states)), seats]


class KeptActionGaps(Struct):
    """The form of the file; see `ActionGaps`. A row of mean returns is a position, an action and the return.

    `commit` and `machine` are lists, of all runs; see `as_list`.
    """

    format: str
    variant: str
    base: str
    positions: Natural
    games: Natural
    seed: Natural
    networks: dict[str, str]
    choices: dict[str, list[Natural]]
    seconds: dict[str, Seconds]
    mean_returns: list[tuple[Natural, Natural, Annotated[float, Meta(ge=-1.0, le=1.0)]]] = field(name="worths")
    commit: str | list[str] = ""
    machine: str | list[str] = ""


class ActionGaps:
    """The measurements so far, in a file that is whole after every block.

    Attributes:
        choices: by agent, the action in each position, as far as it has been asked.
        seconds: by agent, processor time of these decisions.
        mean_returns: by position and action, the seat's own.
        networks: by agent, the hashes of the files that it names.
        commits: of the code that measured.
        machines: on which it was started.
    """

    def __init__(self, config: Config, variant: Variant) -> None:
        """Start, or continue from the file.

        Raises:
            ValueError: the file is damaged, or of a comparison with other settings.
        """
        self.path = config.output / "gains.json"
        settings = {name: getattr(config, name) for name in ("base", "positions", "games", "seed")}
        self.head = {"format": FORMAT, "variant": variant.spec, **settings}
        self.choices: dict[str, list[int]] = {}
        self.seconds: dict[str, float] = {}
        self.mean_returns: dict[tuple[int, int], float] = {}
        self.networks: dict[str, str] = {}
        self.commits, self.machines = list[str](), list[str]()
        self.now = commit(), cpu_name()
        if not self.path.exists():
            return
        kept = read_json(self.path, KeptActionGaps)
        head = {name: getattr(kept, name) for name in self.head}
        if head != self.head:
            other = ", ".join(f"{name} {shown(head[name])}" for name in head if head[name] != self.head[name])
            raise ValueError(one_line(f"{self.path} was measured with {other}; choose another --output"))
        if wrong := self._wrong(kept, variant.num_actions):
            raise ValueError(f"{one_line(self.path, 120)} is damaged: {wrong}")
        self.choices, self.seconds, self.networks = kept.choices, kept.seconds, kept.networks
        self.commits, self.machines = as_list(kept.commit), as_list(kept.machine)
        self.mean_returns = {(position, action): value for position, action, value in kept.mean_returns}

    @staticmethod
    def _wrong(kept: KeptActionGaps, actions: int) -> str | None:
        """Why what the file holds cannot have been measured, or None."""
        for agent, chosen in kept.choices.items():
            if len(chosen) > kept.positions or max(chosen, default=0) >= actions:
                return f"{shown(agent)} chooses more than there are positions, or an action that is none"
        if kept.choices.keys() != kept.seconds.keys():
            return "its seconds are not of the agents of its choices"
        pairs = {(position, action) for position, action, _ in kept.mean_returns}
        if any(position >= kept.positions or action >= actions for position, action in pairs):
            return "it has the return of a position or action that is none"
        return "it has the return of a choice twice" if len(pairs) < len(kept.mean_returns) else None

    def save(self) -> None:
        """Write the file, with what this run has measured."""
        add_new(self.commits, self.now[0])
        add_new(self.machines, self.now[1])
        rows = [[*key, value] for key, value in self.mean_returns.items()]
        kept = {
            **self.head,
            "commit": self.commits,
            "machine": self.machines,
            "networks": self.networks,
            "choices": self.choices,
        }
        text = json.dumps({**kept, "seconds": self.seconds, "worths": rows}) + "\n"
        write_atomically(self.path, text)

    def to_play(self) -> list[tuple[int, int]]:
        """Choices to be played on: all in the positions where an agent chooses otherwise than the base."""
        base = self.choices[self.head["base"]]
        pairs = {
            (position, action)
            for chosen in self.choices.values()
            for position, (action, usual) in enumerate(zip(chosen, base, strict=False))  # some are not asked to the end
            if action != usual
        }
        pairs |= {(position, base[position]) for position, _ in pairs}
        return sorted(pairs - self.mean_returns.keys())

    def of(self, agent: str) -> np.ndarray:
        """Return the gain of each decision on the base's, float64 (positions,)."""
        base = self.choices[self.head["base"]]
        return np.array(
            [
                0.0 if action == usual else self.mean_returns[position, action] - self.mean_returns[position, usual]
                for position, (action, usual) in enumerate(zip(self.choices[agent], base, strict=True))
            ]
        )


def by_blocks(
    work: Callable[[Any], Any], tasks: Iterable[tuple[Key, Any]], config: Config, console: Console, name: str
) -> Iterable[tuple[Key, Any]]:
    """Do tasks in worker processes; the results with the keys of their tasks, in order.

    Raises:
        KeyboardInterrupt: at the end of a block, if Ctrl-C was pressed.
    """
    keyed = list(tasks)
    if not keyed:
        return
    with (
        Interrupt() as interrupt,
        progress_bar(console, name, len(keyed)) as bar,
        closing(results_in_order(work, [task for _, task in keyed], config, lambda: interrupt.asked)) as coming,
    ):
        for done, (_, result) in enumerate(coming):
            yield keyed[done][0], result
            bar(done + 1, "")
    interrupt.end()


def measure(config: Config, console: Console) -> ActionGaps:
    """Measure what is missing."""
    check_ranges(config)
    variant = parse_variant(config.game)
    agents = split_agent_specs(config.agents)
    if not agents:
        raise ValueError("--agents names nobody: give at least one agent, such as greedy")
    for spec in (config.base, *agents):
        make_agent(spec, variant)
    check_fits("positions", config.positions, 50 * (1 + len(agents)))
    gaps = ActionGaps(config, variant)
    for spec in (config.base, *agents):
        check_file_hash(spec, gaps.networks, gaps.path)
    make_folder(config.output)
    states = draw_positions(variant, config.base, config.positions, config.seed)
    for spec in dict.fromkeys((config.base, *agents)):
        known = gaps.choices.get(spec, [])
        starts = range(len(known), len(states), BLOCK)
        tasks = [(first, (variant.spec, spec, states[first : first + BLOCK])) for first in starts]
        for _, (actions, seconds) in by_blocks(choose, tasks, config, console, spec):
            gaps.choices.setdefault(spec, []).extend(actions)
            gaps.seconds[spec] = gaps.seconds.get(spec, 0.0) + seconds
            gaps.save()
    pairs = gaps.to_play()
    blocks = [pairs[first : first + BLOCK] for first in range(0, len(pairs), BLOCK)]
    tasks_on = []
    for block in blocks:
        rows, actions = (np.array(part) for part in zip(*block, strict=True))
        tasks_on.append((block, (variant.spec, config.base, config.games, states[rows], actions)))
    for block, means in by_blocks(play_on, tasks_on, config, console, "play on"):
        gaps.mean_returns.update(zip(block, means, strict=True))
        gaps.save()
    return gaps


def main(config: Config) -> None:
    """Measure and show."""
    console, variant = Console(), parse_variant(config.game)
    agents = tuple(named(spec, variant) for spec in split_agent_specs(config.agents))
    config = replace(config, base=named(config.base, variant), agents=agents)
    gaps = measure(config, console)
    table = Table(title=f"{gaps.head['variant']}, against the choices of {config.base}")
    for head in ("agent", "ms a decision", "chooses otherwise", "gain a decision, in thousandths of a return"):
        table.add_column(head, justify="left" if head == "agent" else "right")
    for spec in dict.fromkeys(agents):
        found = 1000 * gaps.of(spec)
        half = Z95 * found.std(ddof=1) / len(found) ** 0.5
        otherwise = np.mean(np.array(gaps.choices[spec]) != gaps.choices[config.base])
        milliseconds = 1000 * gaps.seconds[spec] / len(found)
        interval = f"{found.mean():+.1f} [{found.mean() - half:+.1f}, {found.mean() + half:+.1f}]"
        if np.count_nonzero(found) < FEW:
            interval = f"{found.mean():+.1f}, too few for an interval"
        table.add_row(spec, f"{milliseconds:.3g}", f"{otherwise:.1%}", interval)
    console.print(table)
    console.print(f"what was measured is in {gaps.path}")


if __name__ == "__main__":
    run_program("experiments.action_gaps", Config, main, __doc__)
