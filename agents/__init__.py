"""Players of any game: random, greedy, search, networks. Run from a clone; not part of the installed package."""
