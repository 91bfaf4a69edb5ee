"""Compile the rules, the agents and what learning calls beforehand, so that nothing has to wait for them later.

    samurai-env warmup "samurai players=2"

Compiles every game for every number of players, or those that are named. What is compiled already is not compiled
again.
"""

import os
import time
from contextlib import closing
from dataclasses import dataclass, field
from importlib.util import find_spec

import numpy as np
import tyro
from rich.console import Console

from agents.networks.cards import read_card
from agents.networks.config import NetworkConfig
from agents.networks.paths import shipped_networks
from agents.registry import make_agent
from experiments.common.cli import progress_bar
from experiments.common.interrupts import Interrupt
from experiments.common.process_pool import results  # of this machine only: it is its cache that is warmed
from experiments.common.ranges import Processes, check_ranges
from samurai_env import GameBatch, Position, Variant, game_names, parse_variant
from samurai_env.core.notices import QUIET
from samurai_env.core.variant_spec import read_spec
from samurai_env.envs.aec import GameAEC
from samurai_env.envs.learner import LearnerVectorEnv
from samurai_env.envs.single import GameEnv
from samurai_env.envs.vector import GameVectorEnv

AGENTS = ("random", "greedy", "rollout:1", "mcts:2", "flat_mc:2", "best")


@dataclass
class Config:
    """What to compile."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """Games, such as samurai or "samurai players=2"; all if none is given."""
    processes: Processes = field(default_factory=lambda: os.cpu_count() or 1)
    """Worker processes."""


def compile_rules(variant: Variant) -> None:
    """Compile what batches and positions call."""
    batch = GameBatch(variant)
    states, rng = batch.reset([0, 1]), np.ones(1, np.uint64)
    batch.legal_masks(states)
    batch.first_illegal(states, np.zeros(2, np.int64))
    for encoding in variant.game.encodings:
        batch.observe(states, encoding=encoding)
    batch.returns(states)
    batch.potential(states)
    batch.policy_logits(states)
    batch.determinize(states, rng)
    batch.step(states, batch.legal_masks(states).argmax(1))
    batch.play_random(states, rng, 1)
    position = Position(variant, 0)
    position.determinized(0, rng)
    _ = position.returns(), position.potential(), position.observe(0), position.mid_move
    position.step(position.legal_actions()[0])


def compile_environments(variant: Variant) -> None:
    """Compile what the environments call, in every encoding."""
    game, players, options = variant.game.name, variant.num_players, variant.options
    for encoding in variant.game.encodings:
        aec = GameAEC(game, players, encoding=encoding, **options)
        aec.reset(seed=0)
        aec.step(int(aec.observe(aec.agent_selection)["action_mask"].argmax()))
        aec.state()
        for threads in (1, 2):
            envs = GameVectorEnv(game, 2, players, encoding=encoding, threads=threads, **options)
            observations, _ = envs.reset(seed=0, options={"desynchronize": True})
            envs.step(observations["action_mask"].argmax(1))
            envs.state()
            envs.close()
            learners = LearnerVectorEnv(
                game, 2, players, opponents="greedy", encoding=encoding, threads=threads, **options
            )
            observations, _ = learners.reset(seed=0, options={"desynchronize": True})
            learners.step(observations["action_mask"].argmax(1))
            learners.close()
    for opponents in ("random", "greedy"):
        env = GameEnv(game, players, opponents=opponents, **options)
        env.reset(seed=0)
        env.step(env.action_space.sample())


def compile_agents(variant: Variant) -> None:
    """Compile what agents call."""
    states = GameBatch(variant).reset([0])
    kernels, specs = variant.game.kernels, list(AGENTS)
    if kernels.action_features is not None:
        specs.append("lookahead")
    if kernels.tuned_policy is not None:
        specs += ["greedy_tuned", "mcts:2,tuned=1"]
    for path in shipped_networks():
        trained = parse_variant(read_card(path).variant)
        if (trained.game, trained.num_players) == (variant.game, variant.num_players):
            specs += [f"ppo:{path}", f"puct:2,net={path}", f"puct:2,net={path},rollout_weight=0.5"]
            if kernels.tuned_policy is not None:
                specs.append(f"puct:2,net={path},rollout_weight=0.5,tuned=1")
    for spec in specs:
        make_agent(spec, variant).act(states, np.zeros(1, np.uint64))


def compile_learning(variant: Variant) -> None:
    """Compile what networks over a map call when they learn, by torch; nothing for a game without a map."""
    if variant.game.graph is None or not find_spec("torch"):
        return
    import torch

    from agents.networks.network import new_network

    net, batch = new_network(NetworkConfig(variant.spec, "flat", (8,), graph_width=8)), GameBatch(variant)
    states = batch.reset([0, 1])
    obs, masks = batch.observe(states, encoding="flat"), batch.legal_masks(states)
    log_probs, values = net(torch.from_numpy(obs), torch.from_numpy(masks))
    (log_probs[:, masks[0].argmax()].sum() + values.sum()).backward()


PARTS = {
    "rules": compile_rules,
    "environments": compile_environments,
    "agents": compile_agents,
    "learning": compile_learning,
}


def compile_all(task: tuple[str, int]) -> float:
    """Worker: compile all parts of a game with a number of players; the seconds it took."""
    began = time.perf_counter()
    variant = parse_variant(task[0])
    for part in PARTS.values():
        part(variant)
    return time.perf_counter() - began


def main(config: Config, console: Console | None = None) -> None:
    """Compile with progress; Ctrl-C stops, and what is compiled stays.

    Raises:
        ValueError: no such game or number of players.
    """
    check_ranges(config)
    console = console or Console()
    tasks = []
    for name in config.games or game_names():
        game, players, options = read_spec(name)
        numbers = game.players if players is None else [players]
        tasks += [(game.variant(number, **options).spec, number) for number in numbers]
    os.environ[QUIET] = "off"  # the progress says it
    done = 0
    with (
        Interrupt() as interrupt,
        progress_bar(console, "compiling", len(tasks)) as bar,
        closing(results(compile_all, tasks, min(config.processes, len(tasks)), lambda: interrupt.asked)) as coming,
    ):
        for (name, number), seconds in coming:
            done += 1
            bar(done, f"{name.split()[0]}, {number} players: {seconds:.1f} s")
    interrupt.end()
    console.print("all is compiled")
