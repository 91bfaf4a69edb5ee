"""Random and odd games, equal on the compiled side and in the plain references: every field after every decision.

python -m tests.torture rules --long --seed 0
python -m tests.torture rules --long --seed 0 --first 120000   # go on there
"""

import os
import sys
from collections import Counter
from contextlib import closing

from experiments.common.tasks import WorkerSettings, results_in_order
from samurai_env.core.game import Variant, find_game
from tests.agreement.match import play
from tests.common.variants import all_variants
from tests.regenerate import GAMES
from tests.torture.inputs.odd_players import odd_table

LONG, SHORT = 1_000_000, 600  # games
CHUNK = 20  # games a task
VIEWS = 0.01  # the share of decisions after which all seats' views are compared, besides the first and the last
KNOWN = 50  # chunks between two words on how far it has come
SEEDS = 10**9  # between the games of one run and those of the next


def variants_of(game: str) -> list[Variant]:
    """All variants of a game; of Samurai Spirit also other seats that begin."""
    found = all_variants(find_game(game))
    if game == "samurai_spirit":
        found += [v.game.variant(v.num_players, **v.options | {"first": v.num_players - 1}) for v in found]
    return found


def play_some(seeds: range) -> Counter[str]:
    """Play the games of some seeds, the three games in turn, each through all its variants.

    Raises:
        AssertionError: the sides differ; the text has a record of the game.
    """
    events: Counter[str] = Counter()
    for seed in seeds:
        game = GAMES[seed % len(GAMES)]
        variants = variants_of(game)
        variant = variants[seed // len(GAMES) % len(variants)]
        odd = odd_table(game, seed) if seed // len(GAMES) // len(variants) % 2 == 0 else None
        try:
            found = play(variant, seed, VIEWS, choose=odd)
        except Exception as error:
            error.add_note(f"tests.torture.rules.play_some(range({seed}, {seed + 1})), {variant.spec}")
            raise
        events[f"{game}: games"] += 1
        events[f"{game}: games of odd players"] += odd is not None
        events[f"{game}: decisions"] += found["decisions"]
    return events


def run(long: bool, seed: int, first: int = 0, processes: int | None = None) -> dict[str, int]:
    """Play many games; how many games and decisions, by game.

    Args:
        long: a million games instead of some hundred.
        seed: another number, other games.
        first: how many games of this `seed` have been played already, by an earlier run.
        processes: how many play at once; default: one for each processor.

    Raises:
        AssertionError: the compiled rules differ from a reference; the text has a record of the game.
    """
    start, end = SEEDS * seed + first, SEEDS * seed + (LONG if long else SHORT)
    chunks = [range(at, min(at + CHUNK, end)) for at in range(start, end, CHUNK)]
    events: Counter[str] = Counter()
    workers = WorkerSettings(processes=processes or os.cpu_count() or 1, ray=False)
    with closing(results_in_order(play_some, chunks, workers, lambda: False)) as found:
        for i, (_, result) in enumerate(found, 1):
            events += result
            if i % KNOWN == 0:
                print(f"rules: agreed up to --first {chunks[i - 1].stop - SEEDS * seed}", file=sys.stderr, flush=True)
    return dict(events)
