"""How strong agents play: statistics of many games, written for players as docs/background/strong_play.md."""
