"""Datasets of self-play: the same bytes however they come about, a reader that finds what is wrong, batches."""

import json
import os
import signal
import subprocess
import sys
import time
from io import StringIO
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from agents.registry import make_agent
from experiments import dataset
from experiments.dataset import Config
from samurai_env import GameBatch, game_names, parse_variant
from samurai_env.game_record import GameRecord

pytest.importorskip("pyarrow")
from experiments.datasets.manifest import digest, layout_hash
from experiments.datasets.reader import Dataset

QUIET = Console(quiet=True)
ROOT = Path(__file__).resolve().parents[2]


def settings(folder, **changes):
    return Config(
        **{"agents": ("greedy", "random"), "games": 25, "shard_games": 10, "processes": 1, "output": folder} | changes
    )


def hashes(folder):
    return {path.name: digest(path) for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    dataset.make(settings(folder), QUIET)
    return folder


def copy(made, folder):
    folder.mkdir()
    for path in made.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def test_it_holds_what_was_played(made):
    found = Dataset(made)
    found.verify(sample=25)
    assert (found.games, found.shards, found.origin.names) == (25, 3, ("greedy", "random"))
    rows = next(found.batches(10**6))
    assert len(rows["game"]) == found.decisions
    agents = {spec: make_agent(spec, found.variant) for spec in found.origin.names}
    batch = GameBatch(found.variant)
    for game in (0, 13, 24):
        of = rows["game"] == game
        record = found.record(game)
        assert record.actions == rows["action"][of].tolist()
        assert record.tags["player0"] == ("random" if game % 2 else "greedy")
        states = np.concatenate([position.states for position in record.replay()])[:-1]
        assert (batch.observe(states) == rows["observation"][of]).all()
        assert (batch.legal_masks(states) == rows["action_mask"][of]).all()
        assert (rows["return"][of] == record.position.returns()[rows["seat"][of]]).all()
        greedy = rows["agent"][of] == 0
        assert (rows["seat"][of][greedy] == game % 2).all()
        scores = np.where(batch.legal_masks(states) > 0, batch.policy_logits(states), -np.inf)
        chosen = scores[np.arange(len(states)), record.actions]
        assert (chosen == scores.max(1))[greedy].all() and not (chosen == scores.max(1))[~greedy].all()
    assert set(agents) == {"greedy", "random"}


def test_other_processes_and_an_interruption_give_the_same_bytes(made, tmp_path):
    """The first shard is played, others are lost, damaged, or of a smaller dataset."""
    part = tmp_path / "part"
    dataset.make(settings(part, games=14), QUIET)
    (part / "games-00000.txt").write_text("damaged")
    dataset.make(settings(part, games=20), QUIET)
    (part / "games-00001.parquet").unlink()
    dataset.make(settings(part, processes=2), QUIET)
    assert hashes(part) == hashes(made)


def test_a_larger_number_of_games_can_be_taken_back(made, tmp_path, monkeypatch):
    """Until a shard more is there, and after: as long as no more games are than are asked for."""
    folder = copy(made, tmp_path / "copy")

    def stopped_after(shards):
        def play(make_shard, tasks, config, asked):
            for task in islice(tasks, shards):
                yield task, make_shard(task)
            raise KeyboardInterrupt

        with monkeypatch.context() as now:
            now.setattr(dataset, "results", play)
            with pytest.raises(KeyboardInterrupt):
                dataset.make(settings(folder, games=400), QUIET)

    stopped_after(0)
    assert hashes(folder) == hashes(made)
    stopped_after(2)
    with pytest.raises(ValueError, match="has 40 games: give as many --games or more"):
        dataset.make(settings(folder), QUIET)
    assert dataset.make(settings(folder, games=40), QUIET).done == 40
    Dataset(folder).verify()


def test_killed_at_any_moment_it_goes_on(made, tmp_path):
    words = ["--agents", "greedy,random", "--games", "25", "--shard-games", "10", "--processes", "1"]
    command = [sys.executable, "-m", "experiments.dataset", *words, "--output", str(tmp_path)]
    for shard, with_what in (("games-00000.parquet", signal.SIGKILL), ("games-00001.parquet", signal.SIGINT)):
        running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not (tmp_path / shard).exists() and running.poll() is None:
            time.sleep(0.002)
        running.send_signal(with_what)
        told = running.communicate()[1]
        assert "Traceback" not in told
    dataset.make(settings(tmp_path), QUIET)
    assert hashes(tmp_path) == hashes(made)


def test_lines_for_a_pipe_are_not_broken(made):
    told = StringIO()
    config = settings(made)
    config.sample = 2
    dataset.verify(config, Console(file=told, width=30))
    first, origin = told.getvalue().split("\n", 1)
    assert first.endswith("every column is the same")
    assert json.loads(origin)["variant"] == parse_variant("samurai").spec


def test_the_records_are_the_projects_own(made):
    texts = Dataset(made).record_texts(2)
    assert len(texts) == 5
    assert "".join(texts) == (made / "games-00002.txt").read_text(encoding="utf-8")
    for text in texts[:2]:
        assert GameRecord.parse(text).to_text() == text


@pytest.mark.parametrize("game", game_names())
def test_every_game_and_encoding(game, tmp_path):
    variant = parse_variant(game)
    for encoding in variant.game.encodings:
        folder = tmp_path / encoding
        config = settings(folder, game=game, agents=("random",), encoding=encoding, games=3, shard_games=2)
        dataset.make(config, QUIET)
        found = Dataset(folder)
        found.verify()
        batch = next(found.batches(7, shards=[1]))
        assert batch["observation"].shape == (7, *variant.encoding(encoding).shape)
        assert batch["observation"].dtype == batch["action_mask"].dtype == np.int8


def test_batches(made):
    found = Dataset(made)
    whole = next(found.batches(10**6))
    parts = list(found.batches(100))
    assert [len(part["game"]) for part in parts[:-1]] == [100] * (len(parts) - 1)
    for name in found.names:
        assert (np.concatenate([part[name] for part in parts]) == whole[name]).all()
        assert parts[0][name].flags.writeable or name not in ("observation", "action_mask", "action")
    mixed = list(found.batches(100, ("game", "decision", "observation"), shuffle=3))
    again = list(found.batches(100, ("game", "decision", "observation"), shuffle=3))
    rows = np.concatenate([part["observation"] for part in mixed])
    assert (rows == np.concatenate([part["observation"] for part in again])).all()
    key = np.concatenate([1000 * part["game"] + part["decision"] for part in mixed])
    assert (key != np.sort(key)).any()
    assert (np.sort(key) == 1000 * whole["game"] + whole["decision"]).all()
    assert (rows[np.argsort(key)] == whole["observation"]).all()
    held_out = np.concatenate([part["game"] for part in found.batches(64, shards=[2])])
    assert set(held_out.tolist()) == set(range(20, 25))
    tensors = next(found.torch_batches(8))
    assert tensors["action"].dtype == torch.int64 and tensors["observation"].dtype == torch.int8
    for wrong, text in (
        ({"columns": ["move"]}, "there is no column 'move'; there are game, decision"),
        ({"columns": []}, "columns must name one at least of game, decision"),
        ({"batch_size": 0}, "batch_size must be 1 or more"),
        ({"shards": [3]}, "shards must be 0 to 2, not 3"),
        ({"shards": []}, "shards must name one at least of 0 to 2"),
        ({"shuffle": -1}, "the seed of the order, must be from 0"),
    ):
        with pytest.raises(ValueError, match=text):
            found.batches(**{"batch_size": 5} | wrong).__next__()
    with pytest.raises(TypeError, match="the seed of the order, must be an integer, not False"):
        found.batches(5, shuffle=False)
    with pytest.raises(TypeError, match=r"such as \('action',\), not one text"):
        next(found.batches(5, "action"))
    with pytest.raises(TypeError, match=r"a game's number must be an integer, not 1\.5"):
        found.record(1.5)


def test_what_was_changed_is_found(made, tmp_path):
    import pyarrow.parquet as pq

    folder = copy(made, tmp_path / "forged")
    path = folder / "games-00001.parquet"
    table = pq.read_table(path)
    actions = table["action"].to_numpy().copy()
    actions[7] = 1 - actions[7] if actions[7] < 2 else 0
    forged = table.set_column(4, table.schema.field("action"), [actions])
    pq.write_table(forged.replace_schema_metadata(table.schema.metadata), path)
    with pytest.raises(ValueError, match=r"games-00001\.parquet is damaged: its checksum"):
        Dataset(folder).verify()
    with pytest.raises(ValueError, match=r"games-00001\.parquet is damaged: its checksum"):
        list(Dataset(folder).batches(64))  # columns and rows are as they should be
    assert len(list(Dataset(folder).batches(64, shards=[0])))
    (folder / "games-00002.txt").write_bytes((folder / "games-00002.txt").read_bytes().replace(b"greedy", b"GREEDY"))
    with pytest.raises(ValueError, match=r"games-00002\.txt is damaged: its checksum"):
        Dataset(folder).record(20)
    (folder / "games-00002.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"lacks .*games-00002\.txt"):
        Dataset(folder)
    (folder / "games-00002.txt").write_bytes((made / "games-00002.txt").read_bytes())
    manifest = json.loads((folder / "dataset.json").read_text())
    manifest["shards"]["1"]["parquet"] = digest(path)
    (folder / "dataset.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=r"game 10, decision 7: action is not what the record leads to"):
        Dataset(folder).verify()


def test_damaged_or_foreign_files_are_refused_in_one_line(made, tmp_path):
    def refused(name, change, text, kind=ValueError):
        folder = copy(made, tmp_path / f"copy{len(list(tmp_path.iterdir()))}")
        change(folder / name)
        with pytest.raises(kind) as error:
            Dataset(folder).verify()
        told = str(error.value)
        assert text in told and len(told) < 300 and "\n" not in told, told

    def cut(path):
        path.write_bytes(path.read_bytes()[:-100])

    def other_shard(path):
        path.write_bytes((path.parent / "games-00000.parquet").read_bytes())

    def edit(old, new):
        return lambda path: path.write_text(path.read_text().replace(old, new))

    refused("games-00001.parquet", cut, "games-00001.parquet is damaged")
    refused("games-00001.parquet", other_shard, "is of another dataset")
    refused("games-00001.parquet", Path.unlink, "the dataset lacks", FileNotFoundError)
    refused("games-00001.parquet", lambda path: path.write_text("PAR1"), "is damaged")
    refused("games-00002.txt", cut, "its checksum is not the one")
    refused("games-00002.txt", Path.unlink, "the dataset lacks", FileNotFoundError)
    refused("dataset.json", Path.unlink, "there is no dataset", FileNotFoundError)
    refused("dataset.json", cut, "is damaged")
    refused("dataset.json", edit("dataset 1", "dataset 9"), "is no dataset of this format")
    refused("dataset.json", edit("players=2", "players=3"), "is damaged or foreign")
    refused("dataset.json", edit('"games": 25', '"games": 35'), "is not finished: 25 of 35")
    refused("dataset.json", edit(layout_hash(parse_variant("samurai"), "flat"), "0" * 16), "another layout")


def test_impossible_settings(made, tmp_path):
    for changes, text in (
        ({"agents": ("greedy", "random", "greedy")}, "one for each of 2 seats, not 3"),
        ({"agents": ("gredy",)}, "did you mean 'greedy'"),
        ({"games": 0}, "--games must be from 1"),
        ({"encoding": "raw"}, "has no encoding 'raw'"),
        (
            {"games": 100_000, "shard_games": 1},
            "100,000 games make 100,000 shards, more than 50,000: raise --shard-games",
        ),
        ({"output": made, "seed": 2}, "has seed 1, not 2: choose another --output"),
        ({"output": made, "agents": ("greedy",)}, "choose another --output"),
        ({"output": made, "games": 3}, "has 25 games"),
    ):
        with pytest.raises(ValueError, match=text):
            dataset.make(
                settings(
                    **{"folder": tmp_path}
                    | {k: v for k, v in changes.items() if k != "output"}
                    | ({"folder": changes["output"]} if "output" in changes else {})
                ),
                QUIET,
            )
    (tmp_path / "games-00000.txt").write_text("")
    with pytest.raises(ValueError, match=r"holds games-00000\.txt but no dataset\.json"):
        dataset.make(settings(tmp_path), QUIET)


def test_best_is_the_agent_that_it_stands_for(tmp_path, monkeypatch):
    """A dataset goes on with the agents that began it, whatever is best by then."""
    monkeypatch.setattr(dataset, "named", lambda spec, variant: "random" if spec == "best" else spec)
    begun = dataset.make(settings(tmp_path, agents=("best",), games=2, shard_games=1), QUIET)
    assert begun.origin.agents == ("random", "random")
    monkeypatch.setattr(dataset, "named", lambda spec, variant: "greedy" if spec == "best" else spec)
    with pytest.raises(ValueError, match=r"has agents .*random.*, not .*greedy.*: choose another --output"):
        dataset.make(settings(tmp_path, agents=("best",), games=3, shard_games=1), QUIET)


def test_without_pyarrow_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"needs pyarrow: pip install pyarrow"):
        dataset.main(settings(tmp_path / "none"))
    assert os.listdir(tmp_path) == []


def test_minari_has_an_episode_for_each_seat(made, tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    from experiments.datasets.minari_export import export

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    found, written = Dataset(made), export(Dataset(made), "samurai/mixed-v0")
    assert (written.total_episodes, written.total_steps) == (50, found.decisions)
    read = minari.load_dataset("samurai/mixed-v0")
    assert read.observation_space["action_mask"].shape == (141,)
    for episode in read.iterate_episodes([0, 1, 49]):
        game, seat = divmod(episode.id, 2)
        record = found.record(game)
        before = [position for position in record.replay() if not position.over and position.seat == seat]
        assert episode.actions.tolist() == [a for p, a in zip(record.replay(), record.actions) if p.seat == seat]
        seen = np.stack([position.observe(seat) for position in [*before, record.position]])
        assert (episode.observations["observation"] == seen).all()
        assert (episode.observations["action_mask"][-1] == 0).all()
        assert episode.rewards.sum() == episode.rewards[-1] == record.position.returns()[seat]
        assert episode.terminations.tolist() == [False] * (len(before) - 1) + [True]
    with pytest.raises(ValueError, match="already exists") as error:
        export(found, "samurai/mixed-v0")
    assert "\n" not in str(error.value)
    assert minari.load_dataset("samurai/mixed-v0").total_episodes == 50


@pytest.mark.parametrize("shard", [0, 2])
def test_nothing_is_left_of_an_export_that_was_interrupted(made, tmp_path, monkeypatch, shard):
    minari = pytest.importorskip("minari")
    from experiments.datasets import minari_export

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    from minari.dataset._storages.arrow_storage import ArrowStorage

    found, update, calls = Dataset(made), ArrowStorage.update_episodes, []

    def interrupted(storage, episodes):
        calls.append(1)
        update(storage, list(episodes)[:3] if len(calls) > shard else episodes)
        if len(calls) > shard:
            raise KeyboardInterrupt

    monkeypatch.setattr(ArrowStorage, "update_episodes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        minari_export.export(found, "samurai/mixed-v0")
    assert not minari.list_local_datasets()
    monkeypatch.undo()
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    assert minari_export.export(found, "samurai/mixed-v0").total_episodes == 50
