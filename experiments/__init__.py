"""The programs that people run: `python -m experiments.NAME --help`."""
