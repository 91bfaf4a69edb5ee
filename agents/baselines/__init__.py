"""Agents without search or learning: random, greedy, look-ahead, rollouts."""
