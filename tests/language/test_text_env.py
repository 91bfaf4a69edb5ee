"""Games played by text: prompts, moves, mistakes and what a prompt may tell."""

import random
import time

import numpy as np
import pytest

from samurai_env import Position, game_names, make_variant
from samurai_env.core.game import Variant, find_game
from samurai_env.game_record import GameRecord
from samurai_env.language import TextEnv

GAMES = [(name, players) for name in ("samurai", "samurai_card", "samurai_spirit") for players in (2, 4)]


def variants() -> list[Variant]:
    return [make_variant(name, num_players=players) for name, players in GAMES]


@pytest.mark.parametrize("variant", variants(), ids=str)
def test_random_replies_play_a_whole_game(variant: Variant) -> None:
    env, rng = TextEnv(variant, seed=3), random.Random(1)
    while not env.over:
        form = rng.choice(("**Move: {}**", "**Move**: {}", "> `move`: `{}`", "move : {}"))
        assert env.reply(f"I look around.\n\n{form.format(rng.choice(env.legal()))}\n").accepted
    assert env.mistakes == env.forced == [0] * variant.num_players
    with pytest.raises(ValueError, match="the game is over"):
        env.prompt()
    with pytest.raises(ValueError, match="the game is over"):
        env.reply("move: end")


@pytest.mark.parametrize("variant", variants(), ids=str)
def test_whole_moves_in_notation_play_a_recorded_game(variant: Variant) -> None:
    rng = np.random.default_rng(5)
    record = GameRecord.play(variant, 5, lambda position: int(rng.choice(position.legal_actions())))
    env = TextEnv(variant, seed=5)
    for seat, move in record.moves():
        assert env.seat == seat
        reply = env.reply(f"move: {move}")
        assert (reply.accepted, reply.move) == (True, move)
    assert env.position.hash() == record.position.hash()


@pytest.mark.parametrize("variant", variants(), ids=str)
def test_prompt_depends_on_what_the_seat_may_know(variant: Variant) -> None:
    env, rng, stream = TextEnv(variant, seed=2), random.Random(2), np.array([7], np.uint64)
    while not env.over:
        other = TextEnv(variant, seed=9)
        other.position = env.position.determinized(env.seat, stream)
        assert other.prompt() == env.prompt()
        for _ in range(rng.randrange(1, 9)):
            if not env.over:
                env.reply(rng.choice(env.legal()))


@pytest.mark.parametrize("variant", variants(), ids=str)
def test_a_refused_reply_tells_nothing_hidden(variant: Variant) -> None:
    """What follows a move would be legal or not by what was drawn; a refused reply can be taken back."""
    env, rng, stream, refused = TextEnv(variant, seed=4, retries=10**6), random.Random(4), np.array([11], np.uint64), 0
    words = [name for name in variant.action_names if " " not in name]
    while not env.over:
        twin = TextEnv(variant, seed=9, retries=10**6)
        twin.position = env.position.determinized(env.seat, stream)
        first, mover = rng.choice(env.legal()), env.seat
        after = env.position.clone()
        after.step(variant.game.parse_move(after.state, first)[0])
        legal = [] if after.over else [variant.game.format_move(after.state, [a]) for a in after.legal_actions()]
        text = f"move: {first} {rng.choice([rng.choice(words), *legal])}"
        one, other = env.reply(text), twin.reply(text)
        assert one == other, text
        refused += not one.accepted
        if not one.accepted:
            assert env.reply(first).accepted
        while rng.random() < 0.5 and not env.over and env.seat == mover:
            env.reply(rng.choice(env.legal()))
    assert refused, "no reply had too many words"


def test_the_next_card_cannot_be_looked_at_by_a_reply() -> None:
    """Spirit: what may be done with the raider that `fight` turns up was told by a word after it."""
    for seed in range(4):
        env = TextEnv(make_variant("samurai_spirit", num_players=3), seed)
        assert env.reply("move: fight fight").feedback.endswith("'fight fight' has more words than this move needs")


def test_prompt_has_rules_position_and_legal_moves() -> None:
    env = TextEnv(make_variant("samurai", num_players=2), seed=1)
    assert "token exchange" in env.prompt()
    assert "Legal now: pick H2, pick H3" in env.prompt()
    assert "token exchange" in env.prompt(rules=False)  # the legend of the map names the tile, too
    assert "Majorities in" not in env.prompt(rules=False)
    assert "Legal now" not in TextEnv(make_variant("samurai", num_players=2), list_legal=False).prompt()


def test_mistakes_are_named_and_the_last_one_is_replaced() -> None:
    env = TextEnv(make_variant("samurai", num_players=2), seed=1, retries=2)
    before = env.position.hash()
    first = env.reply("move: pick Z9")
    assert not first.accepted
    assert "'Z9'" in first.feedback
    assert first.feedback in env.prompt()
    second = env.reply("")
    assert "holds no move" in second.feedback
    assert env.position.hash() == before
    third = env.reply("move: S3 c14r12")
    assert third.forced
    assert not third.accepted
    assert third.move in third.feedback
    assert env.position.steps == 1
    assert (env.mistakes, env.forced) == ([3, 0], [1, 0])
    assert "refused" not in env.prompt()


def test_illegal_part_of_a_move_changes_nothing() -> None:
    variant = make_variant("samurai", num_players=2, first_hand="random", figure_setup="random")
    env = TextEnv(variant, seed=1)
    tile = next(name for name in env.legal() if name[0] in "HBRS" and not name.startswith("SH"))
    before = env.position.hash()
    reply = env.reply(f"move: {tile} c14r13")  # Edo takes no tile
    assert not reply.accepted
    assert "c14r13" in reply.feedback
    assert "legal there" in reply.feedback or "is no tile" in reply.feedback
    assert env.position.hash() == before
    assert env.reply(f"move: {tile}").accepted  # half a move: the place comes next
    assert "middle of a move" in env.prompt()


def test_names_of_actions_are_understood_too() -> None:
    env = TextEnv(make_variant("samurai", num_players=2), seed=1)
    assert env.reply("H4").move == "pick H4"


@pytest.mark.parametrize("reply", [None, 3, b"move: end"])
def test_replies_are_texts(reply: object) -> None:
    with pytest.raises(TypeError, match="a reply must be a string"):
        TextEnv(make_variant()).reply(reply)


def test_hostile_replies_are_refused_briefly() -> None:
    env = TextEnv(make_variant(), retries=10**6)
    for text in (
        "x" * 10**6,
        "\0\n" * 10**5,
        "move: " * 10**5,
        "move:\x1b[2J",
        "move: pick " + "H4 " * 10**4,
        "move: \u202eend",
    ):
        reply = env.reply(text)
        assert not reply.accepted
        assert len(reply.feedback) < 300
        assert reply.feedback.isprintable()


def test_a_reply_of_blank_lines_is_read_at_once() -> None:
    """Each line is read once: a model that writes nothing but line ends keeps no other game waiting."""
    env = TextEnv(make_variant("samurai"), seed=1)
    start = time.process_time()
    assert not env.reply("I think" + "\n" * 99_000 + "nothing").accepted
    assert time.process_time() - start < 5  # it took two minutes
    assert env.reply(f"> **Move\u00a0: {env.legal()[0]}**\r\n").accepted


def test_every_game_has_a_summary_of_its_rules() -> None:
    for name in game_names():
        if name.startswith("samurai"):
            summary = find_game(name).rules_summary()
            assert "Moves: `" in summary
            assert len(summary) < 3500
            assert max(map(len, summary.splitlines())) <= 120


def test_position_stays_the_callers() -> None:
    env = TextEnv(make_variant(), seed=4)
    position = env.position
    assert isinstance(position, Position)
    env.reply(env.legal()[0])
    assert position.steps == 0
