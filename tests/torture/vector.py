"""Vector environments under random interleavings of everything that can be done to them.

A family of environments (an original and its copies) must return the same from the same calls, and what the games in
them should be is kept beside by `Position`, played one by one.
"""

import copy
import pickle
import random
import time
from collections import Counter
from typing import Any

import numpy as np
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode

from samurai_env.core.game import find_game, game_names
from samurai_env.core.rng import next_seed
from samurai_env.envs.vector import GameVectorEnv
from samurai_env.position import IllegalActionError, Position
from tests.common.variants import all_variants
from tests.envs.test_vector import assert_same

SECONDS, LONG = 60, 3600
MOST = 4  # environments of a family
COPIES = {"deepcopy": copy.deepcopy, "copy": copy.copy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}
CALLS = {"step": 60, **dict.fromkeys(COPIES, 2), "restore": 2, "reset": 1, "reset some": 2, "illegal": 2, "close": 1}


class Family:
    """Environments that must all be the same, and the games that they should hold."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.done = rng, Counter[str]()
        variant = rng.choice(all_variants(find_game(rng.choice(game_names()))))
        self.variant, self.count = variant, rng.choice((1, 2, 3, 7))
        self.settings: dict[str, Any] = {
            "autoreset_mode": rng.choice(list(AutoresetMode)).value,
            "threads": rng.choice((1, 1, 2, 3)),
            "reward": rng.choice(("result", "shaped")),
            "encoding": rng.choice(list(variant.game.encodings)),
        }
        players = variant.num_players
        env = GameVectorEnv(variant.game.name, self.count, players, **self.settings, **variant.options)
        self.envs = [env, *(made(env) for made in COPIES.values())]  # none of them reset yet
        for env in self.envs:
            refused(ResetNeeded, lambda env=env: env.step(np.zeros(self.count, int)))
        self.saved: list[tuple[np.ndarray, list[Position]]] = []
        seed = rng.randrange(2**40)
        self.same(lambda env: env.reset(seed=seed))
        self.games = [Position(variant, seed + i) for i in range(self.count)]

    def same(self, call: Any) -> Any:
        """What all the environments return from a call; they must be the same."""
        first, *others = [call(env) for env in self.envs]
        for other in others:
            assert_same(dict(enumerate(first)), dict(enumerate(other)))
        return first

    def check(self) -> None:
        """The states, masks, observations and seats of all are those of the games played one by one."""
        expected = np.concatenate([game.states for game in self.games])
        for env in self.envs:
            assert env.states.tobytes() == expected.tobytes()
            for i, game in enumerate(self.games):
                assert np.array_equal(env._masks[i], game.legal_mask())
                assert np.array_equal(env._observations[i], game.observe(game.seat, env.encoding))
                assert env._seat[i] == game.seat

    def legal(self) -> np.ndarray:
        """A random legal action for each game; nonsense where none counts."""
        return np.array([self.rng.choice(game.legal_actions() or [-1, 10**9]) for game in self.games])

    def step(self) -> None:
        """One decision in every game, in all environments and one by one."""
        mode, actions = self.settings["autoreset_mode"], self.legal()
        _, _, terminations, truncations, info = self.same(lambda env: env.step(actions))
        told = info.get("final_info", info)
        for i, game in enumerate(self.games):
            if game.over:  # over since before this step
                if mode == "NextStep":
                    game.reset(int(next_seed(np.uint64(game.seed))))
                assert (terminations[i] or truncations[i]) == (mode == "Disabled")
                continue
            game.step(int(actions[i]))
            assert (terminations[i] or truncations[i]) == game.over
            if game.over:
                self.done["games"] += 1
                assert told["returns"][i].tolist() == np.float32(game.returns()).tolist()
                if mode == "SameStep":
                    game.reset(int(next_seed(np.uint64(game.seed))))
        self.done["decisions"] += self.count * len(self.envs)

    def act(self) -> None:
        """Do something at random to all, or make or close one."""
        rng, call = self.rng, self.rng.choices(list(CALLS), list(CALLS.values()))[0]
        if call == "step":
            self.step()
        elif call in COPIES:
            other = COPIES[call](rng.choice(self.envs))
            if len(self.envs) == MOST:
                self.envs.pop(rng.randrange(MOST)).close()
            self.envs.insert(rng.randrange(len(self.envs) + 1), other)
        elif call == "restore":
            if self.saved and rng.random() < 0.7:
                states, games = rng.choice(self.saved)
                self.same(lambda env: env.restore(states))
                self.games = [game.clone() for game in games]
                for game in self.games:
                    if game.over and self.settings["autoreset_mode"] == "SameStep":
                        game.reset(int(next_seed(np.uint64(game.seed))))
            else:
                self.saved.append((rng.choice(self.envs).states.copy(), [game.clone() for game in self.games]))
        elif call in ("reset", "reset some"):
            mask = np.array([call == "reset" or rng.random() < 0.5 for _ in range(self.count)])
            seeds = [rng.choice((None, rng.randrange(2**62))) for _ in range(self.count)]
            self.same(lambda env: env.reset(seed=seeds, options={"reset_mask": mask}))
            for chosen, seed, game in zip(mask, seeds, self.games, strict=True):
                if chosen:
                    game.reset(int(next_seed(np.uint64(game.seed))) if seed is None else seed)
        elif call == "illegal":
            self.refuse()
        elif len(self.envs) > 1:
            env = self.envs.pop(rng.randrange(len(self.envs)))
            env.close()
            for closed in (env, copy.deepcopy(env)):
                refused(ClosedEnvironmentError, lambda closed=closed: closed.step(self.legal()))
                refused(ClosedEnvironmentError, lambda closed=closed: closed.reset())
        self.done[call] += 1

    def refuse(self) -> None:
        """Hand in what every environment must refuse, without a change."""
        rng = self.rng
        row, actions = rng.randrange(self.count), self.legal().astype(rng.choice((np.int64, object)))
        illegal = [a for a, legal in enumerate(self.games[row].legal_mask()) if not legal] + [-1, 2**63 - 1, -(2**63)]
        actions[row] = rng.choice(illegal)
        if actions.dtype == object or not self.games[row].over:
            error = ValueError if actions.dtype == object else IllegalActionError
            for env in self.envs:
                refused(error, lambda env=env: env.step(actions))
        bad = self.envs[0].states.copy()
        bad["over"][row] = 7
        for env in self.envs:
            refused(ValueError, lambda env=env: env.restore(bad))
            refused(TypeError, lambda env=env: env.reset(seed=1, options={"reset_mask": [True] * self.count}))


def refused(error: type[Exception], call: Any) -> None:
    """Run a call that must raise such an error."""
    try:
        call()
    except error:
        return
    raise AssertionError(f"no {error.__name__}")


def play(seed: int, calls: int) -> Counter[str]:
    """One family from its beginning to its end; what was done. AssertionError names how to see a failure again."""
    family, made = Family(random.Random(seed)), 0
    try:
        for made in range(calls):  # noqa: B007
            family.act()
            family.check()
    except Exception as error:
        what = f"{family.variant.spec}, {family.count} games, {family.settings}"
        raise AssertionError(f"tests.torture.vector.play({seed}, {made + 1}): {what}: {error!r}") from error
    for env in family.envs:
        env.close()
    return family.done


def run(long: bool, seed: int) -> dict[str, int]:
    """Families with random calls for a minute, or an hour; counts of what was done.

    Raises:
        AssertionError: environments that should be the same are not; the text says how to see it again.
    """
    end, done = time.monotonic() + (LONG if long else SECONDS), Counter[str]()
    while time.monotonic() < end:
        done += play(1_000_000 * seed + done["families"], 400)
        done["families"] += 1
    return dict(done)
