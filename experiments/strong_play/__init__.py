"""How strong agents play: statistics of many games, written for players as docs/strong_play.md."""
