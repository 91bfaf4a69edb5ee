"""`samurai-env replay` and `analyse`: errors name the file, and the page needs nothing else."""

import random
import re
from io import StringIO

import pytest
from rich.console import Console

from experiments.command import analyse, replay
from samurai_env import make_variant, parse_variant
from samurai_env.editors import set_up, start
from samurai_env.game_record import GameRecord
from samurai_env.position import Position


@pytest.mark.parametrize("command", [replay, analyse])
@pytest.mark.parametrize("content", [b"", b"x", b"\xff\xfe", b"samurai_env game record 9\n"])
def test_a_file_that_is_no_record_is_named(tmp_path, command, content):
    path = tmp_path / "game.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"game\.txt, line 1: ") as error:
        command.main(command.Config(path), Console(file=StringIO()))
    assert len(str(error.value)) < 300


def test_an_agent_that_cannot_be_asked_is_refused_before_anything_is_printed(tmp_path):
    out = StringIO()
    GameRecord(make_variant("samurai_card"), 3).save(tmp_path / "game.txt")
    with pytest.raises(ValueError, match="--agent is one that weighs"):
        analyse.main(analyse.Config(tmp_path / "game.txt", agent="greedy"), Console(file=out))
    assert not out.getvalue()


def test_the_page_of_a_game_loads_nothing(tmp_path):
    variant, rng = make_variant("samurai_card"), random.Random(3)
    record = GameRecord(variant, 3, start=set_up(variant, start(variant), 3))
    for _ in range(6):
        record.append(rng.choice(record.position.legal_actions()))
    record.save(tmp_path / "game.txt")
    replay.main(replay.Config(tmp_path / "game.txt", html=tmp_path / "game.html"), Console(file=StringIO()))
    page = (tmp_path / "game.html").read_text(encoding="utf-8")
    assert not re.findall(r"(?:src|href)\s*=\s*[\"']?https?:|@import|url\(\s*[\"']?https?:", page)
    assert "<script src" not in page


def test_a_game_is_written_as_a_moving_picture(tmp_path):
    image = pytest.importorskip("PIL.Image")
    variant, rng = make_variant("samurai_card"), random.Random(3)
    record = GameRecord(variant, 3)
    for _ in range(4):
        record.append(rng.choice(record.position.legal_actions()))
    record.save(tmp_path / "game.txt")
    out = StringIO()
    replay.main(replay.Config(tmp_path / "game.txt", gif=tmp_path / "game.gif"), Console(file=out, width=300))
    assert "4 decisions" in out.getvalue()
    with image.open(tmp_path / "game.gif") as film:
        assert film.n_frames == len(list(record.steps()))


def test_a_seat_sees_no_secret_moves_of_others_until_the_game_is_over(tmp_path):
    """Each chooses a first hand in secret; the seed would tell it, too."""
    variant = make_variant("samurai", 2)
    whole = GameRecord.play(variant, 5, lambda position: position.legal_actions()[0])
    for record, hidden in ((GameRecord.from_actions(variant, 5, whole.actions[:12]), True), (whole, False)):
        (tmp_path / "game.txt").write_text(record.to_text(), encoding="utf-8")
        out = StringIO()
        replay.main(replay.Config(tmp_path / "game.txt", seat=1), Console(file=out, width=300))
        lines = out.getvalue().splitlines()
        assert ("seed 5" in lines[0]) != hidden
        others = [line for line in lines if " seat 0: " in line]
        assert ("a move that this seat does not see" in others[0]) == hidden
        assert not any("does not see" in line for line in lines if " seat 1: " in line)
    with pytest.raises(ValueError, match="no effect of --seat on --html and --gif"):
        replay.main(replay.Config(tmp_path / "game.txt", seat=1, html=tmp_path / "game.html"))


@pytest.mark.parametrize("spec", ["samurai_card", "samurai first_hand=random figure_setup=random"])
def test_a_seat_does_not_see_what_another_has_chosen_in_an_unfinished_move(tmp_path, spec):
    """A card or tile is chosen first, and laid open with its place."""
    variant, told = parse_variant(spec), set()
    for choice in range(3):
        opening = Position(variant, 5)
        actions = [opening.legal_actions()[choice]]
        record = GameRecord.from_actions(variant, 5, actions)
        assert record.position.mid_move
        (tmp_path / "game.txt").write_text(record.to_text(), encoding="utf-8")
        for move, boards in ((None, False), (None, True), (1, False)):
            config = replay.Config(tmp_path / "game.txt", seat=1, move=move, boards=boards)
            out = StringIO()
            replay.main(config, Console(file=out, width=300))
            assert "1. seat 0: has not moved yet" in out.getvalue()
            told.add((move, boards, out.getvalue()))
        out = StringIO()
        replay.main(replay.Config(tmp_path / "game.txt", seat=0), Console(file=out, width=300))
        assert variant.game.format_move(opening.state, actions) in out.getvalue()
        with pytest.raises(ValueError, match="the game has moves 1 to 1, not 2"):
            replay.main(replay.Config(tmp_path / "game.txt", move=2), Console(quiet=True))
    assert len(told) == 3


def test_the_next_decision_of_an_unfinished_move_can_be_asked_for(tmp_path):
    variant = make_variant("samurai_card", 2)
    GameRecord.from_actions(variant, 5, Position(variant, 5).legal_actions()[:1]).save(tmp_path / "game.txt")
    out = StringIO()
    analyse.main(analyse.Config(tmp_path / "game.txt", move=1, agent="mcts:10"), Console(file=out, width=300))
    assert "decision 1 of 2" in out.getvalue()
    assert "decision 2 of 2" in out.getvalue()


def test_a_record_is_not_replaced_by_its_page_and_flags_without_effect_are_refused(tmp_path):
    path = tmp_path / "game.txt"
    GameRecord(make_variant("samurai_card"), 3).save(path)
    before = path.read_bytes()
    for flag in ("html", "gif"):
        with pytest.raises(ValueError, match="is the record itself"):
            replay.main(replay.Config(path, **{flag: tmp_path / "." / "game.txt"}))
        with pytest.raises(ValueError, match="no effect of --move and --boards on"):
            replay.main(replay.Config(path, move=1, boards=True, **{flag: tmp_path / "page"}))
    with pytest.raises(ValueError, match="no effect of --boards on --move"):
        replay.main(replay.Config(path, move=1, boards=True))
    with pytest.raises(ValueError, match=r"--html and --gif both name .*page"):
        replay.main(replay.Config(path, html=tmp_path / "page", gif=tmp_path / "." / "page"))
    assert path.read_bytes() == before


def test_the_next_move_of_a_running_game_can_be_asked_for(tmp_path):
    variant = make_variant("samurai_spirit", 2)
    record = GameRecord.from_actions(variant, 5, [])
    (tmp_path / "game.txt").write_text(record.to_text(), encoding="utf-8")
    out = StringIO()
    replay.main(replay.Config(tmp_path / "game.txt", move=1), Console(file=out, width=300))
    assert "not made yet" in out.getvalue()
    with pytest.raises(ValueError, match="the game has moves 1 to 1, not 2"):
        replay.main(replay.Config(tmp_path / "game.txt", move=2), Console(quiet=True))
