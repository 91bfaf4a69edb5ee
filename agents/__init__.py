"""Players of any game: random, greedy, search, networks. `samurai_env.agents` is another name of this package."""

from agents.arena import play_games
from agents.registry import AGENTS, make_agent
from samurai_env.agent_api import Agent

__all__ = ["AGENTS", "Agent", "make_agent", "play_games"]
