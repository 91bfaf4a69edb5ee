"""The programs that people run: `python -m experiments.NAME --help`."""

import os

from experiments.common.interrupts import be_quiet_while_imported

# How long torch's threads spin until their next work: by default so long that a second busy process makes them
# many times slower. docs/background/performance.md has what was measured.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

be_quiet_while_imported()
