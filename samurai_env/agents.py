"""The agents, in a clone: another name of the folder `agents/`, see `samurai_env.source_folders`."""

from typing import TYPE_CHECKING

from samurai_env.source_folders import alias

if TYPE_CHECKING:
    from agents import Agent as Agent
    from agents import make_agent as make_agent

alias("agents")
