"""The programs that people run: `python -m experiments.NAME --help`."""

import os

# Torch's threads otherwise spin while they wait, and a second busy process makes them many times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
