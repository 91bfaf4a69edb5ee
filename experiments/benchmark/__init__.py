"""Measuring speed: parts of this project, how it scales, other packages beside it."""
