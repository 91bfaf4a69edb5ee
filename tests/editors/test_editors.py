"""Positions set up by hand: read and set up again they are the same, and impossible ones say why."""

import json
import random

import numpy as np
import pytest

from samurai_env import Position, game_names, make_variant
from samurai_env.editors import draft, editor_of, set_up, start, values_of
from samurai_env.game_record import GameRecord

VARIANTS = [("samurai", 2), ("samurai", 3), ("samurai_card", 2), ("samurai_spirit", 2), ("samurai_spirit", 5)]


@pytest.mark.parametrize(("game", "players"), VARIANTS)
def test_positions_of_games_are_set_up_again(game, players):
    variant, rng, same = make_variant(game, players), random.Random(1), 0
    position = Position(variant, 1)
    while not position.over:
        if not position.mid_move and position.steps % 3 == 0:
            values = json.loads(json.dumps(values_of(position)))
            found = draft(variant, values, seed=7)
            variant.game.scene(found.position.state)  # an impossible one, too, can be drawn
            if found.problem is None:
                same += 1
                assert values_of(found.position) == values
                other = found.position
                while not other.over:
                    other.step(rng.choice(other.legal_actions()))
        position.step(rng.choice(position.legal_actions()))
    assert same >= 3


@pytest.mark.parametrize("game", game_names())
def test_a_start_can_be_played_and_every_entry_set(game):
    variant = make_variant(game)
    values = start(variant)
    position = set_up(variant, values)
    assert values_of(position) == values
    entries = editor_of(variant).entries(position.state)
    assert len({entry.name for entry in entries}) == len(entries)
    targets = variant.game.scene(position.state).targets
    for entry in entries:
        assert entry.target in targets or not entry.target
        for value in (entry.values[0], entry.values[-1]):
            found = draft(variant, {**values, entry.name: value})
            assert values_of(found.position).get(entry.name, value) in entry.values
            variant.game.scene(found.position.state)
            if found.problem is not None:
                assert len(found.problem) < 300


def test_impossible_positions_of_the_board_game_say_why():
    variant = make_variant("samurai", 2)
    values = start(variant)
    for changes, words in [
        ({"hand 0 ronin": "1", "hand 0 samurai 1": "2", "hand 0 samurai 2": "2"}, "when a turn begins it holds 5"),
        ({"captured 0 helmet": "7"}, "figures of helmet on the map and captured, the game has 7"),
        ({"c14r13": "none"}, "Edo c14r13 is not surrounded"),
        ({"exchanged 0": "yes", "hand 0 figure exchange": "1"}, "seat 0 has figure exchange 2 times"),
    ]:
        assert words in draft(variant, {**values, **changes}).problem
        with pytest.raises(ValueError, match=words):
            set_up(variant, {**values, **changes})


def test_impossible_positions_of_the_card_game_say_why():
    variant = make_variant("samurai_card", 2)
    values = start(variant)
    for changes, words in [
        ({"place 0 1": "seat 0: helmet 2"}, "seat 1 has laid 0 cards"),
        ({"place 3 0": "seat 0: helmet 2"}, "lies beside no village"),
        ({"place 1 1": "helmet"}, "no rivals meet at the village at 1, 1"),
        (
            {
                "place 6 6": "helmet",
                "place 7 7": "rice",
                "place 7 6": "seat 0: helmet 2",
                "place 6 7": "seat 1: rice 2",
            },
            "no rivals meet at the village at ",  # each of the two is a corner of the other
        ),
        ({"place 1 0": "seat 0: helmet 2", "place 0 1": "seat 1: rice 2"}, "cards meet at 1, 1: a village lies there"),
    ]:
        assert words in draft(variant, {**values, **changes}).problem


def test_impossible_positions_of_the_cooperative_game_say_why():
    variant = make_variant("samurai_spirit", 3)
    values = start(variant)
    hat = next(v for v in editor_of(variant).entries(set_up(variant, values).state) if v.name == "left 0 hat").values[1]
    for changes, words in [
        ({f"farmsteads {back}": "0" for back in "ABCD"}, "farmstead"),
        ({"passed 0": "yes"}, "seat 0 has passed"),
        ({"samurai 0": "Kyuzo", "samurai 1": "Kyuzo"}, "Kyuzo sits on two seats"),
        ({"left 0 hat": hat, "left 1 hat": hat}, "lies in two places"),
        ({"intruders": "50"}, "leave no raider"),
    ]:
        known = {name: value for name, value in changes.items() if name in values or not name.startswith("farm")}
        known |= {name: "0" for name in values if name.startswith("farmsteads") and "farmsteads A" in changes}
        assert words in draft(variant, {**values, **known}).problem


@pytest.mark.parametrize("game", game_names())
@pytest.mark.parametrize(
    "values", [{"x": "1"}, {"turn": "9"}, {"turn": 0}, {1: "0"}, ["turn"], {"place 99 99": "empty"}]
)
def test_names_and_values_that_no_position_has_are_refused(game, values):
    with pytest.raises(ValueError) as error:
        draft(make_variant(game), values)
    assert len(str(error.value)) < 300


def test_what_lies_hidden_depends_on_the_seed_alone():
    variant = make_variant("samurai_card", 2)
    values = start(variant)
    assert set_up(variant, values, 1).hash() == set_up(variant, values, 1).hash()
    hidden = {tuple(set_up(variant, values, seed).state["stack"][0]) for seed in range(4)}
    assert len(hidden) > 1


@pytest.mark.parametrize("game", game_names())
def test_a_position_is_one_word_of_text(game):
    position = set_up(make_variant(game), start(make_variant(game)), 3)
    word = position.to_text()
    assert word.replace("-", "").replace("_", "").isalnum()
    assert len(word) < 2000
    assert Position.from_text(word).hash() == position.hash()
    for bad in ("", "x", word[:-9], word[::-1], word + "é", "A" * 30_000, word[:50] + "!" + word[50:]):
        with pytest.raises(ValueError) as error:
            Position.from_text(bad)
        assert len(str(error.value)) < 300
    with pytest.raises(TypeError):
        Position.from_text(None)


@pytest.mark.parametrize("game", game_names())
def test_a_record_keeps_the_position_it_starts_from(game):
    variant, rng = make_variant(game), random.Random(2)
    position = set_up(variant, start(variant), 5)
    record = GameRecord(variant, 5, {"player0": "me"}, position)
    while not record.over:
        record.append(rng.choice(record.position.legal_actions()))
    text = record.to_text()
    again = GameRecord.parse(text)
    assert again.to_text() == text
    assert again.start.hash() == position.hash()
    assert np.array_equal(next(again.replay()).states, position.states)
    assert len(list(record.steps())) > 5
    line = next(line for line in text.split("\n") if line.startswith("start: "))
    with pytest.raises(ValueError, match="line 4: bad start"):
        GameRecord.parse(text.replace(line, line[:-5]))
    with pytest.raises(ValueError, match="second time"):
        GameRecord.parse(text.replace(line, f"{line}\n{line}"))
    with pytest.raises(ValueError, match="not of this record"):
        GameRecord(variant, 6, {}, position)


@pytest.mark.parametrize("first", [1, "random"])
def test_rounds_count_from_the_seat_that_begins(first):
    """A seat that was drawn, too, is a value of the position: another seed draws another one."""
    variant, rng, found = make_variant("samurai_card", 3, first=first), random.Random(4), 0
    position = next(p for p in (Position(variant, seed) for seed in range(9)) if p.state["first_seat"] == 1)
    for _ in range(12):
        while position.mid_move:
            position.step(rng.choice(position.legal_actions()))
        said = draft(variant, values_of(position), seed=1)
        found += said.problem is None
        assert said.problem is None or "has laid" not in said.problem
        assert said.position.state["first_seat"] == 1
        position.step(rng.choice(position.legal_actions()))
    assert found > 3


@pytest.mark.parametrize("edition", ["1998", "2016"])
def test_a_turn_of_the_board_game_may_be_under_way(edition):
    variant, rng = make_variant("samurai", 2, edition=edition), random.Random(1)
    wrong, kinds = [], set()
    for seed in range(6):
        position = Position(variant, seed)
        while not position.over:
            if not position.mid_move and position.state["may_end"]:
                values = values_of(position)
                found = draft(variant, values)
                if found.problem is None:
                    kinds.add(values["played"])
                    assert values_of(found.position) == values
                    assert np.array_equal(found.position.legal_actions(), position.legal_actions())
                    assert found.position.state["surrounded"] == position.state["surrounded"]
                    text = GameRecord(variant, 0, {}, found.position).to_text()
                    assert GameRecord.parse(text).start.hash() == found.position.hash()
                else:
                    wrong.append((seed, position.steps, found.problem))
            position.step(rng.choice(position.legal_actions()))
    assert kinds == {"quick tiles", "a plain tile"}
    assert not wrong


def test_impossible_turns_under_way_say_why():
    variant, rng = make_variant("samurai", 2), random.Random(1)
    position = Position(variant, 1)
    while position.mid_move or not position.state["plain_played"]:
        position.step(rng.choice(position.legal_actions()))
    values = values_of(position)
    seat = values["turn"]
    held = {name: "0" for name in values if name.startswith(f"hand {seat} ")}
    for changes, words in [
        ({"played": "nothing"}, "when a turn begins it holds 5"),
        ({"played": "quick tiles"}, "tiles in this turn, not more than one of them plain; they are not on the map"),
        (held, "in this turn, not more than one of them plain; they are not on the map"),
        ({"turn": str(1 - int(seat))}, f"seat {1 - int(seat)} holds 5 tiles; within a turn"),
    ]:
        assert words in (draft(variant, {**values, **changes}).problem or "")
