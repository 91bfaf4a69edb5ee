"""The batch interface does to every game of an array what `Position` does to one."""

from collections.abc import Iterator

import numpy as np
import pytest

from samurai_env import GameBatch, IllegalActionError, Position, Variant, game_names, make_variant

GAMES = 4


def played(variant: Variant, seed: int = 0) -> Iterator[tuple[np.ndarray, list[Position]]]:
    """The same random games, as an array and one by one, before each decision; the last have all ended."""
    batch, rng = GameBatch(variant), np.random.default_rng(seed)
    seeds = rng.integers(1 << 40, size=GAMES)
    states, positions = batch.reset(seeds), [Position(variant, int(seed)) for seed in seeds]
    while True:
        yield states, positions
        running = ~states["over"].astype(bool)
        if not running.any():
            return
        masks = batch.legal_masks(states)
        actions = np.array([rng.choice(np.flatnonzero(mask)) if mask.any() else -1 for mask in masks])
        going = states[running]
        batch.step(going, actions[running])
        states[running] = going
        for position, action in zip(positions, actions, strict=True):
            if action >= 0:
                position.step(int(action))


@pytest.mark.parametrize("game", game_names())
def test_a_batch_plays_as_single_positions_do(game: str) -> None:
    variant = make_variant(game)
    batch = GameBatch(variant)
    for states, positions in played(variant):
        assert [state.tobytes() for state in states] == [position.states[0].tobytes() for position in positions]
        assert np.array_equal(batch.legal_masks(states), [position.legal_mask() for position in positions])
        assert np.array_equal(batch.returns(states), [position.returns() for position in positions])
        for encoding in variant.game.kernels.observe:
            observations = [position.observe(position.seat, encoding) for position in positions]
            assert np.array_equal(batch.observe(states, encoding=encoding), observations)
    assert states["over"].all()


@pytest.mark.parametrize("game", game_names())
def test_policy_logits_choose_a_legal_action_and_change_nothing(game: str) -> None:
    variant = make_variant(game)
    batch = GameBatch(variant)
    states = batch.reset(range(GAMES))
    before = states.tobytes()
    logits, masks = batch.policy_logits(states), batch.legal_masks(states)
    assert logits.shape == masks.shape and np.isfinite(logits[masks > 0]).all() and states.tobytes() == before


@pytest.mark.parametrize("game", game_names())
def test_determinizing_a_batch_or_each_game_with_its_stream_is_the_same(game: str) -> None:
    variant = make_variant(game)
    batch = GameBatch(variant)
    states = batch.reset(range(GAMES))
    together, streams = batch.clone(states), np.arange(GAMES, dtype=np.uint64)
    batch.determinize(together, streams)
    for i in range(GAMES):
        one = batch.clone(states[i : i + 1])
        batch.determinize(one, np.array([i], np.uint64))
        assert one[0].tobytes() == together[i].tobytes()
    assert np.array_equal(batch.observe(together), batch.observe(states))


def test_an_illegal_action_names_its_game_and_changes_none() -> None:
    batch = GameBatch(make_variant("samurai"))
    states = batch.reset(range(GAMES))
    actions = batch.legal_masks(states).argmax(1)
    actions[2] = batch.legal_masks(states)[2].argmin()
    before = states.tobytes()
    with pytest.raises(IllegalActionError, match=r"^game 2: "):
        batch.step(states, actions)
    assert states.tobytes() == before and batch.first_illegal(states, actions) == 2
    assert f"action {actions[2]} (" in batch.why_illegal(states[2], actions[2])
    assert batch.why_illegal(states[1], actions[1]) == ""
    assert "there is no action 9999" in batch.why_illegal(states[1], 9999)
    for action in (1.5, "x", None, True):
        with pytest.raises(TypeError, match=r"^an action must be an integer, not "):
            batch.why_illegal(states[1], action)
    other = GameBatch(make_variant("samurai", 3)).reset([0])
    with pytest.raises(ValueError, match=r"^state must be states of "):
        batch.why_illegal(other[0], 0)


def test_bad_arguments_are_refused() -> None:
    batch = GameBatch(make_variant("samurai"))
    states = batch.reset(range(GAMES))
    with pytest.raises(ValueError, match="seeds must be 0 or more, not -1"):
        batch.reset([0, -1])
    with pytest.raises(TypeError, match="states"):
        batch.step(list(states), [0] * GAMES)
    with pytest.raises(ValueError, match="states"):
        batch.legal_masks(GameBatch(make_variant("samurai_card")).reset([0]))
    with pytest.raises(ValueError, match="seats must be 0 to 1"):
        batch.observe(states, [0, 1, 2, 0])
    with pytest.raises(ValueError, match="actions"):
        batch.step(states, [0])
    with pytest.raises(ValueError, match="rng"):
        batch.determinize(states, np.zeros(2, np.uint64))


@pytest.mark.parametrize("game", game_names())
def test_a_finished_game_is_refused_where_somebody_must_act(game: str) -> None:
    variant = make_variant(game)
    batch = GameBatch(variant)
    *_, (states, _) = played(variant)
    rng, before = np.array([1], np.uint64), states.tobytes()
    calls = {
        "play_random": lambda: batch.play_random(states, rng, 1),
        "apply": lambda: batch.apply(states, np.zeros(GAMES, np.int64)),
        "policy_logits": lambda: batch.policy_logits(states),
    }
    for call in calls.values():
        with pytest.raises(ValueError, match=f"game 0 of {GAMES} is over: nobody is to act"):
            call()
    assert states.tobytes() == before


@pytest.mark.parametrize("steps", [-1, "5", 2.0, None, 2**63])
def test_random_play_takes_a_number_of_steps(steps: object) -> None:
    batch = GameBatch(make_variant("samurai_card"))
    with pytest.raises((TypeError, ValueError), match=r"^steps must be "):
        batch.play_random(batch.reset(range(GAMES)), np.array([1], np.uint64), steps)
