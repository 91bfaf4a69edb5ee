"""The command `samurai-env` and the programs that only it starts."""
