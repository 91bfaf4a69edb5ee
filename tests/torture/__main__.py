"""Harm everything on purpose and see that nothing is lost, nothing leaks and nothing lies.

    python -m tests.torture              every campaign, minutes
    python -m tests.torture cache soak   these alone
    python -m tests.torture --long       hours
    python -m tests.torture rules --long --seed 7 --first 6000    go on where that run was stopped

A campaign is a module of this folder with `run(long, seed)`. It returns what it counted and raises what it found. Each
runs in a process of its own, so that a crash is a finding, too. The exit status is 1 if there was any.
"""

import argparse
import secrets
import sys
import time

from tests.torture._campaigns import campaigns, can_go_on, carry_out


def main() -> int:
    """Run the campaigns named on the command line; the exit status."""
    parser = argparse.ArgumentParser(prog="tests.torture", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all if not given: {', '.join(campaigns())}")
    parser.add_argument("--long", action="store_true", help="hours in place of minutes")
    parser.add_argument("--seed", type=int, help="what chance depends on; another one each time if not given")
    parser.add_argument(
        "--first", type=int, default=0, help="go on from here: what one campaign has printed with this option"
    )
    given = parser.parse_args()
    if unknown := set(given.names) - set(campaigns()):
        parser.error(f"there is no campaign {min(unknown)!r}; there are {', '.join(campaigns())}")
    if given.first < 0:
        parser.error("--first must be 0 or more")
    if given.first and (len(given.names) != 1 or given.seed is None or not can_go_on(given.names[0])):
        able = ", ".join(filter(can_go_on, campaigns()))
        parser.error(f"--first goes with --seed and the name of one campaign that can go on: {able}")
    seed = secrets.randbelow(2**31) if given.seed is None else given.seed
    print(f"seed {seed}\n\n{'campaign':<12}{'seconds':>9}  counts", flush=True)
    failed = {}
    for name in given.names or campaigns():
        started = time.monotonic()
        found = carry_out(name, given.long, seed, given.first)
        if isinstance(found, str):
            failed[name] = found
        counts = "FAILED" if name in failed else ", ".join(f"{count:,} {what}" for what, count in found.items())
        print(f"{name:<12}{time.monotonic() - started:>9.1f}  {counts}", flush=True)
    for name, found in failed.items():
        print(f"\n{found.rstrip()}\n\nAgain: python -m tests.torture {name} --seed {seed}{' --long' * given.long}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
