"""Results are not handed on to another agent of the same name."""

import json
from contextlib import chdir
from pathlib import Path

import pytest

from experiments.common.file_hashes import check_file_hash, file_hash
from experiments.common.provenance import ROOT

RESULTS = ROOT / "experiments" / "results"


def test_a_network_that_has_changed_does_not_inherit_results(tmp_path: Path) -> None:
    network, known = tmp_path / "run" / "model.safetensors", dict[str, str]()
    network.parent.mkdir()
    network.write_bytes(b"one")
    spec = f"ppo:{network.parent}"
    assert file_hash(spec) == file_hash(f"puct:30,net={network},width=2") != file_hash("greedy")
    for name in (spec, spec, "greedy"):
        check_file_hash(name, known, tmp_path / "results.json")
    assert list(known) == [spec]
    network.write_bytes(b"two")
    with pytest.raises(ValueError, match="its file has changed"):
        check_file_hash(spec, known, tmp_path / "results.json")


def test_nor_does_a_program(tmp_path: Path) -> None:
    engine = tmp_path / "my engine.py"
    engine.write_text("one")
    specs = (f"exec:'{engine}'", f"exec:python '{engine}'", f"exec:python -u '{engine}' --fast,seconds=2")
    before = [file_hash(spec) for spec in specs]
    assert None not in before
    engine.write_text("two")
    for spec, digits in zip(specs, before, strict=True):
        with pytest.raises(ValueError, match="its file has changed"):
            check_file_hash(spec, {spec: str(digits)}, tmp_path / "results.json")


def test_nor_does_an_agent_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "changing.py").write_text("Agent = 1")
    known = dict[str, str]()
    check_file_hash("changing.Agent:0.5", known, tmp_path / "results.json")
    (tmp_path / "changing.py").write_text("Agent = 2")
    with pytest.raises(
        ValueError, match=r"results\.json holds results of another changing\.Agent:0\.5: its file has changed"
    ):
        check_file_hash("changing.Agent:0.5", known, tmp_path / "results.json")


def test_numbers_of_a_spec_are_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("1", "10"):
        Path(name).write_text("no part of an agent")
    assert file_hash("mcts:10,c_puct=1") is None
    (tmp_path / "1").rename("values")
    assert file_hash("mcts:10,value=values") is not None


def test_kept_results_are_those_of_the_files_as_they_are() -> None:
    kept = [*sorted(RESULTS.glob("*/*.json")), *sorted(RESULTS.glob("best-response/*/*.json"))]
    checked = 0
    with chdir(ROOT):
        for path in kept:
            for spec, known in json.loads(path.read_text(encoding="utf-8")).get("networks", {}).items():
                now = file_hash(spec)
                if now is not None and "search-variants" not in path.parent.name:  # that names files of its day
                    assert now == known, f"{path} holds results of another {spec}"
                    checked += 1
    assert checked > 50
