"""Reiner Knizia's Samurai: The Card Game (2009)."""
