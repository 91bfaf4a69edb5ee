"""Pictures and text of the board game; not part of the compiled sources."""
