"""The card game's action features: blind, restoring the state, equal to a plain computation with the quick policy."""

import numpy as np
import pytest

from agents.registry import make_agent
from experiments.evaluation.matches import estimate, one_against_others
from samurai_env import make_variant
from samurai_env.games.card.actions import CELL0
from samurai_env.games.card.game import GAME
from samurai_env.games.card.heuristics.lookahead import (
    COLUMNS,
    GAIN,
    LOOKAHEAD,
    NEXT_GAIN,
    REPLY,
    WEIGHTS,
    action_features,
    write_features,
)
from samurai_env.games.card.heuristics.policy import (
    LOWEST,
    PARAMETERS,
    PRICE,
    PRICE_OF,
    Parameters,
    control_table,
    weighted_policy,
)
from samurai_env.games.card.state import CARD, CELL
from tests.card.table import PLAYERS, positions


def logits_of(function, *arguments):
    logits = np.zeros(190)
    function(*arguments[:1], logits, *arguments[1:])
    return logits


def features_of(position):
    """The action features of a position, whose state must stay as it is."""
    features, before = np.full((190, len(COLUMNS)), np.nan, np.float32), position.states.tobytes()
    action_features(position.states[0], features)
    assert position.states.tobytes() == before
    return features


@pytest.mark.parametrize("n", PLAYERS)
def test_action_features_are_of_legal_actions_and_ignore_hidden_information(n):
    rng, compared = np.array([n], np.uint64), 0
    for position in positions(n, 3):
        if position.over:
            continue
        features = features_of(position)
        assert np.flatnonzero(features[:, LOOKAHEAD] > LOWEST).tolist() == position.legal_actions()
        illegal = np.setdiff1d(np.arange(190), position.legal_actions())
        assert not features[illegal, 1:].any()
        assert np.isfinite(features).all()
        assert np.abs(features[position.legal_actions()]).max() < 100
        np.testing.assert_array_equal(features, features_of(position.determinized(position.seat, rng)))
        compared += 1
    assert compared > 40


@pytest.mark.parametrize("n", PLAYERS)
def test_without_replies_and_next_card_it_is_the_heuristic_policy(n):
    weights = np.append(WEIGHTS[:PARAMETERS], [0.0, 0.0])
    for position in positions(n, 2):
        if not position.over:
            state, legal = position.states[0], position.legal_actions()
            quick = logits_of(weighted_policy, state, weights[:PARAMETERS])[legal]
            features = np.empty((190, len(COLUMNS)), np.float32)
            write_features(state, features, Parameters(weights, control_table(weights)))
            slow = features[legal, LOOKAHEAD]
            # A chosen card's price is in one and not in the other.
            np.testing.assert_allclose(slow - slow.max(), quick - quick.max(), atol=1e-5)


def best_reply(state, seat, hand):
    """The best gain of these cards by the heuristic policy, and the action id of its cell."""
    state["seat"], state["hand"][seat], state["phase"], state["card"] = seat, hand, CARD, -1
    kinds = logits_of(weighted_policy, state, WEIGHTS[:PARAMETERS])[:12]
    if kinds.max() <= LOWEST:
        return 0.0, None
    state["phase"], state["card"] = CELL, kinds.argmax()
    return kinds.max(), int(logits_of(weighted_policy, state, WEIGHTS[:PARAMETERS]).argmax())


@pytest.mark.parametrize("n", PLAYERS)
def test_the_value_is_gain_less_replies_plus_next_card(n):
    """Where a card brings no village, the heuristic policy can compute all parts."""
    compared = 0
    for position in positions(n, 6, 20):
        before = position.state
        if position.over or before["phase"] != CELL:
            continue
        found = features_of(position)
        gains = logits_of(weighted_policy, position.states[0], WEIGHTS[:PARAMETERS])
        for action in position.legal_actions():
            after = position.clone()
            after.step(action)
            if after.over or after.state["villages"] != before["villages"] or after.state["phase"] != CARD:
                continue
            state, seat = after.states[0], position.seat
            replies = []
            for player in range(1, n):
                other = (seat + player) % n
                gain, cell = best_reply(state, other, before["unseen"][other])
                replies.append(gain)
                if cell is not None:
                    state["free"][cell >> 6] &= ~(np.uint64(1) << np.uint64(cell & 63))
            hand = before["hand"][seat].copy()
            hand[before["card"]] -= 1
            own, _ = best_reply(state, seat, hand)
            gain = gains[action] - WEIGHTS[PRICE + PRICE_OF[before["card"]]]
            value = gain - WEIGHTS[PARAMETERS] * np.mean(replies) + WEIGHTS[PARAMETERS + 1] * own
            expected = [value, gain, np.mean(replies), own]
            columns = [LOOKAHEAD, GAIN, REPLY, NEXT_GAIN]
            assert found[action, columns].tolist() == pytest.approx(expected, abs=1e-5), (action - CELL0, replies, own)
            compared += 1
    assert compared > 50


@pytest.mark.parametrize(("n", "least"), [(2, 0.6), (3, 0.36), (4, 0.27)])
def test_lookahead_beats_greedy(n, least):
    variant = make_variant("samurai_card", n)
    shares = one_against_others(variant, [make_agent("lookahead", variant), make_agent("greedy", variant)], 0, 100)
    assert estimate(shares).mean > least


def test_a_game_without_lookahead_is_refused():
    assert GAME.kernels.action_features is not None
    with pytest.raises(ValueError, match="has no look-ahead beyond the heuristic policy that greedy follows"):
        make_agent("lookahead", make_variant("samurai"))
