"""The board game's hand-written policy and value."""
