"""Kernels of the environments: an edit here recompiles these alone."""
