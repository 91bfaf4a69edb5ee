"""Pgx on a GPU, beside `experiments.benchmark.on_gpu`: all steps of a measurement in one compiled scan.

    .peers/pgx-gpu/bin/python -m experiments.benchmark.peers.pgx_gpu

Prints a line of JSON a figure. An action is drawn in two ways, as on the CPU and by pgx's own `act_randomly`: which is
faster on a GPU is measured. Small batches first, so that a full memory costs the largest alone.
"""

import argparse
import json
import math
import time
from dataclasses import asdict

import jax
import pgx
from pgx.experimental.utils import act_randomly

from experiments.benchmark.peers import BATCH, Row, named
from experiments.benchmark.peers.pgx import pick, playing
from experiments.benchmark.timing import Meter

GAMES = ("hex", "go_9x9")
SIZES = tuple(2**exponent for exponent in range(10, 21, 2))
PICKS = {"cumulative sums": pick, "act_randomly": act_randomly}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", default=GAMES)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="games at once")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--platform", default="gpu", help="JAX's; cpu tries the program without a GPU")
    options = parser.parse_args()
    device = jax.devices(options.platform)[0]
    meter = Meter(options.repetitions, options.seconds)
    who = f"{named('pgx', 'jax')}, {device.platform}"
    with jax.default_device(device):
        for size in options.sizes:
            for name in options.games:
                env = pgx.make(name)
                inputs = math.prod(env.observation_shape)
                for way, chosen in PICKS.items():
                    figure = meter.rate(way, "steps/s", playing(env, size, chosen), time.perf_counter)
                    row = Row(BATCH, who, name, env.num_actions, inputs, size, 0, figure)  # threads: the GPU's
                    print(json.dumps({"part": "peers", **asdict(row)}), flush=True)


if __name__ == "__main__":
    main()
