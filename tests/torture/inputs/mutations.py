"""Ways to spoil a file: as bytes, as text, as JSON."""

import json
import random
import re
from copy import deepcopy
from typing import Any

STRANGE = [
    *(None, True, False, 0, -1, 1, 2, 3, 0.5, -0.5, 1.5, 1e308, 2**31, 2**63, 2**64, 10**30, -(2**63)),
    *(float("nan"), float("inf"), float("-inf"), "", "x", "\ud800", "\0", "a\nb", "\u202e", "1", "nan", [], {}, [[]]),
    *([1], [None], {"": 1}, {"1": []}, {"01": 1, "1": 2}, "x" * 100_000, "9" * 5000, [0] * 20_000, [[0, 1]] * 5000),
]
WORDS = [b"\0", b"\xff", b"\n", b"\r\n", b" ", b"=", b",", b":", b"[", b"{", b'"', b"1e999", b"NaN", b"-1", b"9" * 5000]
WORDS += [
    b"[" * 20_000,
    b'{"a":' * 20_000,
    b"x" * 200_000,
    b"\n" * 50_000,
    b"a.b.",
    b"\xed\xa0\x80",
    b"\x00\x00\x00\x80",
]


def bytes_spoiled(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """A few changes of bytes: flips, cuts, repeats, words put in, the end of another file."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at, length = rng.randrange(len(found) + 1), rng.choice((1, 2, 4, 8, 40, 400))
        kind = rng.randrange(8)
        if kind == 0 and found:
            found[at % len(found)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del found[at : at + length]
        elif kind == 2:
            found[at:at] = rng.choice(WORDS)
        elif kind == 3:
            found[at:at] = found[at : at + length] * rng.choice((1, 2, 50))
        elif kind == 4:
            found[at:] = other[rng.randrange(len(other) + 1) :]
        elif kind == 5:
            found[at : at + length] = rng.randbytes(length)
        elif kind == 6:
            numbers = list(re.finditer(rb"[0-9]+", found))
            if numbers:
                number = rng.choice(numbers)
                found[slice(*number.span())] = str(rng.choice((0, 1, 2, 7, 99, 2**31, 2**63, 10**25))).encode()
        else:
            del found[at:]
    return bytes(found)


def _places(value: Any, found: list[tuple[Any, Any]]) -> None:
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        found.append((value, key))
        _places(value[key], found)


def json_spoiled(rng: random.Random, data: bytes) -> bytes:
    """JSON in which some values are changed, missing, added, repeated or wrapped."""
    found = json.loads(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        places: list[tuple[Any, Any]] = []
        _places(found, places)
        if not places:
            return json.dumps(rng.choice(STRANGE)).encode()
        inside, key = rng.choice(places)
        kind = rng.randrange(7)
        if kind <= 2:
            inside[key] = deepcopy(rng.choice(STRANGE))
        elif kind == 3:
            del inside[key]
        elif kind == 4:
            other, its = rng.choice(places)
            if isinstance(other, dict) and its in other and isinstance(inside, dict | list):
                inside[key] = deepcopy(other[its])
        elif kind == 5 and isinstance(inside, list):
            inside.insert(key, deepcopy(inside[key]))
        elif kind == 5:
            inside[rng.choice(("", "x", "0", "-1", f"{key} ", "x" * 10_000))] = deepcopy(inside[key])
        else:
            inside[key] = [inside[key]]
    text = json.dumps(found)
    if rng.random() < 0.05:  # a key twice
        text = text.replace("{", '{"variant": 1, "variant": 2, ', 1)
    return text.encode()
