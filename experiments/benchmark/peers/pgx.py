"""Pgx (games in JAX; Koyamada et al., 2023) on one core of the CPU: all steps of a measurement in one compiled scan."""

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pgx
from pgx.experimental.wrappers import auto_reset

from experiments.benchmark.peers import BATCH, Row, meter_from_command_line, named, one_core, tell

GAMES = ("hex", "othello", "connect_four", "go_9x9")
GAMES_AT_ONCE = 1024


def pick(key: Any, masks: Any) -> Any:
    """A random legal action for each row; on a CPU twice as fast as pgx's own `act_randomly`."""
    counts = jnp.cumsum(masks, axis=1, dtype=jnp.int32)
    return jnp.argmax(counts > jax.random.uniform(key, (len(masks), 1)) * counts[:, -1:], axis=1)


def playing(env: Any, games: int = GAMES_AT_ONCE, pick: Callable[[Any, Any], Any] = pick) -> Callable[[int], float]:
    """Random steps of all games, finished ones reset; `pick` draws an action for each row of masks."""
    step = jax.vmap(auto_reset(env.step, env.init))

    @partial(jax.jit, donate_argnums=0)
    def scan(state: Any, keys: Any) -> Any:
        def one(state: Any, key: Any) -> tuple[Any, None]:
            choice, chance = jax.random.split(key)
            actions = pick(choice, state.legal_action_mask)
            return step(state, actions, jax.random.split(chance, games)), None

        return jax.lax.scan(one, state, keys)[0]

    chunk, key = 16, jax.random.PRNGKey(1)  # one length of scan, so that it is compiled once
    held = [jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), games))]

    def play(chunks: int) -> float:
        for number in range(chunks):
            held[0] = scan(held[0], jax.random.split(jax.random.fold_in(key, number), chunk))
        jax.block_until_ready(held[0])
        return chunks * chunk * games

    return play


def main() -> None:
    """Measure and print."""
    one_core()
    meter = meter_from_command_line()
    for name in GAMES:
        env = pgx.make(name)
        inputs = math.prod(env.observation_shape)
        figure = meter.rate("scan", "steps/s", playing(env), time.process_time)  # XLA computes in a thread of its own
        tell(Row(BATCH, named("pgx", "jax"), name, env.num_actions, inputs, GAMES_AT_ONCE, 1, figure))


if __name__ == "__main__":
    main()
