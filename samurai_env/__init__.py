"""Samurai, Samurai: The Card Game and Samurai Spirit as reinforcement-learning environments."""

__version__ = "0.1.0"
