"""Compiled loops of the environments: an edit here recompiles these alone."""
