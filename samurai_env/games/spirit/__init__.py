"""Samurai Spirit, the cooperative game by Antoine Bauza."""
