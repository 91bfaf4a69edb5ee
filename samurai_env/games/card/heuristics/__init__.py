"""The card game's hand-written policy, value and action features."""
