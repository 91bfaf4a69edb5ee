"""What threads of a card run: templates bound to a game, a number of players and an encoding."""
