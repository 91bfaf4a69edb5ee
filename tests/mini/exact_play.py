"""Agents as policies of the mini game, and what exact play against them is worth."""

import numpy as np

from agents.networks.agent import NetworkAgent
from samurai_env import Position
from samurai_env.agent_api import Agent
from samurai_env.core.game import Variant
from tests.mini.game import ACTIONS, GAME
from tests.reference import mini as exact

HIDDEN, OPEN = GAME.variant(2), GAME.variant(2, open_hands=True)
DEALS = exact.deals()


def position_of(variant: Variant, state: exact.State) -> Position:
    """The compiled game at a table of the plain one."""
    laid = ["".join(tile[1] for tile in state.lands if tile[:1] == seat) for seat in "01"]
    position = Position(variant)
    compiled = position.states
    compiled["lands"] = [1 + 4 * int(tile[0]) + ACTIONS.index(tile[1]) if tile else 0 for tile in state.lands]
    compiled["tiles"] = [[ACTIONS.index(kind) for kind in laid[seat] + state.tiles[seat]] for seat in (0, 1)]
    compiled["laid"] = [len(tiles) for tiles in laid]
    compiled["seat"], compiled["steps"] = state.seat, 2 * sum(map(len, laid))
    compiled["over"] = not exact.moves(state)
    variant.check(position.state)
    return position


def decide(agent: Agent, position: Position, key: int) -> str:
    """Make one decision."""
    action = int(agent.act(position.states, np.array([key], np.uint64))[0])
    position.step(action)
    return ACTIONS[action]


def policy_of(agent: Agent) -> exact.Policy:
    """How an agent plays: a function of what the seat to move knows."""
    chosen: dict[tuple, exact.Move] = {}

    def policy(state: exact.State) -> dict[exact.Move, float]:
        known = state.lands, state.hand(state.seat)
        if known not in chosen:
            position, key = position_of(HIDDEN, state), len(chosen)
            chosen[known] = decide(agent, position, key), decide(agent, position, key)
        return {chosen[known]: 1.0}

    return policy


def drawing_policy(agent: NetworkAgent) -> exact.Policy:
    """How a network plays that draws its actions at the agent's temperature, with all its chances."""
    chances: dict[tuple, dict[exact.Move, float]] = {}

    def draws(position: Position) -> dict[int, float]:
        log_probs = agent.evaluate(position.states)[0][0].astype(np.float64) / agent.temperature
        legal = position.legal_actions()
        weights = np.exp(log_probs[legal] - log_probs[legal].max())
        return dict(zip(legal, (weights / weights.sum()).tolist(), strict=True))

    def policy(state: exact.State) -> dict[exact.Move, float]:
        known = state.lands, state.hand(state.seat)
        if known not in chances:
            chances[known] = {}
            position = position_of(HIDDEN, state)
            for tile, chance in draws(position).items():
                laying = position.clone()
                laying.step(tile)
                for land, share in draws(laying).items():
                    chances[known][ACTIONS[tile], ACTIONS[land]] = chance * share
        return chances[known]

    return policy


def value_against_uniform(agent: Agent) -> float:
    """What an agent gets from the uniformly random player, exactly: the mean over all deals and both seats."""
    policy = policy_of(agent)
    first = sum(exact.expected(deal, (policy, exact.uniform)) for deal in DEALS)
    second = -sum(exact.expected(deal, (exact.uniform, policy)) for deal in DEALS)
    return (first + second) / (2 * len(DEALS))


def exploitability(policy: exact.Policy) -> float:
    """What the best answers get from a policy, exactly, the mean of both seats; 0 for an equilibrium, never less."""
    return sum(exact.best_response(seat, policy, DEALS) for seat in (0, 1)) / 2
