"""The rules of the card game, compiled."""
