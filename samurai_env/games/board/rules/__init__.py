"""The rules of the board game, compiled."""
