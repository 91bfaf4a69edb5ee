"""What threads of a GPU run: templates bound to a game, a number of players and an encoding."""
