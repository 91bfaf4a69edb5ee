"""Learned values of leaves: what they read, what they compute, blind in a search, and refused where they do not fit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from agents.heuristics import prior_temperature
from agents.leaf_values import LeafValue, bound, describe_positions, make_leaf_value, shapes
from agents.networks.leaf_value_files import load_leaf_value, save_leaf_value
from agents.registry import make_agent
from experiments.common.array_files import load_arrays, save_arrays
from experiments.training.leaf_value import lookahead
from experiments.training.leaf_value.games import play, play_own
from experiments.training.leaf_value.learn import Config, learn
from experiments.training.leaf_value.lookahead import Settings
from experiments.training.leaf_value.net import FORMS
from samurai_env import make_variant, parse_variant
from samurai_env.core.game import Variant
from samurai_env.games import standings
from samurai_env.games.board.heuristics.value import expect_figures
from samurai_env.games.board.rules import tiles as board_tiles
from samurai_env.games.card.heuristics.value import expect_stones
from samurai_env.games.card.rules import cards
from tests.agents.small_networks import check_refusals, check_search
from tests.agents.test_agents import positions
from tests.mini.game import GAME as MINI

COMPETITIVE = [("samurai", 2), ("samurai", 4), ("samurai_card", 3)]
TABLES = [*COMPETITIVE, ("samurai_spirit", 4)]
FIGURES = {"samurai": "captured", "samurai_card": "stones"}


def random_weights(variant: Variant, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        name: (0.3 * rng.standard_normal(shape)).astype(np.float16).astype(np.float32)  # as files have them
        for name, shape in shapes(variant, (8, 4)).items()
    }


def mean_log_likelihood(value: LeafValue, positions: dict[str, np.ndarray]) -> float:
    """Of the winners, by plain NumPy."""
    hidden = np.maximum(positions["features"].astype(np.float32) @ value.first + value.first_bias, 0)
    scores = np.maximum(hidden @ value.second + value.second_bias, 0) @ value.third
    if scores.shape[1] == 1:  # a cooperative game is won or lost
        scores = np.append(scores, np.zeros_like(scores), 1)
    chances = np.exp(scores - scores.max(1, keepdims=True))
    return float((positions["won"] * np.log(chances / chances.sum(1, keepdims=True))).sum(1).mean())


@pytest.mark.parametrize(("game", "players"), COMPETITIVE)
def test_features_tell_who_stands_how(game: str, players: int) -> None:
    variant = make_variant(game, players)
    states = positions(variant, 40, 60)
    features, guesses = describe_positions(variant, states)
    assert features.shape == (40, players, len(variant.game.value_columns))
    assert np.isfinite(features).all()
    assert guesses.sum(1) == pytest.approx(np.zeros(40), abs=1e-9)
    taken = states[FIGURES[game]].astype(np.float32)
    assert (features[:, :, standings.TAKEN : standings.TAKEN + 3] == taken).all()
    names = variant.game.value_columns
    first_in_hand = next(column for column, name in enumerate(names) if name.endswith(" in hand"))
    for i in range(40):
        expected = np.zeros((players, 3))
        (expect_figures if game == "samurai" else expect_stones)(states[i], expected)
        assert features[i, :, standings.EXPECTED : standings.EXPECTED + 3] == pytest.approx(expected, abs=1e-4)
        for seat in range(players):
            others = np.delete(taken[i], seat, axis=0)
            row = features[i, seat]
            assert (row[standings.LEAD : standings.LEAD + 3] == taken[i, seat] - others.max(0)).all()
            assert row[standings.LEADS] == (row[standings.EXPECTED_LEAD : standings.EXPECTED_LEAD + 3] > 0).sum()
            turn = row[standings.TURN : standings.TURN + 4]
            assert (turn == np.eye(4)[(seat - int(states["seat"][i])) % players]).all()
            hand = states["hand"][i, seat]
            assert (row[first_in_hand : first_in_hand + len(hand)] == hand).all()
    assert len(np.unique(features, axis=0)) == 40


@pytest.mark.parametrize(("game", "chosen"), [("samurai", "tile"), ("samurai_card", "card")])
def test_features_tell_what_has_been_chosen_and_not_placed(game: str, chosen: str) -> None:
    variant = make_variant(game, 2)
    states = positions(variant, 200, 40)
    placing = states[states[chosen] >= 0]
    assert len(placing) > 20
    names, seats = variant.game.value_columns, placing["seat"].astype(int)
    first = names.index(f"strength of the chosen {chosen}, kind 0")
    rows = describe_positions(variant, placing)[0][np.arange(len(placing)), seats, first : first + 3]
    strength = board_tiles.STRENGTH if game == "samurai" else cards.STRENGTH
    assert (rows == strength[placing[chosen]]).all()
    idle = states[states[chosen] < 0]
    assert (describe_positions(variant, idle)[0][:, :, first : first + 3] == 0).all()


@pytest.mark.parametrize(
    "spec", ["samurai_spirit players=1", "samurai_spirit players=2 two_player_rules=on", "samurai_spirit players=7"]
)
def test_features_of_a_cooperative_game_tell_how_it_stands(spec: str) -> None:
    variant = parse_variant(spec)
    states = positions(variant, 60, 40)
    features, guesses = describe_positions(variant, states)
    names, n = variant.game.value_columns, variant.num_players
    assert features.shape == (60, 1, len(names))
    assert len(set(names)) == len(names)
    rows = dict(zip(names, features[:, 0].T, strict=True))
    assert 1 / (1 + np.exp(-rows["log odds"])) == pytest.approx(guesses[:, 0], abs=1e-5)
    assert (rows["barricades 0"] == states["barricades"]).all()
    for player in range(n):
        seat = (states["seat"] + player) % n
        assert (rows[f"wounded {player}"] == states["wounded"][np.arange(60), seat]).all()
        room = rows[f"kiai {player}"] - states["total"][np.arange(60), seat]
        for k in range(14):
            assert (rows[f"room {k}, player {player}"] == (room == k)).all() or k == 13
    empty = [name for name in names if name.endswith(f"player {n}")] if n < 7 else []
    assert all((rows[name] == 0).all() for name in empty)
    shares = np.array([rows[f"unseen of value {value}"] for value in range(7)])
    assert shares.sum(0) == pytest.approx(np.ones(60), abs=1e-5)
    assert len(np.unique(features, axis=0)) > 55


@pytest.mark.parametrize(("game", "players"), COMPETITIVE)
def test_a_leaf_value_is_a_softmax_of_two_layers(game: str, players: int) -> None:
    variant = make_variant(game, players)
    states, weights = positions(variant, 20, 50), random_weights(variant)
    value, kernel, found = make_leaf_value(variant, weights), bound(variant.game), np.zeros(players)
    for i, rows in enumerate(describe_positions(variant, states)[0]):
        kernel(states[i], value, found)
        hidden = np.maximum(rows @ weights["first"] + weights["first_bias"], 0)
        scores = np.maximum(hidden @ weights["second"] + weights["second_bias"], 0) @ weights["third"]
        chances = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
        assert found == pytest.approx((players * chances - 1) / (players - 1), abs=1e-4)


def test_a_leaf_value_of_a_cooperative_game_is_the_chance_to_win_of_all() -> None:
    variant = make_variant("samurai_spirit", 3)
    states, weights = positions(variant, 20, 50), random_weights(variant)
    value, kernel, found = make_leaf_value(variant, weights), bound(variant.game), np.zeros(3)
    for i, (row,) in enumerate(describe_positions(variant, states)[0]):
        kernel(states[i], value, found)
        hidden = np.maximum(row @ weights["first"] + weights["first_bias"], 0)
        score = np.maximum(hidden @ weights["second"] + weights["second_bias"], 0) @ weights["third"]
        assert found == pytest.approx(np.full(3, 1 / (1 + np.exp(-score))), abs=1e-4)


@pytest.mark.parametrize(("game", "players"), TABLES)
@pytest.mark.parametrize("spec", ["mcts:30", "mcts:20,determinizations=4", "mcts:30,rollout_depth=4,rollout_greedy=1"])
def test_a_search_with_a_leaf_value_is_legal_repeatable_and_blind(game: str, players: int, spec: str, tmp_path) -> None:
    variant = make_variant(game, players)
    save_leaf_value(variant, random_weights(variant), tmp_path / "value.safetensors", {})
    check_search(variant, f"{spec},value={tmp_path / 'value'}", spec)


def test_a_search_with_a_network_and_a_leaf_value_is_blind(tmp_path) -> None:
    variant = make_variant("samurai", 2)
    save_leaf_value(variant, random_weights(variant), tmp_path / "value.safetensors", {})
    spec = "puct:40,net=weights/samurai-2,rollout_weight=0.5,rollout_depth=4,net_visits=3"
    check_search(variant, f"{spec},value={tmp_path / 'value'}", spec, 6)


def test_files_that_are_no_leaf_value_for_this_game(tmp_path) -> None:
    variant, path = make_variant("samurai", 2), tmp_path / "value.safetensors"
    with pytest.raises(FileNotFoundError, match="there is no leaf value at "):
        load_leaf_value(path, variant)
    with pytest.raises(ValueError, match="card of a leaf value"):
        load_leaf_value(Path("weights/beliefs/samurai-2"), variant)
    weights = random_weights(variant)
    save_leaf_value(variant, weights, path, {"how": "by chance"})
    loaded = load_leaf_value(tmp_path / "value", variant)
    assert all((getattr(loaded, name) == tensor).all() for name, tensor in weights.items())
    changes = [
        ({"hidden": [8, 5]}, r"does not fit its card: tensor 'second' is \(8, 4\), the card says \(8, 5\)"),
        ({"hidden": [8, 0]}, "describes no leaf value"),
        ({"hidden": [8]}, "describes no leaf value"),
        ({"variant": "samurai_spirit players=2"}, "describes no leaf value"),
        ({"columns": "0123456789abcdef"}, "it reads columns '0123456789abcdef', this version writes"),
    ]
    check_refusals(load_leaf_value, path, variant, "leaf value", changes)
    weights["first_bias"][0] = np.nan
    save_leaf_value(variant, weights, path, {})
    with pytest.raises(ValueError, match="numbers that are not finite"):
        load_leaf_value(path, variant)


def test_settings_that_do_not_go_together() -> None:
    board = make_variant("samurai")
    with pytest.raises(ValueError, match="value has no effect on rollouts to the end"):
        make_agent("mcts:10,rollout_depth=-1,value=x", board)
    with pytest.raises(ValueError, match="value has no effect here"):
        make_agent("puct:10,net=weights/samurai-2,value=x", board)
    with pytest.raises(FileNotFoundError, match="there is no leaf value at nowhere"):
        make_agent("mcts:10,value=nowhere", board)
    with pytest.raises(ValueError, match="has no value features"):
        shapes(MINI.variant(2), (8, 4))


def test_learning_knows_more_than_the_heuristic_value_and_resumes(tmp_path, capsys) -> None:
    config = Config(run=tmp_path, game="samurai players=3", deals=3072, share=0.05, epochs=3, processes=1)
    path = learn(config, Console())
    first, text = path.read_bytes(), " ".join(capsys.readouterr().out.split())
    found, guessed = (
        float(text.split(f"{words} ")[1].split(",")[0]) for words in ("of the winners", "heuristic value")
    )
    assert found > guessed > -np.log(3)
    value, held_out = (
        load_leaf_value(path, make_variant("samurai", 3)),
        load_arrays(tmp_path / "positions-00000.npz", FORMS),
    )
    assert mean_log_likelihood(value, held_out) == pytest.approx(found, abs=2e-3)
    (tmp_path / "positions-00001.npz").unlink()
    assert learn(config, Console(quiet=True)).read_bytes() == first


@pytest.mark.parametrize(("game", "players"), [("samurai_card", 2), ("samurai_spirit", 2)])
def test_targets_of_own_games_are_lambda_returns(game: str, players: int) -> None:
    variant, seeds = make_variant(game, players), np.arange(3, dtype=np.uint64)
    value = make_leaf_value(variant, random_weights(variant))

    def play_out(trace: float, random: float = 0.0, weight: float = 0.5, share: float = 1.0):
        temperature = prior_temperature(variant, logits_only=True)
        return lookahead.play(variant, value, seeds, Settings(2, weight, temperature, random, trace, share), 7)

    states, ended, ends = play_out(1.0)
    assert set(ends.ravel()) <= ({0.0, 1.0} if variant.game.cooperative else {-1.0, 0.0, 1.0})
    last = np.append(states["steps"][1:] <= states["steps"][:-1], True)
    deal = np.cumsum(last) - last
    assert deal[-1] == 2
    assert ended == pytest.approx(ends[deal])
    expected, mixed = play_out(0.0)[1], play_out(0.7)[1]
    after = np.where(last[:, None], ends[deal], np.roll(mixed, -1, 0))
    assert mixed == pytest.approx(0.3 * expected + 0.7 * after)
    assert (expected.std(0) > 0).all()
    strayed, found, ends = play_out(1.0, random=0.5)
    assert not np.allclose(found[strayed["steps"] == 0], ends)
    assert len(play_out(1.0, weight=100.0)[0]) != len(states)  # the value has a say
    assert 0 < len(play_out(1.0, share=0.3)[0]) < 0.5 * len(states)


def test_no_position_of_many_long_games_is_left_out() -> None:
    variant, seeds = make_variant("samurai_spirit", 7), np.arange(240, dtype=np.uint64)
    value = make_leaf_value(variant, random_weights(variant))
    states, targets, ends = lookahead.play(variant, value, seeds, Settings(1, 0.0, 1.0, 0.0, 0.9, 1.0), 7)
    assert len(states) == len(targets) > 50_000
    assert set(states["seed"]) == set(seeds)
    assert len(ends) == len(seeds)


def test_too_small_a_share_and_too_large_a_file_are_refused(tmp_path) -> None:
    config = Config(run=tmp_path, game="samurai_card players=2", deals=1024, share=1e-6, processes=1)
    with pytest.raises(ValueError, match="0 positions to learn from, 0 held out: use a larger --share or more deals"):
        learn(config, Console(quiet=True))
    with pytest.raises(ValueError, match=r"--share must be above 0, at most 0.4, not 0.5"):
        learn(replace(config, share=0.5), Console(quiet=True))
    with pytest.raises(ValueError, match=r"big.npz: array numbers has 134,217,728 bytes, at most 134,152,192 are read"):
        save_arrays(tmp_path / "big.npz", {"numbers": np.zeros(2**27, np.uint8)})
    assert not (tmp_path / "big.npz").exists()


def test_learning_from_own_games_in_a_cooperative_game_resumes(tmp_path, capsys) -> None:
    config = Config(run=tmp_path, game="samurai_spirit players=2", deals=2048, epochs=3, processes=1)
    config = replace(config, generations=2, own_deals=1024)
    path, text = learn(config, Console()), " ".join(capsys.readouterr().out.split())
    found, constant = (float(text.split(f"{words} ")[1].split()[0].strip(",")) for words in ("winners", "seat wins"))
    assert found > constant
    assert "generation 1: mean returns [0." in text
    assert load_leaf_value(path, parse_variant("samurai_spirit players=2 difficulty=hard")).features.shape[0] == 1
    first = path.read_bytes()
    (tmp_path / "generation-001" / "positions-00001.npz").unlink()
    assert learn(config, Console(quiet=True)).read_bytes() == first
    with pytest.raises(ValueError, match="choose another --run"):
        learn(replace(config, trace=0.5), Console(quiet=True))
    config = replace(config, run=tmp_path / "few", own_share=1e-6)
    with pytest.raises(ValueError, match="0 positions to learn from, 0 held out: use a larger --own-share or more"):
        learn(config, Console(quiet=True))


def test_the_shipped_leaf_value_of_a_cooperative_game_knows_more_about_its_own_games() -> None:
    variant, path = parse_variant("samurai_spirit players=4 difficulty=normal"), "weights/leaf_values/samurai_spirit-4"
    settings = Settings(2, 0.5, prior_temperature(variant, logits_only=True), 0.0, 1.0, 0.05)
    found = play_own((variant.spec, path, settings, 0, 0, 99))
    guessed = (found["won"] * np.log(found["guessed"])).sum(1).mean()
    assert mean_log_likelihood(load_leaf_value(Path(path), variant), found) > guessed + 0.01
    assert found["returns"][0] > 0.17  # `greedy` wins 16.7 %


@pytest.mark.parametrize("name", [f"{game}-{players}" for game in FIGURES for players in (2, 3, 4)])
def test_a_shipped_leaf_value_knows_more_than_the_heuristic_value(name: str) -> None:
    game, players = name.split("-")
    variant = make_variant(game, int(players))
    agents = ("greedy_tuned",) if variant.game.kernels.tuned_policy else ("greedy",)
    found = play((variant.spec, agents, 0.05, 0.03, 0, 99))
    value = load_leaf_value(Path("weights/leaf_values") / name, variant)
    guessed = (found["won"] * np.log(found["guessed"])).sum(1).mean()
    assert mean_log_likelihood(value, found) > guessed + 0.01
