"""Pictures and terminal text of the board game, and the drawing of scenes."""

import random
import re
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import samurai_env.display
from samurai_env import Position, game_names, make_variant
from samurai_env.display import palette, png, rgb_array, svg
from samurai_env.display.palette import INK, TEXT
from samurai_env.display.scene import Circle, Line, Polygon, Scene, Text
from samurai_env.display.stepper import Step, page
from samurai_env.display.vector import shape_svg
from samurai_env.games.board.actions import END, IDLE
from samurai_env.games.board.display import player_view
from samurai_env.games.board.display import scene as pictures
from samurai_env.games.board.rules.tiles import KIND_CODES
from samurai_env.games.board.rules.topology import hexes_in_play
from samurai_env.games.board.state import FIRST_HAND, PHASES, SETUP, TILE

ROOT = Path(__file__).parents[2]
OVER = "over"
STAGES = (*PHASES, OVER)
TASKS = {
    "first_hand": r"Seat \d picks tile [1-5] of 5 for the first hand",
    "setup": r"Seat \d puts a figure on a settlement",
    "tile": r"Seat \d plays a (quick )?tile( or ends the turn)?",
    "land": r"Seat \d puts (\w+ [1-4]|ronin) on an empty land hex",
    "sea": r"Seat \d puts ship [12] on an empty sea hex",
    "token_from": r"Seat \d picks the own tile that the token exchange replaces",
    "token_to": r"Seat \d moves \w+ [1-4] from c\d\dr\d\d to an empty land hex",
    "figure_first": r"Seat \d picks the first figure to exchange",
    "figure_second": r"Seat \d picks the figure that changes places with the \w+ of c\d\dr\d\d",
    OVER: r"Game over: (seat \d wins|seats [\d, ]+ and \d share the win)",
}
VARIANTS = {
    2: {"edition": "1998", "figure_setup": "free"},
    3: {"hide_captures": True},
    4: {"edition": "2016"},
}


def stage_of(position):
    return OVER if position.over else PHASES[int(position.state["phase"])]


def random_game(variant, seed):
    """Every position of a random game with the move that led to it."""
    position, rng, move = Position(variant, seed), random.Random(seed), []
    yield position, move
    while not position.over:
        action = rng.choice(position.legal_actions())
        move = [*move, action] if position.mid_move else [action]
        position.step(action)
        yield position, move


def collect(variant):
    """For every stage of the game the last position of it that random games meet."""
    found = {}
    for seed in range(20):
        for position, move in random_game(variant, seed):
            found[stage_of(position)] = position.clone(), move
        if len(found) == len(STAGES):
            return found
    raise AssertionError(f"random games never reach {set(STAGES) - set(found)}")


@pytest.fixture(scope="module")
def positions():
    return {n: collect(make_variant("samurai", n, **options)) for n, options in VARIANTS.items()}


def every(positions):
    return [(n, stage, *positions[n][stage]) for n in positions for stage in STAGES]


def words(scene):
    return [shape.text for shape in scene.shapes if isinstance(shape, Text)]


def picture(position, viewer=None, last=()):
    return position.variant.game.scene(position.state, viewer, last)


def text(position, viewer=None):
    return position.variant.game.text(position.state, viewer)


def table(position, viewer=None):
    """By seat: the hand, supply and captured figures in the terminal text."""
    lines = text(position, viewer).splitlines()
    start = lines.index("  seat  hand                       supply  captured") + 1
    rows = [re.fullmatch(r"[> ] (\d)     (.{25})  (.{4})    (.*)", line) for line in lines[start:]]
    return [(m[2].strip(), int(m[3]), m[4]) for m in rows[: position.variant.num_players]]


def tile_list(kinds):
    quick = {"RO", "SH1", "SH2", "FX"}
    codes = [code + "*" * (code in quick) for code in KIND_CODES]
    return " ".join(f"{kinds.count(k)}x{codes[k]}" if kinds.count(k) > 1 else codes[k] for k in sorted(set(kinds)))


# --- Hidden information ---


def test_nothing_drawn_depends_on_what_the_viewer_cannot_know(positions):
    rng = np.array([7], np.uint64)
    for n, _, position, move in every(positions):
        for viewer in range(n):
            other = position.determinized(viewer, rng)
            assert text(other, viewer) == text(position, viewer)
            assert picture(other, viewer, move) == picture(position, viewer, move)


def test_svg_does_not_depend_on_what_the_viewer_cannot_know(positions):
    position, move = positions[3]["tile"]
    other = position.determinized(1, np.array([3], np.uint64))
    assert position.hash() != other.hash()
    assert svg(picture(other, 1, move)) == svg(picture(position, 1, move))


def test_a_spectator_sees_what_players_do_not(positions):
    position, _ = positions[4]["tile"]
    other = position.determinized(1, np.array([3], np.uint64))
    assert text(other) != text(position)
    assert picture(other) != picture(position)


@pytest.mark.parametrize("n", VARIANTS)
def test_text_lists_hands_that_may_be_seen_and_counts_of_the_others(positions, n):
    for position, _ in positions[n].values():
        hands = [[k for k in range(17) for _ in range(row[k])] for row in position.state["hand"]]
        for viewer in (None, *range(n)):
            for seat, (shown, supply, _) in enumerate(table(position, viewer)):
                if viewer in (None, seat):
                    assert shown == (tile_list(hands[seat]) or "-")
                else:
                    assert shown == f"{len(hands[seat])} hidden"
                assert supply == position.state["unseen"][seat].sum() - len(hands[seat])


@pytest.mark.parametrize("n", VARIANTS)
def test_picture_turns_down_the_hands_of_the_others(positions, n):
    for position, _ in positions[n].values():
        held = position.state["hand"].sum(1)
        assert "?" not in words(picture(position))
        for viewer in range(n):
            screens = position.state["hide_captures"] and not position.over
            hidden = held.sum() - held[viewer] + 3 * (n - 1) * int(screens)
            assert words(picture(position, viewer)).count("?") == hidden


def test_hidden_captures(positions):
    position, end = positions[3]["tile"][0].clone(), positions[3][OVER][0]
    position.state["captured"] = end.state["captured"]
    assert position.state["captured"].sum() > 0
    counts = ["  ".join(f"{k} {c}" for k, c in zip("HBR", row, strict=True)) for row in position.state["captured"]]
    assert [row[2] for row in table(position)] == counts
    assert [row[2] for row in table(position, 1)] == ["H ?  B ?  R ?", counts[1], "H ?  B ?  R ?"]
    totals = [f"total {row.sum()}" for row in position.state["captured"]]
    assert [w for w in words(picture(position)) if w.startswith("total")] == totals
    assert [w for w in words(picture(position, 1)) if w.startswith("total")] == ["total ?", totals[1], "total ?"]
    assert [row[2] for row in table(end, 1)] == counts  # at the end all screens are removed
    assert [w for w in words(picture(end, 1)) if w.startswith("total")] == totals


def test_captures_are_open_without_the_option(positions):
    for n in (2, 4):
        position, _ = positions[n][OVER]
        assert table(position, 0)[1][2] == table(position)[1][2]


@pytest.mark.parametrize("first", [0, 1, 2, 3, "random"])
def test_a_pick_of_the_first_hand_is_told_to_its_player_alone(first):
    for n in (2, 3, 4):
        if first in range(n, 4):
            continue
        setup = "random" if n == 2 else "alternate"
        position = Position(make_variant("samurai", n, figure_setup=setup, first=first), 4)
        for pick in range(5 * n):
            picker, action = position.seat, position.legal_actions()[pick % 7]
            position.step(action)
            code = player_view.kind_text(action)
            for viewer in (None, *range(n)):
                reported = player_view.last_move(position.state, viewer, [action])
                known = viewer in (None, picker)
                assert reported == f"seat {picker}: picked {code if known else 'a tile (hidden)'}"


@pytest.mark.parametrize("setup", ["alternate", "free"])
@pytest.mark.parametrize("first", [0, 1, 2, 3, "random"])
def test_who_puts_a_figure_is_told(first, setup):
    for n in (2, 3, 4):
        if first in range(n, 4):
            continue
        position, put = Position(make_variant("samurai", n, figure_setup=setup, first=first), 5), 0
        while (phase := position.state["phase"]) in (FIRST_HAND, SETUP):
            seat, action = position.seat, position.legal_actions()[-1]
            position.step(action)
            if phase == FIRST_HAND:
                continue
            reported = player_view.last_move(position.state, 0, [action])
            assert re.fullmatch(rf"seat {seat}: put the \w+ on c\d\dr\d\d", reported)
            put += 1
        assert put > 10


@pytest.mark.parametrize("viewer", [-1, 2])
def test_a_viewer_has_a_seat(viewer):
    position = Position(make_variant("samurai", 2))
    with pytest.raises(ValueError, match=f"no seat {viewer}"):
        text(position, viewer)
    with pytest.raises(ValueError, match=f"no seat {viewer}"):
        picture(position, viewer)


# --- What is shown ---


def test_the_decision_is_told(positions):
    for _, stage, position, move in every(positions):
        reported = [line for line in text(position).splitlines() if re.fullmatch(TASKS[stage], line)]
        assert len(reported) == 1, stage
        assert reported[0] in " ".join(words(picture(position, None, move)))


def test_winners_are_told(positions):
    for n in VARIANTS:
        position, _ = positions[n][OVER]
        won = [seat for seat in range(n) if int(position.state["winners"]) >> seat & 1]
        marks = [w for w in words(picture(position, 0)) if w in ("wins", "shares the win")]
        assert len(marks) == len(won)
        assert player_view.decision(position.state).startswith(f"Game over: {player_view.seats_text(won)} ")


def test_the_map_of_the_text_has_every_hex_in_its_place(positions):
    for n, _, position, _ in every(positions):
        lines = text(position).splitlines()[2:]
        left = min(h.col for h in hexes_in_play(n))
        rows = {line[:3]: line for line in lines[1:50]}
        tiles = player_view.tiles_on_board(position.state)
        for h in hexes_in_play(n):
            at = 6 + 3 * (h.col - left)
            cell = rows[f"{h.row:02d}{chr(39) if h.col & 1 else ' '}"][at - 2 : at + 4].strip()
            if tile := tiles.get(h.label):
                assert cell == f"{tile.seat}{KIND_CODES[tile.kind]}"
            elif h.size:
                assert re.fullmatch([r"", r"\([HBR_ ]\)", r"\[([HBR_]{2}| )\]", r"<([HBR]{3}|___| )>"][h.size], cell)
            else:
                assert cell == ("~" if h.terrain == "sea" else ".")


def test_text_is_plain_and_narrow(positions):
    for _, _, position, _ in every(positions):
        shown = text(position)
        assert shown.isascii()
        assert max(map(len, shown.splitlines())) <= 80


def test_figures_and_tiles_are_in_the_picture(positions):
    for n, _, position, _ in every(positions):
        shown = words(picture(position))
        tiles = player_view.tiles_on_board(position.state)
        for code in ("S3", "TX", "RO", "H4"):
            least = sum(KIND_CODES[tile.kind] == code for tile in tiles.values())
            assert shown.count(code) >= least
        figures = [int(position.state["figures"][i]).bit_count() for i in range(3)]
        # Captions: on the board, set aside, perhaps to be placed; the legend; a card a player.
        extra = 3 + n + bool(position.state["pool"].sum())
        assert [shown.count(letter) for letter in "HBR"] == [count + extra for count in figures]
        assert {h.label for h in hexes_in_play(n)} <= set(shown)


def play_until(wanted, **options):
    """The first position of random games whose last move fits, with that move."""
    variant = make_variant("samurai", 3, **options)
    for seed in range(300):
        for position, move in random_game(variant, seed):
            if wanted(position, move):
                return position, move
    raise AssertionError("no such move")


def is_move(code, *lengths):
    kind = KIND_CODES.index(code)
    return lambda position, move: not position.mid_move and len(move) in lengths and move[0] == kind


@pytest.mark.parametrize(
    ("wanted", "reported", "hexes", "arrows"),
    [
        (is_move("H4", 2), r"seat \d: helmet 4 on c\d\dr\d\d", 1, 0),
        (is_move("SH2", 2), r"seat \d: ship 2 on c\d\dr\d\d", 1, 0),
        (is_move("TX", 3), r"seat \d: token exchange on c\d\dr\d\d, the tile there to c\d\dr\d\d", 2, 1),
        (is_move("FX", 3), r"the (\w+) of c\d\dr\d\d and the (?!\1)\w+ of c\d\dr\d\d changed places", 2, 2),
        (lambda _, move: move[1:] == [IDLE], r"idle figure exchange", 0, 0),
        (lambda _, move: move == [END], r"end of the turn", 0, 0),
        (
            lambda p, move: p.state["phase"] in (SETUP, TILE) and len(move) == 1 and move[0] > END,
            r"seat 0: put the \w+ on c\d\dr\d\d",
            1,
            0,
        ),
        (lambda p, move: p.mid_move and len(move) == 1, r"chose [a-z]+.*", 0, 0),
    ],
)
def test_the_last_move_is_shown_and_marked(wanted, reported, hexes, arrows):
    position, move = play_until(wanted)
    assert re.fullmatch(reported, player_view.last_move(position.state, None, move))
    plain, marked = picture(position), picture(position, None, move)
    rings = [s for s in marked.shapes if isinstance(s, Polygon) and s.edge == pictures.MARK]
    already = [s for s in plain.shapes if isinstance(s, Polygon) and s.edge == pictures.MARK]
    assert len(rings) - len(already) == hexes
    assert sum(isinstance(s, Line) and s.arrow for s in marked.shapes) == arrows
    assert any(w.startswith("Last: ") for w in words(marked))
    assert not any(w.startswith("Last: ") for w in words(plain))


def test_nothing_leaves_the_picture(positions):
    for _, _, position, move in every(positions):
        scene = picture(position, 0, move)
        for shape in scene.shapes:
            points = getattr(shape, "points", None) or ((shape.x, shape.y),)
            assert all(0 <= x <= scene.width and 0 <= y <= scene.height for x, y in points)


# --- Drawing ---


@pytest.mark.parametrize("n", VARIANTS)
def test_svg_is_xml_of_the_right_size_with_text(positions, n):
    position, move = positions[n]["land"]
    scene = picture(position, 0, move)
    root = ElementTree.fromstring(svg(scene))
    assert root.get("viewBox") == f"0 0 {scene.width} {scene.height}"
    shown = {"".join(e.itertext()).strip() for e in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Samurai", "c14r09", "Seat 0 (viewer)"} <= shown


@pytest.mark.parametrize("n", VARIANTS)
def test_pixels(positions, n):
    position, move = positions[n]["tile"]
    scene = picture(position, None, move)
    pixels = rgb_array(scene)
    assert pixels.dtype == np.uint8
    assert pixels.shape == (scene.height, scene.width, 3)
    assert len(np.unique(pixels @ np.array([1, 256, 65536]))) > 50  # colours


def test_the_same_scene_gives_the_same_bytes(positions):
    scene = picture(*positions[2]["token_to"][:1])
    assert svg(scene) == svg(scene)
    assert np.array_equal(rgb_array(scene), rgb_array(scene))


def test_zoom_makes_a_larger_picture_of_the_same(positions):
    scene = picture(*positions[2]["tile"][:1])
    small, large = rgb_array(scene), rgb_array(scene, 2.0)
    assert large.shape == (2 * scene.height, 2 * scene.width, 3)
    shrunk = large.reshape(scene.height, 2, scene.width, 2, 3).mean((1, 3))
    assert np.abs(shrunk - small).mean() < 4
    assert png(scene).startswith(b"\x89PNG")


def test_twenty_frames_a_second(positions):
    """With its scene, at about 720p; in processor time, since the machine may be busy."""
    position, move = positions[2]["tile"]
    rgb_array(picture(position))
    times = []
    for _ in range(5):
        start = time.process_time()
        rgb_array(picture(position, None, move))
        times.append(time.process_time() - start)
    assert min(times) < 1 / 20


def test_colours_of_the_paper_have_a_class_for_other_themes():
    scene = Scene(20, 20, palette.PAPER, [Polygon(((1, 1), (9, 1), (9, 9)), palette.PANEL, palette.PANEL_EDGE)])
    scene.add(Text(10, 10, "a", 8, palette.TEXT), Text(10, 10, "b", 8, palette.INK))
    drawn = svg(scene)
    assert 'class="fill-paper" fill="#f6f2e9"' in drawn
    assert 'class="fill-panel stroke-panel-edge"' in drawn
    assert 'class="fill-text"' in drawn
    assert drawn.count("class=") == 3


def test_pages_take_the_palettes_colours_from_the_palette():
    assert set(palette.THEMED) == {color for color in vars(palette).values() if isinstance(color, palette.Themed)}
    shown = page("a game", [Step(Scene(20, 20, palette.PAPER), None, "")])
    for color in palette.THEMED:
        assert f"--{color.name}: {color};" in shown
        assert f"--{color.name}: {color.dark};" in shown
        assert f".stroke-{color.name} {{ stroke: var(--{color.name}); }}" in shown
    for game in game_names():
        drawn = svg(make_variant(game).game.scene(Position(make_variant(game), 1).state))
        for names in set(re.findall('class="([^"]*)"', drawn)):
            assert all(f".{name} {{" in shown for name in names.split()), names
    for path in ("samurai_env/display/stepper.html", "experiments/web/static/style.css"):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert not [c.name for c in (*palette.THEMED, *palette.SEAT_LINES) if f"--{c.name}:" in text], path


def box(fill):
    return Polygon(((10, 10), (30, 10), (30, 30), (10, 30)), fill)


def test_shapes_lie_where_the_scene_says_in_drawing_order():
    scene = Scene(100, 80, "#ffffff")
    scene.add(box("#ff0000"), Circle(20, 20, 5, "#00ff00"), Line(((50, 10), (50, 70)), "#0000ff", 4.0, arrow=True))
    pixels = rgb_array(scene)
    assert pixels.shape == (80, 100, 3)
    assert pixels[20, 20].tolist() == [0, 255, 0]
    assert pixels[12, 12].tolist() == [255, 0, 0]
    assert pixels[30, 50].tolist() == [0, 0, 255]
    assert pixels[57, 54].tolist() == [0, 0, 255]  # the head is wider than the line and at its end
    assert pixels[20, 54].tolist() == [255, 255, 255]
    assert pixels[75, 50].tolist() == [255, 255, 255]
    scene.add(box("#000000"))
    assert rgb_array(scene)[20, 20].tolist() == [0, 0, 0]


@pytest.mark.parametrize(("anchor", "left", "right"), [("left", 100, 170), ("center", 65, 135), ("right", 30, 100)])
def test_text_hangs_on_its_anchor(anchor, left, right):
    scene = Scene(200, 60, "#ffffff", [Text(100, 30, "$MM$", 20, "#000000", anchor, bold=True)])
    rows, columns = np.nonzero(rgb_array(scene).min(2) < 128)
    assert left <= columns.min() < left + 12
    assert right - 12 < columns.max() <= right
    assert abs((rows.min() + rows.max()) / 2 - 30) < 4
    assert "$MM$" in svg(scene)


@pytest.mark.parametrize("package", ["aggdraw", "PIL"])
def test_pixels_say_what_they_need(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match="pip install aggdraw pillow"):
        rgb_array(Scene(10, 10))
    assert svg(Scene(10, 10)).startswith("<svg")


def test_the_libraries_are_imported_for_pixels_only_and_matplotlib_never():
    program = """
import sys
import samurai_env.display
from samurai_env import Position, game_names, make_variant
position = Position(make_variant("samurai", 2))
scene = position.variant.game.scene(position.state)
samurai_env.display.svg(scene)
assert not {"PIL", "aggdraw"} & set(sys.modules)
samurai_env.display.rgb_array(scene)
assert "matplotlib" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_drawing_knows_no_game():
    for path in Path(samurai_env.display.__file__).parent.glob("*.py"):
        source = path.read_text(encoding="utf-8").replace("samurai_env", "").replace("samurai-env", "").lower()
        assert not re.search(r"samurai|board|card|spirit", source), path.name


def test_a_themed_colour_keeps_its_class_beside_the_same_plain_one():
    """Elements are remembered by what they are drawn from."""
    corners = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0))
    assert TEXT == INK
    drawn = [shape_svg(Polygon(corners, fill)) for fill in (TEXT, INK, TEXT)]
    assert ['class="fill-text"' in element for element in drawn] == [True, False, True]
