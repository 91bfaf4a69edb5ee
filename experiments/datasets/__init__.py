"""Datasets of self-play games: Parquet shards, game records beside them, a reader that verifies both."""
