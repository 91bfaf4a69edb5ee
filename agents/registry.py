"""The agents that specs can name. A new one is a line here."""

from agents.api import Agent, register_agent
from agents.baselines import greedy
from agents.baselines import rollout_agent as playouts
from agents.baselines import uniform as random_agent
from agents.search import mcts
from samurai_env.core.game import Variant


def _ppo(variant: Variant, argument: str) -> Agent:
    from agents.networks import agent as ppo

    return ppo.make(variant, argument)


def _untrained(variant: Variant, argument: str) -> Agent:
    from agents.networks import agent as ppo

    return ppo.make_untrained(variant, argument)


def _search(variant: Variant, argument: str) -> Agent:
    from agents.search import puct as search

    return search.make(variant, argument)


register_agent("random", "random", random_agent.make)
register_agent("greedy", "greedy", greedy.make)
register_agent("counsel", "counsel", greedy.make_counsel)
register_agent("mcts", "mcts:SIMULATIONS", mcts.make)
register_agent("flat", "flat:SIMULATIONS", mcts.make_flat)
register_agent("playouts", "playouts:GAMES", playouts.make)
register_agent("ppo", "ppo:PATH", _ppo)
register_agent("untrained", "untrained", _untrained)
register_agent("search", "search:PATH:SIMULATIONS", _search)
