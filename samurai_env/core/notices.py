"""Lines on stderr that a person should see once, however many processes do the work."""

import os
import sys

QUIET = "SAMURAI_ENV_NOTICES"  # environment variable, inherited by worker processes: what has been said; "off": nothing


def notice(topic: str, text: str) -> None:
    """Write a line to stderr, unless this process or one that it descends from has said something on the topic."""
    said = os.environ.get(QUIET, "").split(",")
    if topic not in said and "off" not in said:
        os.environ[QUIET] = ",".join([*filter(None, said), topic])
        print(f"samurai_env: {text}", file=sys.stderr, flush=True)
