"""The page that steps through a game."""

import json
import random
import re

import pytest
from rich.console import Console

from experiments.command import replay
from samurai_env import game_names, make_variant
from samurai_env.display.scene import Scene, Text
from samurai_env.display.stepper import Step, page
from samurai_env.display.vector import background_svg, shape_svg
from samurai_env.game_record import GameRecord


def game(name, seed=1):
    rng = random.Random(seed)
    return GameRecord.play(make_variant(name), seed, lambda position: rng.choice(position.legal_actions()))


def unpacked(html):
    """The SVG elements of each picture, put together as the script does."""
    data = json.loads(re.search(r"const data = (.*);\n", html)[1])
    lines, pictures = [], []
    for frame in data["frames"]:
        head, tail = frame["keep"]
        lines = [*lines[:head], *frame["lines"], *(lines[-tail:] if tail else [])]
        pictures.append([data["lines"][line] for line in lines])
    return data, pictures


@pytest.mark.parametrize("name", game_names())
def test_each_picture_is_that_of_its_position(name):
    record = game(name)
    html = record.to_html()
    data, pictures = unpacked(html)
    assert [frame["words"] for frame in data["frames"]] == ["start", *(text for _, text in record.moves())]
    for step, picture in zip(record.steps(), pictures, strict=True):
        assert picture == [background_svg(step.scene), *map(shape_svg, step.scene.shapes)]
    assert set(re.findall(r"https?://[\w.]+", html)) == {"http://www.w3.org"}
    assert len(html) < 1_500_000


def test_words_cannot_break_out_of_the_page():
    evil = "</script><script>alert(1)</script>"
    html = page(evil, [Step(Scene(10, 10, shapes=[Text(5, 5, evil, 3)], caption=evil), None, evil)])
    assert html.count("<script>") == 1
    assert html.count("</script>") == 1


def test_a_record_shows_itself_in_a_notebook():
    record = game("samurai_card")
    shown = record._repr_html_()
    assert shown.startswith("<iframe ")
    assert shown.count("<") == 2


def test_replay_writes_the_page(tmp_path):
    record = game("samurai_card")
    record.save(tmp_path / "game.txt")
    replay.main(replay.Config(tmp_path / "game.txt", html=tmp_path / "game.html"), Console(quiet=True))
    assert (tmp_path / "game.html").read_text(encoding="utf-8") == record.to_html()
