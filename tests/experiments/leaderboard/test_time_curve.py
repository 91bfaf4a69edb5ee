"""The picture of strength against time."""

from itertools import combinations

import pytest

from experiments.leaderboard.short_names import short_name, table_names
from experiments.leaderboard.time_curve import add_names, draw, error_bar, frontier, known, timed


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("greedy", "greedy"),
        ("mcts:20000,rollout_depth=16,rollout_greedy=1", "mcts 20,000 + rollouts"),
        ("mcts:600,rollout_depth=16,rollout_greedy=1,tuned=1", "mcts 600 + tuned rollouts"),
        ("puct:200,net=weights/samurai-2.safetensors", "puct 200 samurai-2"),
        ("puct:30,net=runs/a,rollout_weight=0.5,c_puct=4", "puct 30 a + rollouts"),
        ("ppo:weights/samurai-2-scratch.safetensors", "ppo samurai-2-scratch"),
        ("puct:8,net=a,rollout_weight=0.5,tuned=1,value=b,belief=c", "puct 8 a + tuned rollouts, value, belief"),
        ("mcts:500,cheating=1", "mcts 500 + cheating"),
        ("samurai_env.adapters.open_spiel_bots.ISMCTS:700", "ISMCTS 700"),
    ],
)
def test_short_names(spec, name):
    assert short_name(spec) == name


def test_names_in_tables_are_specs_where_those_are_short_and_never_the_same_twice():
    assert table_names(["mcts:9", "mcts:9,c_puct=1", "mcts:9,c_puct=2", "mcts:8,tuned=1,rollout_greedy=1"]) == {
        "mcts:9": "`mcts:9`",
        "mcts:9,c_puct=1": "`mcts:9,c_puct=1`",
        "mcts:9,c_puct=2": "`mcts:9,c_puct=2`",
        "mcts:8,tuned=1,rollout_greedy=1": "mcts 8 + tuned rollouts",
    }


def test_what_is_known_roughly_is_not_on_the_line():
    assert known({"interval": [100.0, 400.0]})
    assert not known({"interval": [100.0, 401.0]})
    assert not known({"interval": [None, 3.0]})
    assert not known({})


def test_the_frontier_has_no_agent_that_a_faster_one_equals():
    assert frontier([(1.0, 5.0), (0.1, 3.0), (0.5, 3.0), (2.0, 4.0), (0.01, -1.0)]) == [
        (0.01, -1.0),
        (0.1, 3.0),
        (1.0, 5.0),
    ]


def test_the_picture(tmp_path):
    rows = [
        {"spec": "greedy", "strength": 0.0, "seconds": 2e-6},
        {"spec": "mcts:1000", "strength": 200.0, "interval": [150.0, 260.0], "seconds": 2e-3},
        {"spec": "random", "strength": -1200.0, "seconds": 1e-6},
        {"spec": "best", "strength": 900.0, "seconds": None},
    ]
    assert [row["spec"] for row in timed(rows)] == ["greedy", "mcts:1000"]
    assert error_bar(rows[1]) == [[50.0], [60.0]]
    assert error_bar(rows[0]) is None
    assert error_bar({"strength": 1.0, "interval": [None, 3.0]}) is None
    rough = [{"spec": "mcts:9", "strength": 9.0, "interval": [-500.0, 500.0], "seconds": 1e-3}]  # no line
    draw({"samurai players=2": rows, "samurai_card players=2": rough, "samurai players=3": rows}, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_names_cover_no_other_name():
    pytest.importorskip("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    rows = [{"spec": f"ppo:weights/samurai-{n}", "strength": 30.0 * n, "seconds": 1e-3 * 1.1**n} for n in range(6)]
    figure = Figure(figsize=(5.5, 3.6))
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.set_xlim(1e-6, 10)
    axes.set_ylim(-50, 250)
    add_names(axes, rows)
    figure.canvas.draw()
    boxes = [Text.get_window_extent(name) for name in axes.texts]
    assert len(boxes) == 6
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert all(axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 for box in boxes)
