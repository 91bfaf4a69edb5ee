"""OpenSpiel loads every variant, its own tests pass, and its solvers and searches run."""

import pickle
import random

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import ismcts, mcts

from samurai_env import Position, make_variant
from samurai_env.adapters import open_spiel
from samurai_env.core import game as registry
from samurai_env.core.game import find_game, game_names, register_game
from tests.common.variants import every_variant, label, readings, some_variants
from tests.mini.deals import all_deals
from tests.mini.game import GAME as MINI

SOME = pytest.mark.parametrize("variant", some_variants(), ids=label)


# Who begins is drawn, who sits where is chosen, and the other readings of the rules.
RARE = [
    make_variant("samurai", 3, edition="1998", first="random", ending="at_once", token_exchange="any"),
    make_variant("samurai_card", 4, first="random"),
    make_variant("samurai_spirit", 3, first="random", samurai=("Daisuke", "Gorobei", "Kikuchiyo")),
]


def load(variant) -> pyspiel.Game:
    """A variant by its name and parameters as text, as users write it."""
    options = {name: variant.game.options[name].text(value) for name, value in variant.option_items}
    if options["first"] == "random":
        options["first"] = "-1"
    parameters = {"players": str(variant.num_players), **options}
    text = ",".join(f"{name}={value.replace(',', '+')}" for name, value in parameters.items())
    return pyspiel.load_game(f"{variant.game.name}({text})")


def test_every_variant_loads() -> None:
    others = [variant for name in game_names() for variant in readings(find_game(name))]
    for variant in [*every_variant(), *others, *RARE]:
        game = load(variant)
        assert open_spiel.load(variant).variant == variant
        assert game.variant == variant
        assert game.num_players() == variant.num_players
        assert game.num_distinct_actions() == variant.num_actions
        assert game.max_game_length() == variant.max_steps
        assert pyspiel.load_game(str(game)).variant == variant


def test_the_first_seat_is_drawn() -> None:
    game, variant = pyspiel.load_game("samurai(players=4,first=-1)"), make_variant("samurai", 4, first="random")
    begin = [open_spiel.with_seed(game, seed).current_player() for seed in range(20)]
    assert begin == [Position(variant, seed).seat for seed in range(20)]
    assert set(begin) == {0, 1, 2, 3}


def test_an_impossible_parameter_is_named() -> None:
    with pytest.raises(ValueError, match="option first of Samurai must be "):
        pyspiel.load_game("samurai(first=-2)")
    with pytest.raises(ValueError, match="edition of Samurai must be one of 1998, 2016, not '1066'"):
        pyspiel.load_game("samurai(edition=1066)")


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(
        ValueError, match="samurai is known to OpenSpiel already, so it cannot be given a list of deals"
    ):
        open_spiel.register("samurai", all_deals)
    game, other = open_spiel.load(make_variant("samurai", 2)), Position(make_variant("samurai", 3), 1)
    with pytest.raises(ValueError, match=r"the position is of samurai players=3 .*, the game is samurai players=2"):
        open_spiel.at_position(game, other)


def test_utilities_have_tight_bounds() -> None:
    bounds = [("samurai", 2, -1.0), ("samurai", 3, -0.5), ("samurai_card", 4, -1 / 3), ("samurai_spirit", 4, 0.0)]
    for name, players, least in bounds:
        assert open_spiel.load(make_variant(name, players)).min_utility() == pytest.approx(least)


@pytest.mark.parametrize("variant", [*some_variants(), *RARE], ids=label)
def test_its_own_test(variant) -> None:
    pyspiel.random_sim_test(load(variant), 1, True, False)


@SOME
def test_a_seed_is_the_game_of_the_library(variant) -> None:
    game, rng = load(variant), random.Random(3)
    for seed in (0, 2**63 - 1):
        state, position = open_spiel.with_seed(game, seed), Position(variant, seed)
        while not state.is_terminal():
            assert state.current_player() == position.seat
            assert state.legal_actions() == position.legal_actions()
            tensor = np.array(state.observation_tensor(position.seat)).reshape(variant.encoding().shape)
            assert (tensor == position.observe(position.seat)).all()
            action = rng.choice(state.legal_actions())
            state.apply_action(action)
            position.step(action)
        assert position.over
        assert state.returns() == position.returns().tolist()


@SOME
def test_a_resampled_state_looks_the_same(variant) -> None:
    game, rng, differ = load(variant), random.Random(4), 0
    state = open_spiel.with_seed(game, 5)
    while not state.is_terminal():
        for seat in range(variant.num_players):
            other = state.resample_from_infostate(seat, rng.random)
            assert other.information_state_string(seat) == state.information_state_string(seat)
            assert other.observation_string(seat) == state.observation_string(seat)
            assert other.current_player() == state.current_player()
            differ += other.table.position.hash() != state.table.position.hash()
        # Goes on as any state does, and knows nothing of what the other seats have seen.
        other.apply_action(rng.choice(other.legal_actions()))
        state.apply_action(rng.choice(state.legal_actions()))
    assert differ


@SOME
def test_information_states_do_not_depend_on_when_they_are_asked_for(variant) -> None:
    asked, rng = open_spiel.with_seed(load(variant), 6), random.Random(5)
    silent = asked.clone()
    while not asked.is_terminal():
        told = [asked.information_state_string(seat) for seat in range(variant.num_players)]
        assert [asked.clone().information_state_string(seat) for seat in range(variant.num_players)] == told
        action = rng.choice(asked.legal_actions())
        asked.apply_action(action)
        silent.apply_action(action)
    for seat in range(variant.num_players):
        assert silent.information_state_string(seat) == asked.information_state_string(seat)
        assert pickle.loads(pickle.dumps(silent.table)).digest(seat) == asked.table.digest(seat)


def test_own_actions_are_remembered() -> None:
    """Two ways to the same position are two information states of the one who went them."""
    first = open_spiel.with_seed(pyspiel.load_game("samurai(first_hand=choose)"), 1)
    seat, (a, b, *_) = first.current_player(), first.legal_actions()
    second = first.clone()
    for state, actions in ((first, (a, b)), (second, (b, a))):
        for action in actions:
            state.apply_action(action)
    assert first.information_state_string(seat) != second.information_state_string(seat)


def test_search_plays() -> None:
    game = pyspiel.load_game("samurai_card")
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = ismcts.ISMCTSBot(game, evaluator, 1.4, 20, random_state=np.random.RandomState(2))
    state = open_spiel.with_seed(game, 7)
    for _ in range(5):
        state.apply_action(int(bot.step(state)))
    assert not state.is_terminal()


@pytest.fixture
def mini(monkeypatch: pytest.MonkeyPatch) -> pyspiel.Game:
    """Mini-Samurai with four deals, so that its tree is small."""
    monkeypatch.setattr(registry, "_loaders", dict(registry._loaders))
    register_game("mini", lambda: MINI)
    open_spiel.register("mini", lambda variant: all_deals(variant)[:: len(all_deals(variant)) // 3])
    return pyspiel.load_game("mini")


def test_exact_chance_and_a_solver(mini) -> None:
    outcomes = mini.new_initial_state().chance_outcomes()
    assert sum(chance for _, chance in outcomes) == pytest.approx(1)
    assert 3 <= len(outcomes) <= 4
    tree = pyspiel.convert_to_cached_tree(mini)  # each state is asked once
    solver = pyspiel.CFRPlusSolver(tree)
    values = []
    for _ in range(2):
        for _ in range(15):
            solver.evaluate_and_update_policy()
        values.append(pyspiel.nash_conv(tree, solver.average_policy()))
    assert 0 <= values[1] < values[0] < 0.2
    assert values[1] < 0.02
    with pytest.raises(ValueError, match="list of deals"):
        open_spiel.with_seed(mini, 1)
