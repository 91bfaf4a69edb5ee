"""Reiner Knizia's board game Samurai (1998, 2016)."""
