"""The agents that specs can name. A new one is a line here."""

from agents import greedy, mcts, playouts, random_agent
from agents.base import Agent, register_agent
from samurai_env.core.game import Variant


def _ppo(variant: Variant, argument: str) -> Agent:
    from agents import ppo  # torch takes a second to import, so only who plays a network pays

    return ppo.make(variant, argument)


def _untrained(variant: Variant, argument: str) -> Agent:
    from agents import ppo

    return ppo.make_untrained(variant, argument)


def _search(variant: Variant, argument: str) -> Agent:
    from agents import search

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
