"""Matches on duplicate deals, result files, ratings and tables."""
