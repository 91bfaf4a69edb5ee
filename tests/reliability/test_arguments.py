"""What is handed in is checked at the public entry points: arrays, actions, seats, seeds."""

import enum
import random

import numpy as np
import pytest

from agents.arena import play_games
from agents.networks.sampling import sample
from agents.registry import make_agent
from samurai_env import make_variant
from samurai_env.agent_api import decision_keys
from samurai_env.core.bits import pick_legal
from samurai_env.envs.aec import GameAEC
from samurai_env.envs.single import GameEnv
from samurai_env.envs.vector import GameVectorEnv
from samurai_env.game_record import GameRecord
from samurai_env.perft import perft, walk
from samurai_env.position import IllegalActionError, Position
from tests.common.positions import play_random, stream

VARIANT = make_variant("samurai", 2)
SHORT = make_variant("samurai_card", 2)  # its games are quickly played
NO_INTEGERS = [3.9, 3.0, "5", b"5", None, True, np.bool_(True), np.float64(3), [3], np.array([3]), np.array(3.0), 3j]
HUGE = [2**31, 2**63 - 1, 2**63, 2**64, 2**64 + 1, 10**400, 10**5000]
PLAYERS = ["random", "greedy", "lookahead", "mcts:4", "flat_mc:4", "rollout:1", "untrained"]


def one(number: int) -> list:
    """The same integer in every form that counts as one."""
    return [number, np.int8(number), np.uint64(number), np.array(number), enum.IntEnum("E", {"A": number}).A]


def bad_buffers(dtype, shape) -> dict:
    """Arrays into which nothing of this dtype and shape can be written."""
    read_only = np.zeros(shape, dtype)
    read_only.flags.writeable = False
    wide = np.zeros((*shape[:-1], 2 * shape[-1]), dtype)
    raw = np.zeros(int(np.prod(shape)) * np.dtype(dtype).itemsize + 1, np.uint8)
    bad = {
        "dtype": np.zeros(shape, np.int32),
        "bool": np.zeros(shape, bool),
        "byte order": np.zeros(shape, ">i2"),
        "short": np.zeros((*shape[:-1], shape[-1] - 1), dtype),
        "long": np.zeros((*shape[:-1], shape[-1] + 1), dtype),
        "flat": np.zeros((1, *shape), dtype),
        "nothing": np.zeros((), dtype),
        "read-only": read_only,
        "masked": np.ma.zeros(shape, dtype),
        "list": [0] * shape[0],
        "bytes": bytearray(shape[-1]),
    }
    if shape[-1] > 1:
        bad["stride"] = wide[..., ::2]
        bad["backwards"] = wide[..., : shape[-1]][..., ::-1]
    if np.dtype(dtype).itemsize > 1:
        bad["unaligned"] = raw[1:].view(dtype).reshape(shape)
    return bad


def refused(call, *arguments, **named) -> str:
    with pytest.raises((TypeError, ValueError)) as error:
        call(*arguments, **named)
    assert len(str(error.value)) < 300
    assert "\n" not in str(error.value)
    return str(error.value)


# ---------------------------------------------------------------- arrays


def test_buffers_that_do_not_fit_are_refused() -> None:
    position = Position(VARIANT, 3)
    before = position.hash()
    for name, out in bad_buffers(np.int8, (VARIANT.num_actions,)).items():
        assert "out must be " in refused(position.legal_mask, out), name
    for encoding in VARIANT.game.encodings:
        for name, out in bad_buffers(np.int8, VARIANT.encoding(encoding).shape).items():
            assert "out must be " in refused(position.observe, 0, encoding, out), name
    for name, rng in bad_buffers(np.uint64, (1,)).items():
        assert "rng must be " in refused(position.determinized, 0, rng), name
    assert position.hash() == before


def test_buffers_that_fit_are_written_and_returned(tmp_path) -> None:
    position = Position(VARIANT, 3)
    expected = {"mask": position.legal_mask(), "seen": position.observe(0)}
    shared = np.memmap(tmp_path / "mask", np.int8, "w+", shape=expected["mask"].shape)
    for out in (np.full_like(expected["mask"], 9), np.full((3, VARIANT.num_actions), 9, np.int8)[1], shared):
        assert position.legal_mask(out) is out
        assert np.array_equal(out, expected["mask"])
    out = np.full_like(expected["seen"], 9)
    assert position.observe(0, out=out) is out
    assert np.array_equal(out, expected["seen"])


def test_pick_legal_refuses_rows_without_a_choice() -> None:
    masks, actions = np.ones((3, 141), np.int8), np.zeros(3, np.int64)
    pick_legal(masks, stream(1), actions)
    assert ((actions >= 0) & (actions < 141)).all()
    for row in (np.zeros(141, np.int8), np.full(141, -1, np.int8), np.full(141, 2, np.int8)):
        masks[1] = row
        assert "row 1 of the masks" in refused(pick_legal, masks, stream(1), actions)
    masks[:] = 1
    for bad in (masks[0], masks.astype(np.int64), masks.tolist()):
        refused(pick_legal, bad, stream(1), actions)
    for bad in bad_buffers(np.int64, (3,)).values():
        refused(pick_legal, masks, stream(1), bad)
    for bad in bad_buffers(np.uint64, (1,)).values():
        refused(pick_legal, masks, bad, actions)


def test_sample_refuses_rows_without_a_choice() -> None:
    chances, actions = np.full((3, 4), 0.25, np.float32), np.zeros(3, np.int64)
    sample(chances, stream(1), actions)
    assert ((actions >= 0) & (actions < 4)).all()
    for value in (0.0, np.nan, -1.0):
        chances[2] = value
        assert "row 2 of the probabilities" in refused(sample, chances, stream(1), actions)
    chances[:] = 0.25
    refused(sample, chances.astype(np.float64), stream(1), actions)
    refused(sample, chances[0], stream(1), actions)
    refused(sample, chances, stream(1), actions[:2])
    refused(sample, chances, np.zeros(0, np.uint64), actions)


@pytest.fixture(scope="module")
def player(request):
    return make_agent(request.param, SHORT)


@pytest.mark.parametrize("player", PLAYERS, indirect=True)
def test_agents_check_states_and_keys(player) -> None:
    states = np.concatenate([Position(SHORT, seed).states for seed in range(3)])
    keys = np.arange(3, dtype=np.uint64)
    expected = player.act(states, keys)
    read_only = states.copy()
    read_only.flags.writeable = False
    for same in (np.repeat(states, 2)[::2], read_only, states.view(np.recarray)):
        assert np.array_equal(player.act(same, keys), expected)
    assert len(player.act(states[:0], keys[:0])) == 0
    finished = states.copy()
    finished[1] = play_random(Position(SHORT, 1), random.Random(1)).states[0]
    assert refused(player.act, finished, keys) == "game 1 of 3 is over: nobody is to act"
    foreign = Position(VARIANT).states
    for bad in (foreign, states[0], states.reshape(1, 3), states.view(np.uint8), [1], None):
        assert refused(player.act, bad, keys).startswith("states must be ")
    for bad in (keys[:2], np.zeros(4, np.uint64), keys.astype(np.int64), keys.astype(float), [0, 1, 2], None):
        assert refused(player.act, states, bad).startswith("keys must be ")


class Fixed:
    """An agent that always gives the same."""

    def __init__(self, answer) -> None:
        self.answer = answer

    def act(self, states, keys):
        return self.answer


def test_play_games_checks_what_it_is_given() -> None:
    agents, seats, seeds = [make_agent("random", SHORT)], np.zeros((2, 2), np.int64), np.array([1, 2], np.uint64)
    expected = play_games(SHORT, agents, seats, seeds)
    assert np.array_equal(play_games(SHORT, agents, seats.tolist(), seeds.tolist()), expected)
    for bad in (seats + 1, seats - 1, seats[:1], seats[:, :1], seats.astype(float), None):
        refused(play_games, SHORT, agents, bad, seeds)
    for bad in (np.array([1, 2**63], np.uint64), np.array([-1, 2]), seeds.astype(float), seeds[:1], "12", None):
        refused(play_games, SHORT, agents, seats, bad)
    for answer in (np.array([3.9, 3.9]), np.zeros(1, np.int64), np.zeros((2, 1), np.int64), None, [[0], [0, 1]]):
        assert "actions of agent 0 must be integers" in refused(play_games, SHORT, [Fixed(answer)], seats, seeds)
    with pytest.raises(IllegalActionError, match=r"^agent 0 in deal 1: there is no action 999; actions are 0 to "):
        play_games(SHORT, [Fixed(np.array([999, 999]))], seats, seeds)


def test_decision_keys_check_what_they_are_given() -> None:
    seeds, steps = np.array([1, 2**64 - 1], np.uint64), np.array([3, 4], np.int32)
    keys = decision_keys(seeds, steps, 1)
    assert keys.tolist() == [15366054242055206886, 9586248197151087988]
    assert np.array_equal(decision_keys(np.repeat(seeds, 2)[::2], steps.tolist(), np.int8(1)), keys)
    for bad in (0, None, [1, 2], seeds.astype(np.int64), seeds[:1], seeds[None], np.uint64(1)):
        refused(decision_keys, bad, steps, 1)
    for bad in (0, None, steps.astype(float), steps[:1], steps[None], "12", [[1], [1, 2]]):
        refused(decision_keys, seeds, bad, 1)
    for bad in (-1, 2**64, None, 1.0, "1", True, [1]):
        refused(decision_keys, seeds, steps, bad)


def test_records_of_another_kind_are_not_checked_as_their_own() -> None:
    for bad in (None, np.zeros(2), Position(VARIANT).states, Position(SHORT).states.view(np.uint8)):
        refused(SHORT.check, bad)
    SHORT.check(Position(SHORT).states)
    SHORT.check(Position(SHORT).state)


# ---------------------------------------------------------------- actions, seats, seeds


@pytest.mark.parametrize("bad", NO_INTEGERS, ids=repr)
def test_what_is_no_integer_is_no_action_seat_or_seed(bad) -> None:
    position, record, aec, single = Position(VARIANT, 3), GameRecord(VARIANT, 3), GameAEC("samurai"), GameEnv("samurai")
    aec.reset(seed=3)
    single.reset(seed=3)
    before = position.hash()
    for step in (position.step, record.append, aec.step, single.step):
        with pytest.raises(
            (TypeError, IllegalActionError), match=r"an action must be an integer, not |None is for agents"
        ):
            step(bad)
    for seed in (lambda: Position(VARIANT, bad), lambda: position.reset(bad), lambda: GameRecord(VARIANT, bad)):
        with pytest.raises(TypeError, match="a seed must be an integer, not "):
            seed()
    if bad is not None:  # which leaves the seed to the environment
        for reset in (aec.reset, single.reset):
            with pytest.raises(TypeError, match="a seed must be an integer, not "):
                reset(seed=bad)
        refused(GameAEC, "samurai", viewer=bad)
        refused(VARIANT.game.variant, bad)
        refused(VARIANT.game.text, position.state, bad)
        refused(VARIANT.game.scene, position.state, bad)
    refused(GameEnv, "samurai", seat=bad)
    for look in (position.observe, lambda seat: position.determinized(seat, stream(1))):
        with pytest.raises(ValueError, match=r"there is no seat .*; seats are 0 to 1"):
            look(bad)
    refused(perft, position, bad)
    refused(walk, position, bad)
    assert position.hash() == before == aec.position.hash() == record.position.hash()


@pytest.mark.parametrize("huge", HUGE, ids=lambda number: f"{number.bit_length()} bits")
@pytest.mark.parametrize("sign", [1, -1])
def test_huge_integers_are_refused(huge, sign) -> None:
    huge *= sign
    position, record, aec, single = Position(VARIANT, 3), GameRecord(VARIANT, 3), GameAEC("samurai"), GameEnv("samurai")
    aec.reset(seed=3)
    single.reset(seed=3)
    for step in (position.step, record.append, aec.step, single.step):
        assert "there is no action" in refused(step, huge)
    for look in (position.observe, lambda seat: position.determinized(seat, stream(1))):
        assert "there is no seat" in refused(look, huge)
    if not 0 <= huge < 2**63:
        for seed in (lambda: Position(VARIANT, huge), lambda: GameRecord(VARIANT, huge), lambda: aec.reset(seed=huge)):
            assert "a seed must be an integer from 0 to 2**63 - 1" in refused(seed)
    play_random(position, random.Random(3))
    assert "after the end of the game" in refused(position.step, huge)


@pytest.mark.parametrize("options", [1, "5", [("position", None)], np.zeros(2), np.True_], ids=repr)
def test_options_of_reset_are_a_dict(options) -> None:
    for environment in (GameAEC("samurai"), GameEnv("samurai"), GameVectorEnv("samurai", 2)):
        environment.reset(seed=1, options={})
        with pytest.raises(TypeError, match="the options of reset must be a dict or None, not "):
            environment.reset(seed=1, options=options)


def test_integers_of_every_kind_are_taken() -> None:
    action = Position(VARIANT, 3).legal_actions()[0]
    hashes, texts = set(), set()
    for number in one(action):
        position, record = Position(VARIANT, 3), GameRecord(VARIANT, 3)
        position.step(number)
        record.append(number)
        hashes.add(position.hash())
        texts.add(record.to_text())
    assert len(hashes) == len(texts) == 1
    assert {Position(VARIANT, seed).hash() for seed in one(3)} == {Position(VARIANT, 3).hash()}
    assert {Position(VARIANT).observe(seat).tobytes() for seat in one(1)} == {Position(VARIANT).observe(1).tobytes()}
    assert {VARIANT.game.variant(players) for players in one(2)} == {VARIANT}


@pytest.mark.parametrize("bad", [0, None, "text", [[1]], np.zeros(3), b"bytes"], ids=repr)
def test_what_is_no_text_or_bytes_is_no_record_or_position(bad) -> None:
    if not isinstance(bad, bytes):
        assert refused(Position.restore, bad).startswith("a saved position must be bytes, not ")
    if not isinstance(bad, str):
        assert refused(GameRecord.parse, bad).startswith("a record must be a string, not ")


def test_perft_deeper_than_any_game() -> None:
    position = play_random(Position(SHORT, 3), random.Random(3))
    assert perft(position, 10**30) == 0


@pytest.mark.parametrize("answer", [-1, 10**6, 2**70, None])
def test_an_opponents_illegal_action_names_its_seat(answer) -> None:
    def opponent(seen):
        return int(seen["action_mask"].argmin()) if answer is None else answer

    env = GameEnv("samurai", num_players=3, opponents=["random", opponent])

    def play():
        env.reset(seed=1)
        while True:
            env.step(env.action_space.sample())

    with pytest.raises(
        IllegalActionError, match=r"^opponent opponent on seat 2: (there is no action|action .* is illegal)"
    ):
        play()
