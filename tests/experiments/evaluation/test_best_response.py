"""The file of `experiments.best_response`."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import convert
from rich.console import Console

from agents.best import best_spec
from experiments import best_response
from experiments.best_response import Config, Shares, search, training
from experiments.common.interrupts import Interrupt
from experiments.evaluation import best_responses
from experiments.evaluation.best_response_curves import draw, panel_title
from experiments.evaluation.best_responses import KeptShares
from samurai_env import make_variant


def test_a_file_of_other_settings_is_refused_with_their_names(tmp_path: Path) -> None:
    variant = make_variant("samurai_card")
    config = Config(target="greedy", game="samurai_card", output=tmp_path)
    shares = Shares(config, variant)
    shares.save()
    assert Shares(config, variant).settings == shares.settings
    kept = json.loads(shares.path.read_text())
    kept["settings"]["total_steps"] = kept["settings"].pop("total_timesteps")  # its name before version 0.2
    shares.path.write_text(json.dumps(kept))
    assert Shares(config, variant).settings == shares.settings
    del kept["settings"]["graph_width"]
    kept["settings"]["ent_coef"] = "0.5"
    shares.path.write_text(json.dumps(kept))
    with pytest.raises(ValueError, match=r"with ent_coef 0\.5, graph_width not noted; choose another --output"):
        Shares(config, variant)


def test_the_file_tells_the_form_of_the_exploiters(tmp_path: Path) -> None:
    target = "ppo:weights/samurai-2-league.safetensors"
    config = Config(target=target, seeds=0, agents=("random",), deals=1, output=tmp_path)
    settings = search(config, Console(quiet=True), Interrupt()).settings
    assert (settings["graph_width"], settings["hidden"], settings["heuristic_prior"]) == ("32", "(128,)", "False")
    made = training(best_response.with_form(config), 1)
    assert (made.graph_width, made.hidden, made.heuristic_prior) == (32, (128,), False)
    for changes, flag in (({"graph_width": 16}, "graph-width"), ({"hidden": (64,)}, "hidden")):
        with pytest.raises(ValueError, match=f"--{flag} is for a target that is no network; exploiters of .*have its"):
            search(replace(config, **changes), Console(quiet=True), Interrupt())


def test_more_deals_than_the_file_may_hold_are_refused(tmp_path: Path) -> None:
    config = Config(target="greedy", seeds=3, deals=100_000, output=tmp_path / "new")
    with pytest.raises(ValueError, match=r"^--deals may be 87,381 here, not 100,000: more do not fit into one file$"):
        search(config, Console(quiet=True), Interrupt())
    assert not (tmp_path / "new").exists()


def test_the_target_is_what_best_stands_for_today(tmp_path: Path) -> None:
    config = Config(target="best:0.0001s", game="samurai_card", output=tmp_path, agents=("greedy",), seeds=0, deals=2)
    shares = search(config, Console(quiet=True), Interrupt())
    assert shares.settings["target"] == best_spec(make_variant("samurai_card"), 1e-4)
    assert "best" not in shares.settings["target"]


def test_a_file_keeps_the_commits_of_all_runs(tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / "best-response" / "greedy"
    config = Config(target="greedy", game="samurai_card", seeds=0, agents=("random",), output=folder)
    monkeypatch.setattr(best_response, "BLOCK", 2)
    asked: list[str] = []
    for number, name in enumerate("aba", 1):
        monkeypatch.setattr(best_response, "commit", lambda name=name: asked.append(name) or name)
        config.deals = 4 * number
        search(config, Console(quiet=True), Interrupt())
    kept = json.loads((folder / "best_response.json").read_text())
    assert (kept["commit"], len(kept["machine"])) == (["a", "b"], 1)
    assert asked == ["a", "b", "a"]  # once a run, though each writes two blocks
    assert "- Code: commit a, b\n" in str(best_responses.part(tmp_path))
    kept |= {"commit": "a", "machine": "m"}  # as before, when it was only the last
    (folder / "best_response.json").write_text(json.dumps(kept))
    assert "- Code: commit a\n- Machine: m\n" in str(best_responses.part(tmp_path))
    shares = Shares(config, make_variant("samurai_card"))
    assert (shares.commits, shares.machines) == (["a"], ["m"])


def kept_of(target: str, **changes: object) -> dict[str, object]:
    return {
        "settings": {"variant": make_variant("samurai").spec, "target": target, "total_timesteps": "2000000"},
        "networks": {},
        "shares": {"PPO, seed 1": [[1, 0.5], [0, 0.5]], "PPO, seed 2": [[1, 1]], "mcts:9": [[0, 1], [0, 0]]},
        "commit": "1234567",
        "machine": "a machine",
        "command": f"python -m experiments.best_response --target {target}",
        "curves": {"PPO, seed 1": [[0, 0.1], [400, 0.4], [1000, 0.6]], "PPO, seed 2": [[0, 0.2], [1000, 0.9]]},
        **changes,
    }


def test_the_table_of_the_leaderboard(tmp_path: Path) -> None:
    assert best_responses.part(tmp_path) is None
    for target in ("random", "greedy"):
        folder = tmp_path / "best-response" / target
        folder.mkdir(parents=True)
        (folder / "best_response.json").write_text(json.dumps(kept_of(target)))
    found = best_responses.part(tmp_path)
    assert found is not None
    rows = [line for line in found.splitlines() if line.startswith("| Samurai")]
    assert rows[0].startswith("| Samurai, 2 players | `greedy` | 2,000,000 | 50% | 100.0% [")
    assert rows[0].endswith("| 50.0, 100.0% | 40, 20% | `mcts:9` 25.0% | 1 |")
    assert "`random`" in rows[1]
    assert "python -m experiments.best_response --target greedy\n" in found
    (folder / "best_response.json").write_text(json.dumps(kept_of("greedy", shares={"PPO, seed 1": [[2]]})))
    with pytest.raises(ValueError, match=r"best_response\.json is damaged"):
        best_responses.part(tmp_path)


def test_the_picture_of_the_curves(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    learned = convert(kept_of("ppo:weights/samurai-2.safetensors,temperature=0.5"), KeptShares)
    searched = convert(kept_of("greedy", curves={}), KeptShares)
    assert panel_title(learned) == "Samurai, 2 players\nsamurai-2,temperature=0.5"
    draw([searched], tmp_path / "nothing_learned.png")
    assert not (tmp_path / "nothing_learned.png").exists()
    draw([searched, learned], tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_an_exploiter_stopped_before_its_first_checkpoint_begins_again(tmp_path: Path) -> None:
    config = Config(target="greedy", output=tmp_path)
    assert not training(config, 1).resume
    (tmp_path / "seed-1").mkdir()
    (tmp_path / "seed-1" / "curve.png").touch()
    assert not training(config, 1).resume
    (tmp_path / "seed-1" / "checkpoint.safetensors").touch()
    assert training(config, 1).resume


def test_a_network_of_another_variant_is_no_start_of_an_exploiter(tmp_path: Path) -> None:
    config = Config(
        "ppo:weights/samurai-2.safetensors", game="samurai players=2 edition=1998", output=tmp_path, agents=()
    )
    with pytest.raises(ValueError, match=r"--target: .* name with --game what that was trained for: .*edition=2016 "):
        search(config, Console(quiet=True), Interrupt())
