"""What callers do wrong is refused with a message that helps, and nothing changes."""

import hashlib
import random
from pathlib import Path

import numpy as np
import pytest

from samurai_env.core.batch import batch_kernels
from samurai_env.core.game import find_game
from samurai_env.core.layout import HEADER
from samurai_env.core.variant_spec import parse_variant
from samurai_env.game_batch import GameBatch
from samurai_env.game_record import GameRecord, RecordError
from samurai_env.position import MAGIC, IllegalActionError, Position
from tests.common.positions import play_random, sampled
from tests.common.variants import all_variants, cross_section, label
from tests.regenerate import GAMES

VARIANTS = [variant for game in GAMES for variant in all_variants(find_game(game))]
BOARD = find_game("samurai")

# ---------------------------------------------------------------- actions


@pytest.mark.parametrize("variant", VARIANTS, ids=label)
def test_an_illegal_action_is_named_and_changes_nothing(variant) -> None:
    for position in sampled(variant, range(2), 25):
        legal, before = set(position.legal_actions()), position.hash()
        for action in set(range(0, variant.num_actions, 7)) - legal:
            with pytest.raises(IllegalActionError) as found:
                position.step(action)
            text = str(found.value)
            if position.over:
                assert text == f"action {action} after the end of the game; reset to begin another"
            else:
                assert f"action {action} ({variant.action_names[action]}) is illegal for seat {position.seat}" in text
                shown = sorted(legal)[:12]
                assert ", ".join(f"{a} ({variant.action_names[a]})" for a in shown) in text
                assert text.endswith(", ...") == (len(legal) > 12)
        for action in (-1, variant.num_actions, 64 * variant.num_words, 10**9, -(10**9)):
            with pytest.raises(IllegalActionError, match=r"after the end|there is no action"):
                position.step(action)
        assert position.hash() == before


def test_seats_and_encodings_that_do_not_exist() -> None:
    position = Position(BOARD.variant(2), 0)
    for seat in (-1, 2):
        with pytest.raises(ValueError, match=f"no seat {seat}; seats are 0 to 1"):
            position.observe(seat)
    with pytest.raises(ValueError, match="no encoding 'pixels'; it has flat, planes, tokens"):
        position.observe(0, "pixels")


@pytest.mark.parametrize("seed", [-1, 2**63, 2**64])
def test_impossible_seeds(seed) -> None:
    with pytest.raises(ValueError, match="a seed must be an integer from 0"):
        Position(BOARD.variant(2), seed)
    position = Position(BOARD.variant(2), 5)
    before = position.hash()
    with pytest.raises(ValueError, match="a seed must be an integer from 0"):
        position.reset(seed)
    assert position.hash() == before


# ---------------------------------------------------------------- variants


@pytest.mark.parametrize("players", [-1, 0, 1, 5, 2.5, "2", True])
def test_wrong_number_of_players(players) -> None:
    with pytest.raises(ValueError, match=r"Samurai is for 2, 3, 4 players, not"):
        BOARD.variant(players)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edition": "2015"}, "edition of Samurai must be one of '1998', '2016', not '2015'"),
        ({"edition": 2016}, "edition of Samurai must be one of '1998', '2016', not 2016"),
        ({"first_hand": "dealt"}, "first_hand of Samurai must be one of 'choose', 'random', not 'dealt'"),
        ({"figure_setup": None}, "figure_setup of Samurai must be one of 'alternate', 'free', 'random', not None"),
        ({"hide_captures": 1}, "hide_captures of Samurai must be one of False, True, not 1"),
        ({"colour": "red"}, "Samurai has no option 'colour'; its options are edition, first_hand"),
        ({"players": 3}, r"Samurai has no option 'players' \(did you mean 'num_players'\?\)"),
        ({"editon": "1998"}, r"Samurai has no option 'editon' \(did you mean 'edition'\?\); its options are edition"),
        ({"hide_captures": True}, "hide_captures is for 3 or 4 players"),
    ],
)
def test_wrong_options(options, message) -> None:
    with pytest.raises(ValueError, match=message):
        BOARD.variant(2, **options)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("go players=2", "no game 'go'; the games are samurai"),
        ("samurai players=two", "is 'two', not a number"),
        ("samurai players=7", "not 7"),
        ("samurai players=2 edition=2015", "option edition of Samurai must be one of 1998, 2016, not '2015'"),
        ("samurai players=2 colour=red", "no option 'colour'"),
        ("samurai player=2", r"no option 'player' \(did you mean 'players'\?\)"),
        ("samuray players=2", r"no game 'samuray' \(did you mean 'samurai'\?\)"),
        ("samurai players=2 edition", "'edition' in .* is not of the form name=value"),
        ("samurai players=2,edition=2016", "'2,edition=2016', not a number; spaces, not commas, separate settings"),
        ("samurai:players=2,edition=2016", "no game 'samurai:players=2,edition=2016'.*; spaces, not commas"),
        ("samurai players=2 hide_captures=yes", "hide_captures of Samurai must be one of false, true, not 'yes'"),
        ("samurai players=2 hide_captures=true", "hide_captures is for 3 or 4 players"),
    ],
)
def test_wrong_specs(spec, message) -> None:
    with pytest.raises(ValueError, match=message):
        parse_variant(spec)


@pytest.mark.parametrize("written", ["true", "True", "TRUE"])
def test_truth_is_written_as_in_python_or_in_small_letters(written) -> None:
    assert parse_variant(f"samurai players=3 hide_captures={written}").options["hide_captures"] is True


@pytest.mark.parametrize("variant", VARIANTS, ids=label)
def test_a_spec_is_read_as_it_was_written(variant) -> None:
    assert parse_variant(variant.spec) == variant


# ---------------------------------------------------------------- saved positions


def some_position(variant=None) -> Position:
    return play_random(Position(variant or BOARD.variant(3), 4), random.Random(4), 90)


def saved_with(position: Position, name: str, index: tuple, value: int) -> bytes:
    """A saved position in which one number was changed by somebody who knows the checksum."""
    other = position.clone()
    other.states[name][(0, *index)] = value
    return other.save()


def test_a_flipped_bit_is_noticed() -> None:
    data = some_position().save()
    for byte in range(len(data)):
        damaged = bytearray(data)
        damaged[byte] ^= 1 << byte % 8
        with pytest.raises(ValueError, match=r"damaged|not a position"):
            Position.restore(bytes(damaged))


def test_missing_and_additional_bytes_are_noticed() -> None:
    data = some_position().save()
    for length in range(len(data)):
        with pytest.raises(ValueError, match=r"damaged|not a position"):
            Position.restore(data[:length])
    with pytest.raises(ValueError, match="damaged"):
        Position.restore(data + b"\0")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", bytes(500), MAGIC, MAGIC + bytes(16), b"\xff" * 400])
def test_foreign_bytes(data) -> None:
    with pytest.raises(ValueError, match=r"damaged|not a position"):
        Position.restore(data)


@pytest.mark.parametrize(
    ("spec", "size", "message"),
    [
        (b"samurai players=9", 416, "not 9"),
        (b"chess", 416, "no game 'chess'"),
        (b"samurai players=2", BOARD.variant(2).dtype.itemsize - 1, r"the saved state has \d+ bytes, .* needs"),
        (b"samurai players=3", BOARD.variant(2).dtype.itemsize, r"the saved state has \d+ bytes, .* needs"),
        (b"\xff\xfe", 416, "which is no variant"),
    ],
)
def test_a_saved_position_of_something_else(spec, size, message) -> None:
    body = MAGIC + spec + b"\n" + bytes(size)
    with pytest.raises(ValueError, match=message):
        Position.restore(body + hashlib.blake2b(body, digest_size=16).digest())


@pytest.mark.parametrize("variant", [BOARD.variant(n) for n in BOARD.players], ids=label)
def test_a_field_out_of_its_range_is_named(variant) -> None:
    position = some_position(variant)
    tried = 0
    for field in [*HEADER, *variant.game.fields(variant.num_players)]:
        limits = np.iinfo(position.states[field.name].dtype)
        for value in (field.limits[0] - 1, field.limits[1] + 1, limits.min, limits.max):
            if not field.limits[0] <= value <= field.limits[1] and limits.min <= value <= limits.max:
                last = tuple(length - 1 for length in field.shape)
                with pytest.raises(ValueError, match=f"field '{field.name}' of the saved game"):
                    Position.restore(saved_with(position, field.name, last, value))
                tried += 1
    assert tried > 60


def test_a_seat_that_the_game_does_not_have() -> None:
    with pytest.raises(ValueError, match="field 'seat' of the saved game is 3"):
        Position.restore(saved_with(some_position(), "seat", (), 3))


@pytest.mark.parametrize("game", GAMES)
def test_more_decisions_than_a_game_can_have(game) -> None:
    """The number wrapped around at the next step."""
    variant = cross_section(find_game(game))[0]
    position = Position(variant, 1)
    for over, steps in ((0, 32767), (1, 32767), (0, variant.max_steps), (1, variant.max_steps + 1)):
        position.state["over"], position.state["steps"] = over, steps
        with pytest.raises(ValueError, match=f"'steps' of the saved game is {steps}, {game} .* ends after") as told:
            Position.restore(position.save())
        assert len(str(told.value)) < 300
    position.state["over"], position.state["steps"] = 0, variant.max_steps - 1
    assert Position.restore(position.save()).steps == variant.max_steps - 1


def test_options_that_contradict_the_spec() -> None:
    with pytest.raises(ValueError, match="the saved game has edition=1998, this variant is"):
        Position.restore(saved_with(some_position(), "edition", (), 0))


@pytest.mark.parametrize("game", GAMES)
def test_no_position_of_a_game_contradicts_itself(game) -> None:
    for variant in all_variants(find_game(game)):
        states = np.concatenate([position.states for position in sampled(variant, range(2), 10)])
        variant.check(states)
        for seat in range(variant.num_players):
            for i in range(len(states)):
                batch_kernels(variant.game).determinize_one(states, i, seat, np.array([i], np.uint64))
            variant.check(states)


# Fields that follow from others at rare moments only, such as inside a Kiai; tests/reliability/test_forged_positions.py
# goes there.
AT_TIMES = {
    "samurai_spirit": {
        "families",
        "moved",
        "holder",
        "kiai_seat",
        "kiai_side",
        "kiai_stage",
        "kiai_uses",
        "kiai_a",
        "kiai_b",
    }
}


@pytest.mark.parametrize("game", GAMES)
def test_a_field_that_contradicts_others_is_noticed(game) -> None:
    variant = find_game(game).variant(3)
    limits = {field.name: field.limits for field in variant.game.fields(3)}
    positions = [play_random(Position(variant, seed), random.Random(seed), 10 + seed) for seed in range(10)]
    names = [name for name, _ in variant.game.broken_invariants(positions[0].states)]
    noticed = {name: 0 for name in names if name not in AT_TIMES.get(game, ())}
    assert len(noticed) > 8
    for name in noticed:
        for position in positions:
            forged = position.states.repeat(position.states[name].size)  # a copy for each number of the field
            values, (low, high) = forged[name].reshape(len(forged), -1), limits[name]
            for i in range(len(forged)):
                values[i, i] = values[i, i] + 1 if values[i, i] < high else low
            wrong = np.zeros(len(forged), np.bool_)
            for _, where in variant.game.broken_invariants(forged):
                wrong |= where.reshape(len(forged), -1).any(1)
            noticed[name] += int(wrong.any())
    assert min(noticed.values()) > 0, noticed  # unused places of stacks may hold anything
    assert sum(noticed.values()) > 0.8 * len(noticed) * len(positions), noticed


def test_the_contradiction_is_named() -> None:
    position = some_position()
    value = int(position.state["influence"][0, 0, 0])
    with pytest.raises(ValueError, match="field 'influence' of the saved game contradicts its other fields"):
        Position.restore(saved_with(position, "influence", (0, 0, 0), value + 1))


# ---------------------------------------------------------------- records


def finished() -> str:
    rng = random.Random(3)
    tags = {"player0": "random"}
    return GameRecord.play(BOARD.variant(2), 3, lambda p: rng.choice(p.legal_actions()), tags).to_text()


TEXT = finished()
LINES = TEXT.split("\n")
FIRST = LINES.index("") + 1  # index of the first move


def refused(lines: list[str] | str) -> tuple[int, str]:
    """The line and the reason for which a text is refused."""
    with pytest.raises(RecordError) as found:
        GameRecord.parse(lines if isinstance(lines, str) else "\n".join(lines))
    reason = str(found.value)
    assert reason.startswith(f"line {found.value.line}: ")
    return found.value.line, reason


def changed(index: int, *lines: str, drop: int = 1) -> list[str]:
    """The record with other lines in the place of one."""
    return [*LINES[:index], *lines, *LINES[index + drop :]]


@pytest.mark.parametrize(
    ("index", "line", "message"),
    [
        (0, "[Event 'x']", "not a game record: the first line should be `samurai_env game record 1`"),
        (0, "samurai_env game record 2", "format version 2 is unknown; this program reads version 1"),
        (1, "variant: samurai players=5", "bad variant: Samurai is for 2, 3, 4 players, not 5"),
        (1, "variant: checkers", "bad variant: there is no game 'checkers'"),
        (
            1,
            "variant: samurai edition=2000",
            "bad variant: option edition of Samurai must be one of 1998, 2016, not '2000'",
        ),
        (1, "color: red", "unknown header 'color'"),
        (1, "variant", "expected a header `name: value`"),
        (2, "seed: -3", "a seed must be an integer"),
        (2, "seed: 9223372036854775808", "a seed must be an integer"),
        (2, "seed: " + "9" * 5000, "a seed must be an integer"),
        (2, "tag player0: again", None),  # noticed at the end of the header, where the seed is missing
        (3, "tag a b: x", None),
    ],
)
def test_a_damaged_header(index, line, message) -> None:
    number, reason = refused(changed(index, line))
    if message:
        assert number == index + 1
        assert message in reason
    else:
        assert 4 <= number <= FIRST
        assert "tag" in reason


@pytest.mark.parametrize("index", range(1, 4))
def test_a_header_twice(index) -> None:
    number, reason = refused(changed(index, LINES[index], LINES[index]))
    assert number == index + 2
    assert "stands here a second time" in reason


def test_a_wrong_tag_or_start_is_named_with_its_line() -> None:
    tag = LINES.index("tag player0: random")
    for line, said in (("tag bad name: a", "a tag's name must be"), ("tag player0:  b", "must be one line without")):
        assert refused([*LINES[:tag], line, *LINES[tag + 1 :]])[0] == tag + 1
        assert said in refused([*LINES[:tag], line, *LINES[tag + 1 :]])[1]
    other = f"start: {Position(BOARD.variant(2), 77).to_text()}"
    number, reason = refused([*LINES[:tag], other, *LINES[tag:]])
    assert (number, "seed 77: not of this record" in reason) == (tag + 1, True)


@pytest.mark.parametrize(("index", "name"), [(1, "variant"), (2, "seed")])
def test_a_header_missing(index, name) -> None:
    number, reason = refused(changed(index))
    assert number == FIRST - 1
    assert f"the header ends without `{name}:`" in reason


def test_an_illegal_move_is_named_with_what_would_be_legal() -> None:
    placed = [i for i, line in enumerate(LINES) if len(line.split()) == 4 and line.split()[2][0] in "HBRS"]
    taken = LINES[placed[0]].split()[-1]
    for index in placed[1:]:
        if LINES[index].split()[2][:2] == "SH":
            continue  # ships go to sea
        number, seat, tile, _ = LINES[index].split()
        line, reason = refused(changed(index, f"{number} {seat} {tile} {taken}"))
        assert line == index + 1
        assert f"illegal move '{tile} {taken}': action " in reason
        assert f"({taken}) is illegal for seat {seat} now; legal are " in reason


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2. 0 pick B3", "this should be move 1, not 2"),
        ("1. 1 pick B3", "seat 0 is to move, not 1"),
        ("1. 0 pick end", "illegal move 'pick end': action 17 (end) is illegal for seat 0 now; legal are 0 (H2)"),
        ("1. 0 pick X9", "bad move: 'X9' in move 'pick X9' is no tile, hex or figure of this board"),
        ("1. 0 B3", "bad move: move 'B3' should begin with 'pick' here"),
        ("1. 0 X9", "bad move: 'X9' in move 'X9' is no tile, hex or figure of this board"),
        ("1. 0 pick", "bad move: move 'pick' names no action"),
        ("1. 0 pick B3 B4", "'pick B3 B4' is more than one move"),
        ("1. 0 ", "expected `<number>. <seat> <move>` or `result:`"),
        ("1 0 pick B3", "expected `<number>. <seat> <move>` or `result:`"),
        ("01. 0 pick B3", "expected `<number>. <seat> <move>` or `result:`"),
        ("", "expected `<number>. <seat> <move>` or `result:`"),
        ("1" * 5000 + ". 0 pick B3", "expected `<number>. <seat> <move>` or `result:`"),
        ("result: *", "expected `hash:`"),
    ],
)
def test_a_damaged_first_move(line, message) -> None:
    number, reason = refused(changed(FIRST, line))
    assert message in reason
    assert number in (FIRST + 1, FIRST + 2)


def test_a_move_after_a_half_made_one() -> None:
    index = next(i for i, line in enumerate(LINES) if line.startswith("29. "))
    half = LINES[index].rsplit(" ", 1)[0]
    number, reason = refused(changed(index, half))
    assert number == index + 2
    assert "is only half made" in reason


def test_moves_after_the_end() -> None:
    index = LINES.index(next(line for line in LINES if line.startswith("result")))
    last = int(LINES[index - 1].split(".")[0])
    number, reason = refused(changed(index, f"{last + 1}. 0 end", LINES[index]))
    assert number == index + 1
    assert "move 'end' after the end of the game" in reason


def test_a_move_left_out_or_made_twice_is_noticed() -> None:
    for index in range(FIRST, len(LINES) - 3):
        assert refused(changed(index))[0] >= index + 1
        assert refused(changed(index, LINES[index], LINES[index]))[0] == index + 2


@pytest.mark.parametrize("wrong", ["result: 1 1", "result: *", "result:", "result: 1 -1 ", "result: -1 1 0"])
def test_a_wrong_result(wrong) -> None:
    index = len(LINES) - 3
    number, reason = refused(changed(index, wrong))
    assert number == index + 1
    assert f"the moves lead to `{LINES[index]}`, not {wrong!r}" in reason


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("hash: 0123456789abcdef", "is not the hash of the position reached, which is"),
        ("hash: 0123", "expected `hash:` and 16 hexadecimal digits"),
        ("", "expected `hash:` and 16 hexadecimal digits"),
        ("hash: ABCDEF0123456789", "expected `hash:` and 16 hexadecimal digits"),
    ],
)
def test_a_wrong_hash(wrong, message) -> None:
    number, reason = refused(changed(len(LINES) - 2, wrong))
    assert number == len(LINES) - 1
    assert message in reason


def test_another_seed_is_another_game() -> None:
    assert refused(changed(2, "seed: 4"))[0] > FIRST


def test_every_truncation_is_noticed() -> None:
    for length in range(len(TEXT) - 1):  # the last newline may be missing
        line, _ = refused(TEXT[:length])
        assert line <= TEXT.count("\n", 0, length) + 2
    _, reason = refused("\n".join(LINES[: FIRST + 10]) + "\n")
    assert "the record is cut off: a move or the line `result:` is missing" in reason
    _, reason = refused("\n".join(LINES[:-2]) + "\n")
    assert "the record is cut off: the line `hash:` is missing" in reason


@pytest.mark.parametrize("more", ["\n", "more\n", "1. 0 end\n", " ", TEXT])
def test_trailing_text_is_noticed(more) -> None:
    number, reason = refused(TEXT + more)
    assert number == len(LINES) - 1
    assert "more text follows" in reason


def test_changed_characters_are_noticed() -> None:
    start = len("\n".join(LINES[:4])) + 1  # tags are free text, all else is verified
    for index in [*range(len("\n".join(LINES[:3]))), *range(start, len(TEXT) - 1, 3)]:
        if TEXT[index] not in "\n ":
            refused(TEXT[:index] + ("x" if TEXT[index] != "x" else "y") + TEXT[index + 1 :])


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    path.write_bytes(TEXT.encode().replace(b"random", b"r\xe4ndom"))
    with pytest.raises(RecordError, match="line 4: byte 0xe4 is not UTF-8 text"):
        GameRecord.load(path)
    path.write_bytes(Position(BOARD.variant(2), 0).save())
    with pytest.raises(RecordError, match=r"not UTF-8|not a game record"):
        GameRecord.load(path)
    path.write_bytes(b"")
    with pytest.raises(RecordError, match="line 1: the record is cut off"):
        GameRecord.load(path)
    with pytest.raises(FileNotFoundError):
        GameRecord.load(tmp_path / "other.txt")


def test_what_is_no_name_and_what_is_empty() -> None:
    with pytest.raises(ValueError, match=r"there is no game \['samurai'\]; the games are samurai"):
        find_game(["samurai"])
    variant = BOARD.variant(2)
    with pytest.raises(ValueError, match=r"Samurai has no encoding \['flat'\]"):
        variant.encoding_name(["flat"])
    variant.check(variant.new(0))


@pytest.mark.parametrize("kind", [Position, GameBatch])
def test_a_spec_is_no_variant(kind) -> None:
    with pytest.raises(TypeError, match="a variant must be a Variant, not 'samurai players=2': make_variant or parse_"):
        kind("samurai players=2")
