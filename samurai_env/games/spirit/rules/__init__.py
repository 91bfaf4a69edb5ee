"""The rules of Samurai Spirit, compiled."""
