"""The games as text, for language models: prompts, replies, an MCP server and a TextArena environment."""

from samurai_env.language.text_env import Reply, TextEnv

__all__ = ["Reply", "TextEnv"]
