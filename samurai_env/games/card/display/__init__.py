"""Pictures and text of the card game; not part of the compiled sources."""
