"""The core has not become much slower than it was: ratios to a yardstick, with much room for other machines."""

import json

from samurai_env.games import GAMES
from tests.speed_guard import FLOOR, RECORD, ratios, too_slow

ATTEMPTS = 3


def test_the_core_is_not_half_as_fast_as_recorded():
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))["ratios"]
    assert len(recorded) == 2 * len(GAMES)
    for _ in range(ATTEMPTS):  # a machine that is busy now may not be so in a second
        slow = too_slow(ratios(), recorded)
        if not slow:
            break
    assert not slow, (
        f"share of the recorded speed, lowest allowed {FLOOR}; if this is meant: python -m tests.speed_guard"
    )


def test_the_guard_sees_what_is_too_slow():
    assert too_slow({"a": 1.0, "b": 2.0}, {"a": 2.1, "b": 3.9}) == {"a": 1.0 / 2.1}
