"""Card lists of the card game: another one is data, and one that does not add up is refused."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from samurai_env.core.variant_spec import parse_variant
from samurai_env.games.card.game import GAME
from samurai_env.games.card.rules import card_lists
from samurai_env.games.card.rules.card_lists import load_cards, register_cards
from samurai_env.games.card.rules.cards import KIND_CODES, VILLAGE_CODES
from samurai_env.games.card.rules.kernels import reset
from samurai_env.position import Position
from tests.card.table import PLAYERS, check_limits, randomly

CARDS_FILE = card_lists.DATA / "cards.json"


@pytest.fixture
def forget_lists(monkeypatch):
    """Lists that a test registers are gone after it."""
    monkeypatch.setattr(card_lists, "_lists", dict(card_lists._lists))


def changed(tmp_path: Path, change) -> Path:
    """A copy of the card list with something changed."""
    data = json.loads(CARDS_FILE.read_text(encoding="utf-8"))
    change(data)
    path = tmp_path / "cards.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def four_of_each(data: dict) -> None:
    data["influence_cards"]["cards"] = [
        {"type": shape, "value": value} for shape in ("helmet", "buddha", "rice") for value in (2, 3, 3, 4)
    ] + [{"type": "samurai", "value": value} for value in (1, 2, 3)]
    data["village_cards"]["cards"][0]["count"] = 7
    data["village_cards"]["cards"][1]["count"] = 3


@pytest.mark.parametrize("n", PLAYERS)
def test_another_card_list(tmp_path, forget_lists, n):
    Position(GAME.variant(n), 0)
    compiled = len(reset.signatures)
    load_cards(changed(tmp_path, four_of_each), "four-of-each")
    variant = GAME.variant(n, cards="four-of-each")
    assert parse_variant(variant.spec) == variant
    position = Position(variant, 1)
    assert len(reset.signatures) == compiled  # the list is data: nothing is compiled again
    copies = dict(zip(KIND_CODES, position.state["copies"].tolist(), strict=True))
    assert (copies["H3"], copies["S1"], copies["S2"]) == (2, 0 if n == 4 else 1, 0 if n == 4 else 1)
    counts = Counter(VILLAGE_CODES[kind - 1] for kind in position.state["village_stack"])
    assert (counts["H"], counts["B"], counts["R"]) == (7, 3, 5)
    randomly(position, np.random.default_rng(n), 40)
    assert Position.restore(position.save()).hash() == position.hash()
    assert randomly(position, np.random.default_rng(n), 1000).over
    for encoding in GAME.encodings:
        check_limits(position, encoding)


def test_a_saved_game_needs_its_card_list(tmp_path, forget_lists):
    load_cards(changed(tmp_path, four_of_each), "house")
    saved = Position(GAME.variant(2, cards="house"), 1).save()
    del card_lists._lists["house"]
    with pytest.raises(ValueError, match=r"house.*load_cards"):
        Position.restore(saved)
    register_cards(card_lists.card_list("reconstruction"), "house")
    with pytest.raises(ValueError, match="copies"):
        Position.restore(saved)


def test_names_of_card_lists(tmp_path, forget_lists):
    path = changed(tmp_path, four_of_each)
    load_cards(path, "mine")
    load_cards(path, "mine")  # the same again is no harm
    with pytest.raises(ValueError, match="another list of the name"):
        load_cards(path, "reconstruction")
    with pytest.raises(ValueError, match="another list of the name"):
        load_cards(CARDS_FILE, "mine")
    for name in ("", "two words", "a=b", "x\n"):
        with pytest.raises(ValueError, match="name"):
            load_cards(path, name)


def influence(data: dict) -> list:
    return data["influence_cards"]["cards"]


def villages(data: dict) -> list:
    return data["village_cards"]["cards"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: influence(d).pop(), "14 influence cards"),
        (lambda d: influence(d).append({"type": "helmet", "value": 2}), "16 influence cards"),
        (lambda d: influence(d)[0].update(value=5), "influence card 1 is 'helmet' 5"),
        (lambda d: influence(d)[3].update(type="ronin"), "influence card 4 is 'ronin' 2"),
        (lambda d: influence(d)[9].update(value=True), r"Expected `int`, got `bool` - at .*influence_cards.cards\[9\]"),
        (lambda d: influence(d)[9].update(value=[1]), r"Expected `int`, got `array` - at .*cards\[9\].value"),
        (
            lambda d: [card.update(value=3) for card in influence(d) if card == {"type": "samurai", "value": 2}],
            "samurai 2",
        ),
        (lambda d: d.pop("influence_cards"), "missing required field `influence_cards`"),
        (lambda d: d["influence_cards"].update(cards=[1] * 15), r"Expected `object`, got `int` - at .*cards\[0\]"),
        (lambda d: d.pop("village_cards"), "missing required field `village_cards`"),
        (lambda d: villages(d)[0].update(count=6), "16 village cards with 1 symbols, the game has 15"),
        (lambda d: villages(d)[6].update(count=1), "1 village cards with 3 symbols"),
        (lambda d: villages(d)[3].update(symbols=["helmet", "helmet"]), "village card 4 shows a symbol twice"),
        (lambda d: villages(d)[0].update(symbols=["ship"]), "village card 1 has the symbols"),
        (lambda d: villages(d)[0].update(symbols=[]), r"length >= 1 - at .*\[0\].symbols"),
        (lambda d: villages(d)[0].update(symbols=[["helmet"]]), r"Expected `str`, got `array`"),
        (lambda d: villages(d)[0].update(symbols="helmet"), r"Expected `array`, got `str`"),
        (lambda d: villages(d)[0].update(count=-5), r"Expected `int` >= 0 - at .*village_cards.cards\[0\].count"),
        (lambda d: villages(d)[0].update(count=5.5), "Expected `int`, got `float`"),
    ],
)
def test_card_lists_that_do_not_add_up(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        load_cards(changed(tmp_path, change), "bad")
    assert "bad" not in card_lists._lists


@pytest.mark.parametrize("content", [b"", b"[]", b"3", b"{", b"\xff\xfe", b'{"influence_cards": []}'])
def test_files_that_are_no_card_list(tmp_path, content):
    path = tmp_path / "cards.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"cards\.json"):
        load_cards(path, "bad")


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_cards(tmp_path / "nothing.json", "bad")


def test_a_list_that_is_not_loaded_here_is_named() -> None:
    with pytest.raises(ValueError, match="the card list 'mine' is not loaded in this process: call load_cards first"):
        card_lists.card_list("mine")
