"""Layers that read the map of a game."""
