"""A table in the browser: play, watch, replay and analyse any game."""
