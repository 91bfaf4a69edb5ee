"""The program that compares ways to search at equal time."""

import json

import numpy as np
import pytest

from experiments import search_variants
from experiments.evaluation.matchups import Matchup, Results
from experiments.search_variants import Config, main, positions, simulations_in, wanted
from samurai_env import make_variant

TWO = """
[[variant]]
name = "plain"
spec = "mcts:SIMULATIONS"
[[variant]]
name = "fearful"
spec = "mcts:SIMULATIONS,paranoid=1"
[[variant]]
name = "led"
spec = "puct:SIMULATIONS,net=NETWORK"
"""


@pytest.fixture
def two(tmp_path, monkeypatch):
    path = tmp_path / "variants.toml"
    path.write_text(TWO, encoding="utf-8")
    monkeypatch.setattr(search_variants, "VARIANTS", path)


def test_which_variants_a_game_has(two) -> None:
    assert wanted(Config(), make_variant("samurai")) == {"plain": "mcts:SIMULATIONS"}
    assert list(wanted(Config(), make_variant("samurai", 3))) == ["plain", "fearful"]
    assert list(wanted(Config(), make_variant("samurai_spirit", 3))) == ["plain"]
    led = wanted(Config(network="a/net"), make_variant("samurai"))
    assert led["led"] == "puct:SIMULATIONS,net=a/net"


def test_positions_are_of_a_whole_game() -> None:
    found = positions(make_variant("samurai_card"))
    assert not found["over"].any()
    assert (np.diff(found["steps"]) > 0).all()
    assert found["steps"][0] == 0


def test_more_time_is_more_simulations() -> None:
    variant = make_variant("samurai_card")
    assert simulations_in("mcts:SIMULATIONS", variant, 1e-9) == search_variants.FEWEST
    assert simulations_in("mcts:SIMULATIONS", variant, 0.005) > 2 * simulations_in("mcts:SIMULATIONS", variant, 0.0005)


def test_a_comparison_is_kept_and_goes_on(two, tmp_path, monkeypatch) -> None:
    config = Config("samurai players=3", None, 0.2, ("random",), deals=1, processes=1, output=tmp_path / "o")
    main(config)
    kept = json.loads((tmp_path / "o" / "specs.json").read_text(encoding="utf-8"))
    assert kept["milliseconds"] == 0.2
    assert set(kept["specs"]) == {"mcts:SIMULATIONS", "mcts:SIMULATIONS,paranoid=1"}
    table = (tmp_path / "o" / "table.md").read_text(encoding="utf-8")
    assert "0.2 ms a decision asked for" in table
    assert f"| fearful | `{kept['specs']['mcts:SIMULATIONS,paranoid=1']}` |" in table

    def no_more(*arguments: object) -> int:
        raise AssertionError("measured again")

    monkeypatch.setattr(search_variants, "simulations_in", no_more)
    assert "; 1 deals, each from every seat" in table
    main(config)
    assert (tmp_path / "o" / "table.md").read_text(encoding="utf-8") == table
    config.milliseconds = 0.4
    with pytest.raises(ValueError, match=r"was measured for .*0\.2 ms, not .*0\.4 ms; choose another --output"):
        main(config)
    config.milliseconds, config.game = 0.2, "samurai players=2"
    with pytest.raises(ValueError, match=r"players=3 .*and 0\.2 ms, not 'samurai players=2 .*and 0\.2 ms; choose"):
        main(config)


def test_a_network_that_is_not_there_is_refused_before_anything_is_measured(two, tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no network at"):
        main(Config(network=tmp_path / "none", output=tmp_path / "o"))
    assert not (tmp_path / "o").exists()


def test_a_pair_that_has_not_met_yet_has_an_empty_cell(tmp_path) -> None:
    results = Results(tmp_path / "results.json", "samurai players=2")
    results.matchups["mcts:9", "random"] = Matchup()
    results.matchups["mcts:9", "greedy"] = Matchup({0: [1.0, 0.5]}, [0.4, 0.1], [100, 100], ["abc"], ["here"])
    last = search_variants.table(Config(opponents=("random", "greedy")), {"plain": "mcts:9"}, results).splitlines()[-1]
    assert last.startswith("| plain | `mcts:9` | 4.0 |  | 75.0% [")
    results.matchups["mcts:9", "greedy"].deals[1] = [0.0, 0.0]
    config = Config(opponents=("greedy",), deals=1)
    assert "| 75.0% [" in search_variants.table(config, {"plain": "mcts:9"}, results)
    gap = {"deals": {1: [1.0, 1.0]}, "seconds": [1.0, 1.0], "decisions": [9, 9]}
    results.matchups["mcts:9", "greedy"] = Matchup(**gap)
    assert search_variants.table(config, {"plain": "mcts:9"}, results).splitlines()[-1].endswith("|  |")


def test_a_pair_shows_whoever_was_named_first(tmp_path) -> None:
    results = Results(tmp_path / "results.json", "samurai players=2")
    results.matchups["mcts:9", "mcts:7"] = Matchup({0: [1.0, 0.5]}, [0.4, 0.1], [100, 50], ["abc"], ["here"])
    config = Config(opponents=("mcts:9",))
    last = search_variants.table(config, {"plain": "mcts:7"}, results).splitlines()[-1]
    assert last.startswith("| plain | `mcts:7` | 2.0 | 25.0% [")
    last = search_variants.table(config, {"plain": "mcts:8"}, results).splitlines()[-1]
    assert last == "| plain | `mcts:8` |  |  |"  # has met nobody


def test_times_of_another_machine_are_refused_and_the_table_names_what_played(two, tmp_path, monkeypatch) -> None:
    config = Config("samurai_card", None, 0.1, ("random",), deals=1, processes=1, output=tmp_path / "o")
    main(config)
    head = (tmp_path / "o" / "table.md").read_text(encoding="utf-8").splitlines()[0]
    [played] = Results(tmp_path / "o" / "results.json").matchups.values()
    assert head.endswith(f"{played.machines[0]}, commit {played.commits[0]}")
    monkeypatch.setattr(search_variants, "cpu_name", lambda: "Another Machine")
    with pytest.raises(ValueError, match=r"was measured on another machine, .*not on 'Another Machine', where equal"):
        main(config)
