"""Advantages over seats: against the definition, written out seat by seat and sum by sum."""

import numpy as np
import pytest

from samurai_env.envs.gae import gae_by_seat
from samurai_env.envs.vector import GameVectorEnv


def by_definition(rewards, dones, seats, values, next_values, gamma, gae_lambda, ignored) -> np.ndarray:
    """The sum over (gamma lambda)^k of a seat's temporal differences, one decision at a time."""
    steps, games, players = rewards.shape
    advantages = np.zeros((steps, games))
    for game in range(games):
        for seat in range(players):
            # The seat's trajectory is cut where games end.
            start = 0
            for end in [*np.flatnonzero(dones[:, game]).tolist(), steps - 1]:
                own = [t for t in range(start, end + 1) if seats[t, game] == seat and not ignored[t, game]]
                over, deltas = dones[end, game], []
                for t, follower in zip(own, [*own[1:], None]):
                    until = end + 1 if follower is None else follower
                    got = sum(rewards[u, game, seat] for u in range(t, until))
                    if follower is not None:
                        after = values[follower, game]
                    else:
                        after = 0.0 if over else next_values[game, seat]
                    deltas.append(got + gamma * after - values[t, game])
                for i, t in enumerate(own):
                    advantages[t, game] = sum((gamma * gae_lambda) ** k * d for k, d in enumerate(deltas[i:]))
                start = end + 1
    return advantages


@pytest.mark.parametrize("players", [1, 2, 4])
@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 0.95), (0.9, 0.5), (1.0, 1.0), (0.97, 0.0)])
def test_against_the_definition(players, gamma, gae_lambda) -> None:
    rng = np.random.default_rng(players)
    steps, games = 40, 5
    arrays = (
        rng.normal(size=(steps, games, players)),
        rng.random((steps, games)) < 0.1,
        rng.integers(players, size=(steps, games)),
        rng.normal(size=(steps, games)),
        rng.normal(size=(games, players)),
    )
    rewards, dones = arrays[:2]
    ignored = np.zeros_like(dones)
    ignored[1:] = dones[:-1]  # as in NEXT_STEP
    dones &= ~ignored
    rewards[ignored] = 0.0
    for skipped in (None, ignored):
        given = np.zeros_like(dones) if skipped is None else skipped
        expected = by_definition(*arrays, gamma, gae_lambda, given)
        advantages, returns = gae_by_seat(*arrays, gamma=gamma, gae_lambda=gae_lambda, ignored=skipped)
        assert np.allclose(advantages, expected)
        assert np.allclose(returns, expected + arrays[3])


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_the_return_of_every_decision_is_that_of_its_seat(mode) -> None:
    """With lambda 1 and values 0 the return of a decision in a game that ends is what its seat gets in the end."""
    env, steps = GameVectorEnv("samurai", 4, 2, autoreset_mode=mode), 150
    _, info = env.reset(seed=0)
    env.action_space.seed(0)
    rewards, dones, seats, over = [], [], [], [np.zeros(4, bool)]
    for _ in range(steps):
        *_, terminations, truncations, info = env.step(env.action_space.sample())
        rewards.append(info["rewards"].copy())
        seats.append(info["actor"].copy())
        dones.append(terminations | truncations)
        over.append(dones[-1] & (mode == "NextStep"))
    ignored, dones, seats = np.array(over[:-1]), np.array(dones), np.array(seats)
    zeros = np.zeros((steps, 4)), np.zeros((4, 2))
    _, returns = gae_by_seat(rewards, dones, seats, *zeros, gamma=1.0, gae_lambda=1.0, ignored=ignored)
    found = set()
    for game in range(4):
        for end, start in zip(np.flatnonzero(dones[:, game]), [0, *np.flatnonzero(dones[:, game]) + 1]):
            for t in range(start, end + 1):
                expected = 0.0 if ignored[t, game] else rewards[end][game, seats[t, game]]
                assert returns[t, game] == expected
                found.add(expected)
    assert {-1.0, 1.0} <= found


def test_wrong_shapes() -> None:
    right = [np.zeros((5, 3, 2)), np.zeros((5, 3), bool), np.zeros((5, 3), int), np.zeros((5, 3)), np.zeros((3, 2))]
    gae_by_seat(*right)
    for place, wrong, message in (
        (0, np.zeros((5, 3)), r"rewards must have shape \(steps, games, seats\), not \(5, 3\)"),
        (1, np.zeros(5, bool), r"dones must have shape \(5, 3\) like the rewards, not \(5,\)"),
        (2, np.full((5, 3), 2), "seats must be 0 to 1, not 2 to 2"),
        (2, np.zeros((5, 3)), "seats must be integers of shape"),
        (3, np.zeros((5, 3, 2)), r"values must have shape \(5, 3\) like the rewards"),
        (0, [[1], [1, 2]], "rewards are no array: "),
        (3, 10**400, "values must be real numbers, not a number of 1,329 bits"),
        (3, np.zeros((5, 3), complex), "values must be real numbers"),
        (4, None, "next_values must be real numbers, not None"),
        (4, np.zeros(3), r"next_values must have shape \(3, 2\) like the rewards, not \(3,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            gae_by_seat(*right[:place], wrong, *right[place + 1 :])
    for bad in (10**400, -0.1, 1.5, float("nan"), None, "1", [0.5]):
        for name in ("gamma", "gae_lambda"):
            with pytest.raises(ValueError, match=f"{name} (must be a number from 0 to 1|must be real numbers), not "):
                gae_by_seat(*right, **{name: bad})
