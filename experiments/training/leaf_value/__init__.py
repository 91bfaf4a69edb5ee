"""Learn a value of leaves for searches: from games of agents, then from its own."""
