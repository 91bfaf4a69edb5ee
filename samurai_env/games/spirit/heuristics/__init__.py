"""The hand-written policy and value of Samurai Spirit."""
