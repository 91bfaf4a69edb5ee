"""A player as a program of its own: `exec:python docs/examples/engine.py`. It needs nothing but Python.

It plays the strongest tile that it may, and a random action otherwise.
"""

import json
import random
import sys


def choose(state: dict, rng: random.Random) -> str:
    """The name of a legal action."""
    strong = [name for name in state["legal"] if name[-1] in "34"]
    return rng.choice(strong or state["legal"])


def main() -> None:
    """Answer each line of standard input."""
    for line in sys.stdin:  # ends when the other side closes the pipe
        request = json.loads(line)
        if request["type"] == "hello":
            answer = {"type": "hello", "protocol": 1, "name": "strong tiles"}
        else:
            rng = random.Random(request["random"])  # the same request, the same answer
            answer = {"id": request["id"], "action": choose(request["state"], rng)}
        print(json.dumps(answer), flush=True)


main()
