"""The leaderboard: plays its tables and writes LEADERBOARD.md, the README's ladder and `agents/best.json`."""
