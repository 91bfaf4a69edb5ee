"""Files from strangers: read within limits, and refused in one short line that says what is wrong."""

import hashlib
import json
import time
from pathlib import Path

import numpy as np
import pytest

from agents.networks.config import NetworkConfig
from agents.networks.network import PolicyValueNet
from agents.networks.network_files import load_network, save_network
from agents.registry import make_agent
from experiments.action_gaps import ActionGaps
from experiments.action_gaps import Config as ActionGapsConfig
from experiments.benchmark.page import pages
from experiments.common.provenance import RESULTS, ROOT
from experiments.distill_rollouts import load_positions
from experiments.evaluation.cooperative_results import CooperativeResults
from experiments.evaluation.matchups import Results
from experiments.search_variants import KeptSpecs
from experiments.strong_play.play import Measured
from samurai_env import make_variant, parse_variant
from samurai_env.core.texts import listed, one_line, shown
from samurai_env.files.json_reader import DEEPEST, MOST, parse_json, read_json
from samurai_env.game_record import GameRecord, RecordError
from samurai_env.games.card.rules.card_lists import load_cards
from samurai_env.position import MAGIC, Position
from tests.torture.readers import GAINS, Readers, spoiled, trial

# ---------------------------------------------------------------- texts


@pytest.mark.parametrize(
    "value",
    ["x" * 10**6, b"x" * 10**6, 10**6000, ["x" * 10**6] * 3, list(range(10**5)), "a\nb\u2028\ud800", np.eye(9)],
    ids=lambda value: type(value).__name__,
)
def test_values_are_shown_on_one_short_line(value) -> None:
    text = shown(value)
    assert 0 < len(text) <= 60
    assert text.isprintable()
    assert len(one_line(text * 100)) <= 280
    assert len(listed([text] * 100)) <= 160


# ---------------------------------------------------------------- JSON


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[" * 100_000, f"nested more than {DEEPEST} deep"),
        (b'{"a":' * 100_000, f"nested more than {DEEPEST} deep"),
        (b"[" + b"[]," * MOST + b"[]]", "lists and objects"),
        (b'{"a": 1, "a": 2}', "the key 'a' is given twice"),
        (b"[NaN]", "NaN is no number"),
        (b"[-Infinity]", "Infinity is no number"),
        (b"[1e999]", "1e999 is no number"),
        (b"[" + b"9" * 5000 + b"]", r"999\.\.\. is no number"),
        (b"[1", "is not JSON: .* line 1, column 3"),
        (b'"\xff"', "not UTF-8 text: byte 1 is 0xff"),
        (b" " * 101, "more than 100 bytes"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_json_beyond_the_limits(data, message) -> None:
    with pytest.raises(ValueError, match=message) as found:
        parse_json(data, 100 if data.isspace() else 2**24)
    assert len(str(found.value)) < 150


def test_brackets_in_strings_do_not_count() -> None:
    text = '{"a": "' + "[" * 1000 + '\\"[", "b": [1, 0.5, null, true, "1e999"]}'
    assert parse_json(text.encode()) == json.loads(text)


# ---------------------------------------------------------------- networks


@pytest.fixture
def network(tmp_path) -> Path:
    path = tmp_path / "net.safetensors"
    save_network(PolicyValueNet(NetworkConfig(make_variant("samurai").spec, "flat", (8,))), path, {"steps": 1})
    return path


def change_card(path: Path, **changes: object) -> None:
    card = path.with_suffix(".json")
    card.write_text(json.dumps({**json.loads(card.read_text()), **changes}))


@pytest.mark.parametrize("hidden", [[6000, 6000], [65_536] * 256, [8, 8]], ids=len)
def test_shapes_are_compared_before_anything_is_built(network, hidden, monkeypatch) -> None:
    change_card(network, hidden=hidden)
    monkeypatch.setattr("agents.networks.network_files.load", None)
    began = time.process_time()
    with pytest.raises(ValueError, match=r"does not fit its card: tensor '.*' is .*, the card says"):
        load_network(network)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden": [10**6]}, r"`int` <= 65536 - at `\$.hidden"),
        ({"hidden": [1] * 10**5}, "`array` of length <= 256"),
        ({"shared": float("inf")}, "Infinity is no number"),
        ({"variant": "x" * 10**5}, "describes no network: a variant's spec may have at most"),
        ({"encoding": "x" * 10**5}, "describes no network: .* has no encoding"),
    ],
)
def test_cards_that_describe_no_network(network, changes, message) -> None:
    change_card(network, **changes)
    with pytest.raises(ValueError, match=message) as found:
        load_network(network)
    assert len(str(found.value)) < 300


def test_weights_carry_a_checksum(network) -> None:
    whole = network.read_bytes()
    network.write_bytes(whole[:-4] + bytes(4))
    with pytest.raises(ValueError, match="its checksum is another"):
        load_network(network)
    change_card(network, sha256=None)  # a card of before there was one
    assert load_network(network)


@pytest.mark.parametrize("path", sorted((ROOT / "weights").glob("*.safetensors")), ids=lambda path: path.stem)
def test_the_networks_of_the_project_carry_it(path) -> None:
    found = json.loads(path.with_suffix(".json").read_text())["sha256"]
    assert found == hashlib.sha256(path.read_bytes()).hexdigest()


# ---------------------------------------------------------------- results

BOARD = make_variant("samurai", 3).spec
SPIRIT = make_variant("samurai_spirit", 2).spec


def matchup(**changes: object) -> dict[str, object]:
    origin = {"command": "", "versions": {}, "deal_seeds": "", "networks": {}}
    good = {"one": "a", "others": "b", "commits": [], "machines": [], "seconds": [1.0, 2.0], "decisions": [3, 4]}
    return {"variant": BOARD, **origin, "matchups": [{**good, "shares": [[1, 0, 0.5], None], **changes}]}


THREE = {"others": ["b", "c"], "seconds": [1.0, 2.0, 3.0], "decisions": [3, 4, 5]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shares": [[1, 0]]}, "the matchup of 'a' has 2 win shares in deal 0, the game has 3"),
        ({"shares": [[1, 0, 3]]}, r"`float` <= 1.0 - at `\$.matchups\[0\].shares"),
        ({"shares": [[1, 0, float("nan")]]}, "NaN is no number"),
        ({"shares": [[0.5, 1 / 3, 0], [1, 0, 0.3]]}, "share of 0.3 in deal 1; possible are 0, 1 and, .* 1/2 or 1/3"),
        ({"shares": [[1, 0.25, 0]]}, "win share of 0.25 in deal 0"),
        ({"shares": [[1, 1e-300, 0]]}, "win share of 1e-300 in deal 0"),
        ({"shares": [[1, 0.999, 0]]}, "win share of 0.999 in deal 0"),
        ({"seconds": [1.0]}, "times or decisions of another number of agents than 2"),
        ({"others": ["b"]}, "`array` of length >= 2"),
        ({"others": ["b", "c", "d"]}, "the matchup of 'a' has 4 agents, the game has 3 seats"),
        ({"others": ["b", "c"]}, "times or decisions of another number of agents than 3"),
        (THREE, "has 3 win shares in deal 0, the game has 9"),
        ({**THREE, "shares": [[0, 0, 0, 1, 1, 1, 1, 1, 1]]}, "has a game in deal 0 with more or less than one win"),
        ({**THREE, "others": ["b", "b"]}, "the matchup of 'a' has an agent twice"),
        ({**THREE, "others": ["b", "a"]}, "the matchup of 'a' has an agent twice"),
        ({**THREE, "shares": [[1, 0.3, 0, 0, 0, 1, 0, 0, 0]]}, "win share of 0.3 in deal 0"),
        ({"seconds": [1.0, -1.0]}, "`float` >= 0.0"),
        ({"decisions": [1, "x"]}, "Expected `int`, got `str`"),
    ],
)
def test_forged_tournaments(tmp_path, changes, message) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(matchup()))
    assert Results(path).matchups["a", "b"].deals == {0: [1.0, 0.0, 0.5]}
    path.write_text(json.dumps(matchup(**changes)))
    with pytest.raises(ValueError, match=message) as found:
        Results(path)
    assert str(path) in str(found.value)
    twice = matchup()
    path.write_text(json.dumps({**twice, "matchups": twice["matchups"] * 2}))
    with pytest.raises(ValueError, match="the matchup of 'a' with 'b' stands there twice"):
        Results(path)
    all_three = matchup(**THREE, shares=[[1, 0, 0, 0, 1, 0, 0, 0, 1]])
    other_way = {**all_three["matchups"][0], "one": "b", "others": ["a", "c"]}
    path.write_text(json.dumps(all_three))
    assert list(Results(path).matchups) == [("a", "b", "c")]
    path.write_text(json.dumps({**all_three, "matchups": [*all_three["matchups"], other_way]}))
    with pytest.raises(ValueError, match="the matchup of 'b' with 'a, c' stands there twice"):
        Results(path)
    path.write_text(json.dumps({**all_three, "variant": "samurai_spirit players=3"}))
    with pytest.raises(ValueError, match=r"the matchup of 'a' has 3 agents; .* is cooperative"):
        Results(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chunks": {"0": [1.0, 0.0], "1": [1.0]}}, "'a' has game 1 in two chunks"),
        ({"chunks": {"0": [3.0]}}, "`float` <= 1.0"),
        ({"chunks": {"-1": [1.0]}}, "`int` >= 0"),
        ({"chunks": {"first": [1.0]}}, "Expected `int`, got `str`"),
        ({"variant": BOARD}, "which is not cooperative"),
        ({"ends": {"0": {"won": 1, "lost": 2}}}, "'a' has 3 ends of the 2 games from 0 on"),
        ({"ends": {"7": {"won": 1}}}, "'a' has 1 ends of the 0 games from 7 on"),
    ],
)
def test_forged_victories(tmp_path, changes, message) -> None:
    path = tmp_path / "wins.json"
    good = {"agent": "a", "variant": SPIRIT, "commits": [], "machines": [], "chunks": {"0": [1.0, 0.0], "2": [1.0]}}
    path.write_text(json.dumps({"networks": {}, "returns": [good]}))
    assert CooperativeResults(path).returns["a", SPIRIT] == {0: [1.0, 0.0], 2: [1.0]}
    path.write_text(json.dumps({"networks": {}, "returns": [{**good, **changes}]}))
    with pytest.raises(ValueError, match=message) as found:
        CooperativeResults(path)
    assert str(path) in str(found.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"worths": [[1, 2, 3.0]]}, "`float` <= 1.0"),
        ({"worths": [[1, 2, 0.5], [1, 2, 1.0]]}, "the return of a choice twice"),
        ({"worths": [[9, 2, 0.5]]}, "position or action that is none"),
        ({"choices": {"greedy": [1] * 5, "random": []}}, "more than there are positions"),
        ({"choices": {"greedy": [10**6], "random": []}}, "an action that is none"),
        ({"seconds": {}}, "its seconds are not of the agents"),
        ({"seconds": {"greedy": float("inf"), "random": 0.1}}, "Infinity is no number"),
        ({"positions": 10**18}, "was measured with positions 1000000000000000000"),
    ],
)
def test_forged_gains(tmp_path, changes, message) -> None:
    config = ActionGapsConfig(positions=4, games=2, output=tmp_path)
    (tmp_path / "gains.json").write_bytes(GAINS)
    assert ActionGaps(config, make_variant("samurai")).mean_returns == {(1, 2): 0.5, (1, 3): -1.0}
    (tmp_path / "gains.json").write_text(json.dumps({**json.loads(GAINS), **changes}))
    with pytest.raises(ValueError, match=message):
        ActionGaps(config, make_variant("samurai"))


@pytest.mark.parametrize("content", [b"[" * 10**5, b"{}", b"[]", b"\xff", b'{"specs": 3}', b""], ids=len)
def test_damaged_files_are_refused_with_their_names(tmp_path, content) -> None:
    path = tmp_path / "damaged"
    path.write_bytes(content)
    for read in (
        Results,
        CooperativeResults,
        load_positions,
        lambda p: read_json(p, KeptSpecs),
        lambda p: read_json(p, Measured),
        lambda p: load_cards(p, "new"),
    ):
        with pytest.raises(ValueError, match="damaged") as found:
            read(path)
        assert len(str(found.value)) < 300


def test_all_results_of_the_project_are_read() -> None:
    assert all(Results(path).matchups for path in RESULTS.glob("*/results.json"))
    assert all(CooperativeResults(path).returns for path in RESULTS.glob("*/wins.json"))
    assert all(read_json(path, KeptSpecs).specs for path in RESULTS.glob("*/specs.json"))


@pytest.mark.parametrize("median", [0.0, -1.0, 1e-30, 1e30])
def test_measurements_that_nobody_can_have_made(tmp_path, median) -> None:
    found = json.loads((RESULTS / "peers.json").read_text())
    found["rows"][-1]["figure"]["median"] = median
    (tmp_path / "peers.json").write_text(json.dumps(found))
    with pytest.raises(ValueError, match=r"peers.json is damaged: a figure must be from 1e-12 to .* - at `\$\.rows"):
        pages(tmp_path)


# ---------------------------------------------------------------- records, positions, specs


@pytest.mark.parametrize(
    "text",
    ["x" * 2 * 10**6, "samurai_env game record " + "9" * 5000, "samurai_env game record 1\n" + "x" * 10**5],
    ids=len,
)
def test_refusals_of_records_are_short(text, tmp_path) -> None:
    (tmp_path / "game.txt").write_text(text)
    for read in (lambda: GameRecord.parse(text), lambda: GameRecord.load(tmp_path / "game.txt")):
        with pytest.raises(RecordError) as found:
            read()
        assert len(str(found.value)) < 300


@pytest.mark.parametrize(
    "spec", [b"\xff", b"x" * 10**6, b"samurai players=" + b"9" * 5000, "samurai players=²".encode()], ids=len
)
def test_refusals_of_specs_are_short(spec) -> None:
    body = MAGIC + spec + b"\n"
    with pytest.raises(ValueError) as found:
        Position.restore(body + hashlib.blake2b(body, digest_size=16).digest())
    assert len(str(found.value)) < 300
    for read in (parse_variant, lambda text: make_agent(text, make_variant("samurai"))):
        with pytest.raises(ValueError) as found:
            read(spec.decode(errors="replace"))
        assert len(str(found.value)) < 300


@pytest.mark.parametrize(
    "spec", ["ppo:" + "x" * 400, "a" * 300 + ".Name", "greedy:" + "x" * 4000, "mcts:" + "9" * 4000]
)
def test_refusals_of_agents_are_short(spec) -> None:
    with pytest.raises((ValueError, OSError)) as found:
        make_agent(spec, make_variant("samurai"))
    assert len(str(found.value)) < 300


# ---------------------------------------------------------------- the campaign, in small


@pytest.mark.parametrize(
    "name",
    ["results", "wins", "specs", "gains", "bench", "strong play", "cards", "boards", "arrays", "variant"],
)
def test_spoiled_files_end_in_an_object_or_a_line(name, tmp_path) -> None:
    reader = Readers(tmp_path)[name]
    for data in reader.valid:
        reader.read(data)
    taken = [trial(reader, spoiled(reader, name, 7, number)) for number in range(12)]
    assert not all(taken)
