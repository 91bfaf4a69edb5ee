"""Environments for any game of the family: PettingZoo AEC, Gymnasium single-agent and vector."""
