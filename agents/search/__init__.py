"""Monte Carlo tree search, with and without a network."""
