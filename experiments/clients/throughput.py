"""Random play through an adapter and through the framework's own way to the same game, in decisions a second.

python -m experiments.clients.throughput sb3
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from experiments.clients.page import add_row, check_results

GAMES, SECONDS = 128, 2.0
ID = "samurai_env:samurai_env/Samurai-v0"
Play = Callable[[], int]  # some decisions; how many


def drawn(masks: np.ndarray) -> np.ndarray:
    """Draw a random legal action for each row: masks (rows, actions) to int64 (rows,)."""
    return (np.random.random(masks.shape) * masks).argmax(1)


def sb3() -> Iterator[tuple[str, Play]]:
    """Yield `SB3VecEnv` and `DummyVecEnv` over single environments."""
    from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

    from samurai_env.adapters.sb3 import SB3VecEnv

    def playing(envs: VecEnv) -> Play:
        envs.reset()
        return lambda: len(envs.step(drawn(np.stack(envs.env_method("action_masks"))))[1])

    yield f"SB3VecEnv, {GAMES} games", playing(SB3VecEnv("samurai", GAMES))
    yield "DummyVecEnv, 8 games", playing(DummyVecEnv([lambda: gymnasium.make(ID, observation="box")] * 8))


def torchrl() -> Iterator[tuple[str, Play]]:
    """Yield `TorchRLEnv` and TorchRL's wrappers."""
    import torch
    from torchrl.envs import DTypeCastTransform, GymEnv, PettingZooWrapper, TransformedEnv

    from samurai_env import samurai_v0
    from samurai_env.adapters.torchrl import TorchRLEnv

    def playing(env: Any, steps: int) -> Play:
        return lambda: env.rollout(steps, break_when_any_done=False).numel()

    yield f"TorchRLEnv, {GAMES} games", playing(TorchRLEnv("samurai", GAMES), 32)
    bools = DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"])
    single = TransformedEnv(GymEnv(ID, categorical_action_encoding=True), bools)
    yield "GymEnv, 1 game", playing(single, 64)
    yield "PettingZooWrapper, 1 game, all seats", playing(PettingZooWrapper(samurai_v0.env(), use_mask=True), 64)


def tianshou() -> Iterator[tuple[str, Play]]:
    """Yield `TianshouVectorEnv` and `DummyVectorEnv` over single environments."""
    from tianshou.env import DummyVectorEnv

    from samurai_env.adapters.tianshou import TianshouVectorEnv

    def playing(envs: Any, masks: Callable[[Any], np.ndarray]) -> Play:
        held = [envs.reset()[0]]

        def play() -> int:
            held[0], _, over, cut, _ = envs.step(drawn(masks(held[0])))
            if len(rows := np.flatnonzero(over | cut)):
                held[0][rows] = envs.reset(rows)[0]
            return len(over)

        return play

    yield f"TianshouVectorEnv, {GAMES} games", playing(TianshouVectorEnv("samurai", GAMES), lambda seen: seen.mask)
    singles = DummyVectorEnv([lambda: gymnasium.make(ID)] * 8)
    yield "DummyVectorEnv, 8 games", playing(singles, lambda seen: np.stack([one["action_mask"] for one in seen]))


def rllib() -> Iterator[tuple[str, Play]]:
    """Yield RLlib's env runners, which ask the network for each decision, over three forms of the environment."""
    from gymnasium.wrappers import TransformObservation
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.tune.registry import register_env

    from samurai_env.adapters.rllib import RLlibEnv, RLlibVectorEnv, masked_module

    def single(_: Any) -> gymnasium.Env:
        """The single environment under the names and in the type that RLlib's masking module reads."""
        names = {"observation": "observations", "action_mask": "action_mask"}
        env = gymnasium.make(ID)
        assert isinstance(env.observation_space, gymnasium.spaces.Dict)
        space: dict[str, gymnasium.Space] = {
            names[key]: gymnasium.spaces.Box(-128, 127, box.shape) for key, box in env.observation_space.items()
        }
        return TransformObservation(
            env,
            lambda seen: {names[key]: values.astype(np.float32) for key, values in seen.items()},
            gymnasium.spaces.Dict(space),
        )

    def playing(env: Any, games: int, shared: bool = False, mode: str = "sync") -> Play:
        config = PPOConfig().environment(env).rl_module(rl_module_spec=masked_module(fcnet_hiddens=[256, 256]))
        runners = {"num_env_runners": 0, "num_envs_per_env_runner": games, "gym_env_vectorize_mode": mode}
        config = config.env_runners(**runners)
        if shared:
            config = config.multi_agent(policies={"shared"}, policy_mapping_fn=lambda *_, **__: "shared")
        runner, amount = config.build_algo().env_runner, max(8 * games, 256)
        return lambda: sum(len(found) for found in runner.sample(num_timesteps=amount))

    register_env("single", single)
    yield (
        f"RLlibVectorEnv, {GAMES} games, with the network",
        playing(RLlibVectorEnv, GAMES, mode="vector_entry_point"),
    )
    yield f"RLlib's own vectoriser, {GAMES} games, with the network", playing("single", GAMES)
    yield "RLlibEnv, 1 game, all seats, with the network", playing(RLlibEnv, 1, shared=True)


def open_spiel() -> Iterator[tuple[str, Play]]:
    """Yield random games of the adapter, of one of OpenSpiel's games in Python and of one in C++."""
    import pyspiel
    from open_spiel.python.games import liars_poker  # noqa: F401

    from samurai_env.adapters import open_spiel as adapter

    def playing(game: pyspiel.Game, start: Callable[[], pyspiel.State]) -> Play:
        held = [start()]

        def play() -> int:
            state, steps = held[0], 0
            for _ in range(200):
                actions = state.legal_actions()
                state.apply_action(actions[int(np.random.random() * len(actions))])
                steps += 1
                if state.is_terminal():
                    state = start()
            held[0] = state
            return steps

        return play

    game = pyspiel.load_game("samurai")
    seeds = iter(range(10**9))
    yield "the adapter", playing(game, lambda: adapter.with_seed(game, next(seeds)))
    for name in ("python_liars_poker", "go(board_size=9)"):
        other = pyspiel.load_game(name)
        label = f"{name}, in Python" if name.startswith("python") else f"{name}, in C++"
        yield label, playing(other, other.new_initial_state)


CLIENTS = {"sb3": sb3, "torchrl": torchrl, "tianshou": tianshou, "rllib": rllib, "open_spiel": open_spiel}


def rate(play: Play) -> float:
    """Decisions in a second of processor time."""
    play()
    start, done = time.process_time(), 0
    while time.process_time() - start < SECONDS:
        done += play()
    return done / (time.process_time() - start)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        "python -m experiments.clients.throughput", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("client", choices=CLIENTS, help="whose ways")
    parser.add_argument("--results", type=Path, help="JSON lines to which the figures are added")
    args = parser.parse_args()
    try:
        check_results(args.results)
    except ValueError as error:
        parser.error(str(error))
    for way, play in CLIENTS[args.client]():
        row = {"client": args.client, "way": way, "steps_per_second": round(rate(play))}
        print(json.dumps(row), flush=True)
        if args.results is not None:
            add_row(args.results, row)


if __name__ == "__main__":
    main()
