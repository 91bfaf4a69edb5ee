"""The benchmark: every part gives figures, disturbed measurements are repeated and marked, peers may be missing."""

import json
import math
import os
import re
from itertools import count

import gymnasium
import pytest
from rich.console import Console

from experiments import bench
from experiments.benchmark import components, page, peer_table, peers, scaling, timing
from experiments.benchmark.results import amount
from experiments.benchmark.timing import Figure, Meter
from experiments.common import provenance
from samurai_env import make_variant
from samurai_env.envs.vector import GameVectorEnv

SMALL = {"repetitions": 1, "seconds": 0.02, "num_envs": 8, "simulations": 5, "train": False, "start": False}
ALL = {name: getattr(bench.Config, name) for name in ("num_envs", "simulations", "train", "start")}
QUICK = Meter(1, 0.02)


def test_every_part_gives_figures(tmp_path):
    report = bench.main(bench.Config(**SMALL, json=tmp_path / "b.json"))
    figures = [Figure(**found) for found in report["figures"]]
    assert {f.unit for f in figures} == {"steps/s", "games/s", "ns", "x", "simulations/s"}
    assert all(0 < f.low <= f.median <= f.high for f in figures if f.unit != "games/s")
    assert len({(f.name, f.unit) for f in figures}) == len(figures)
    assert json.loads((tmp_path / "b.json").read_text()) == report


def test_a_file_that_cannot_be_written_is_told_before_anything_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "parts", lambda *_: pytest.fail("something was measured"))
    for path in (tmp_path, tmp_path / "file" / "b.json"):
        (tmp_path / "file").touch()
        with pytest.raises(OSError):
            bench.main(bench.Config(**SMALL, json=path))


def test_figures_have_three_digits():
    figures = (0, 0.0004, 0.0123, 1, 12.345, 999.4, 999.9, 1234, 999_999, 9.996e6)
    wanted = ["0.00", "0.0004", "0.01", "1.00", "12.35", "999.40", "1.00 k", "1.23 k", "1.00 M", "10.0 M"]
    assert [amount(figure) for figure in figures] == wanted


def test_a_time_for_each_turns_a_rate_round():
    assert components.in_nanoseconds(Figure("copy", "", 1e8, 5e7, 2e8)) == Figure("copy", "ns", 10.0, 5.0, 20.0)


def test_wrong_settings_are_told():
    for wrong, message in (
        ({"seconds": 0.0}, "--seconds must be from 0.01 to"),
        ({"repetitions": 0}, "--repetitions must be from 1 to"),
        ({"peers": True, "growth": True}, "one at a time"),
        ({"peers": True}, "no effect of --num-envs and --simulations and --start on --peers"),
        ({"growth": True, "num_envs": 1024, "simulations": 1000, "start": True}, "no effect of --train on --growth"),
        ({**ALL, "growth": True, "game": "samurai players=3"}, "every number of players: --game samurai, without"),
    ):
        with pytest.raises(ValueError, match=message):
            bench.main(bench.Config(**{**SMALL, **wrong}))


# --- The guard ---


@pytest.fixture
def others(monkeypatch):
    """CPU seconds that others will have used when a measurement begins and ends, one after the other."""
    readings: list[float] = []
    monkeypatch.setattr(timing, "MOMENT", 0.0)
    monkeypatch.setattr(timing, "used_by_others", lambda: readings.pop(0))
    return readings


def test_a_disturbed_measurement_is_repeated_until_it_is_not(others):
    others += [0.0, 0.5, 0.5, 1.0, 1.0, 1.0]
    results = count()
    assert timing.undisturbed(lambda: next(results)) == (2, False)
    assert others == []


def test_it_is_marked_in_the_end(others):
    others += [float(n) for n in range(2 * (1 + timing.AGAIN))]
    assert timing.undisturbed(lambda: "done") == ("done", True)
    assert others == []
    others += [float(n) for n in range(2 * (3 + timing.AGAIN))]
    assert Meter(3).of("x", "s", lambda: 1.0).disturbed  # the second and third are not repeated
    assert others == []


def test_a_system_that_does_not_tell_disturbs_nothing(monkeypatch):
    monkeypatch.setattr(timing, "used_by_others", lambda: math.nan)
    assert timing.undisturbed(lambda: 1) == (1, False)


def test_own_work_is_not_that_of_others(tmp_path, monkeypatch):
    second = os.sysconf("SC_CLK_TCK")
    seconds = (30, 1, 5, 1000, 500, 2, 1, 3, 0, 0)  # user, nice, system, idle, wait, interrupts, soft, stolen, ...
    (tmp_path / "stat").write_text(f"cpu  {' '.join(str(s * second) for s in seconds)}\ncpu0 0\n")
    monkeypatch.setattr(timing, "STAT", tmp_path / "stat")
    monkeypatch.setattr(os, "times", lambda: (10.0, 2.0, 3.0, 4.0, 99.0))
    assert timing.used_by_others() == 30 + 1 + 5 + 2 + 1 + 3 - 19
    monkeypatch.setattr(timing, "STAT", tmp_path / "none")
    assert math.isnan(timing.used_by_others())


# --- Side by side ---


def a_row(kind=peers.COMPILED, who=peer_table.OURS, median=10.0, threads=1, disturbed=False):
    return peers.Row(kind, who, "a game", 7, 0, 1, threads, Figure("f", "steps/s", median, 1.0, 20.0, disturbed))


def test_peers_that_are_not_installed_are_told_of(tmp_path):
    rows, problem = peer_table.peer_rows("pgx", QUICK, tmp_path)
    assert (rows, problem) == ([], "pgx is not installed: `make peers` does it")


def test_a_peer_that_fails_keeps_its_figures(tmp_path):
    python = tmp_path / "pgx" / "bin" / "python"
    python.parent.mkdir(parents=True)
    line = json.dumps(peers.asdict(a_row(who="pgx 1")))
    python.write_text(f"#!/bin/sh\necho '{line}'\necho 'ImportError: no jax' >&2\nexit 1\n")
    python.chmod(0o755)
    rows, problem = peer_table.peer_rows("pgx", QUICK, tmp_path)
    assert rows == [a_row(who="pgx 1")]
    assert problem == "pgx stopped after 1 figures: ImportError: no jax"
    python.write_text("#!/bin/sh\necho '{not a figure'\n")
    assert peer_table.peer_rows("pgx", QUICK, tmp_path)[1].startswith("pgx printed what is no figure: ")


def test_every_kind_of_work_is_done_here():
    kinds = [row.kind for row in peer_table.our_rows(make_variant("samurai"), QUICK, train=False)]
    assert set(kinds) == set(peers.KINDS) - {peers.TRAINING}


def test_ratios_compare_like_with_like():
    rows = [a_row(), a_row(threads=2, median=18.0), a_row(who="peer 1", median=4.0), a_row(peers.LOOP, "peer 1", 4.0)]
    assert [ratio for _, ratio in peer_table.with_ratios(rows)] == [None, None, 2.5, None]


def test_the_scripts_of_all_peers_are_there():
    for peer in peer_table.PEERS:
        assert (peer_table.ROOT / "experiments" / "benchmark" / "peers" / f"{peer}.py").exists()


# --- Growth ---


def test_growth_is_measured_and_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(scaling, "BATCHES", (1, 4))
    monkeypatch.setattr(scaling, "SIMULATIONS", (1, 10))
    monkeypatch.setattr(scaling, "MEASURED_GAMES", 16)
    report = bench.main(bench.Config(repetitions=1, seconds=0.02, growth=True, json=tmp_path / "growth.json"))
    curves = {(point["curve"], point["size"]) for point in report["games"]}
    assert {("2 players", 1), ("4 players", 4), ("2 players, 2 threads", 4)} <= curves
    assert {point["figure"]["unit"] for point in report["simulations"]} == {"simulations/s"}
    for name in ("games", "simulations"):
        assert (tmp_path / f"growth-{name}.png").stat().st_size > 1000
    for entry in report["memory"]:
        made = [entry["record"], entry["mask"], *entry["observations"].values()]
        assert all(0 < size < entry["environment"] for size in made[:2])


# --- The page ---


def test_results_become_the_parts_of_the_page(tmp_path):
    missing = re.compile("No results are kept yet|No figure yet")
    assert all(missing.search(part) for part in page.pages(tmp_path)[page.PAGE].values())
    head = {"variant": "samurai players=2", "version": "1", "commit": "abc", "machine": "m", "command": "bench"}
    rows = [a_row(median=1e6), a_row(who="peer 1", median=4e5, disturbed=True)]
    found = {**head, "rows": [peers.asdict(row) for row in rows], "missing": ["pgx is not installed"]}
    (tmp_path / "peers.json").write_text(json.dumps(found))
    point = {"curve": "2 players", "size": 4, "figure": vars(Figure("f", "steps/s", 5e6, 4e6, 6e6))}
    memory = vars(scaling.memory(make_variant("samurai")))
    found = {**head, "games": [point], "simulations": [point], "memory": [memory]}
    (tmp_path / "growth.json").write_text(json.dumps(found))
    made = page.pages(tmp_path)[page.PAGE]
    assert "| peer 1 | a game | 7, - | 1 | 1 | **400 k**\\* (1.00 to 20.00) | steps/s | 2.50 x |" in made["peers"]
    assert "- pgx is not installed.\n" in made["peers"]
    assert "2 players, 4 games, **5.00 M** (4.00 M to 6.00 M) steps/s" in made["growth"]
    assert f"| {memory['record']} |" in made["memory"]


def test_what_is_measured_is_what_make_vec_gives():
    env = gymnasium.make_vec("samurai_env:samurai_env/Samurai-v0", num_envs=2)
    assert type(env) is GameVectorEnv
    env.close()


def test_nothing_is_left_of_a_console_in_the_table(capsys):
    bench.show(Console(width=200), "title", ("what",), [(("a",), a_row(disturbed=True).figure)])
    shown = capsys.readouterr().out
    assert "10.00*" in shown
    assert "other processes" in shown


@pytest.mark.parametrize(
    ("features", "text"),
    [
        ({"avx": True, "avx2": True, "avx512bw": True, "avx512bf16": True}, "AVX-512, bfloat16"),
        ({"avx": True, "avx2": True, "avx512bw": False}, "AVX2"),
        ({"neon": True}, "NEON"),
        ({}, "no vector instructions known"),
    ],
)
def test_the_report_names_the_instructions_of_the_machine(features, text, monkeypatch) -> None:
    monkeypatch.setattr(provenance.binding, "get_host_cpu_features", lambda: features)
    assert provenance.instruction_set() == text
