"""Players of any game: random, greedy, search, networks. `samurai_env.agents` is another name of this package."""

from agents.api import Agent
from agents.arena import play_games
from agents.registry import AGENTS, make_agent

__all__ = ["AGENTS", "Agent", "make_agent", "play_games"]
