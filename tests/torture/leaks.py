"""Nothing that a seat gets depends on what is hidden from it.

Games are played twice at once: once as they are, once with what a seat cannot know dealt in another way. As long as
the seat sees the same, the raw bytes of determinized states, observations, text, pictures, heuristic policy, action
features and legal actions have to be the same too.

    python -m tests.torture leaks --long --seed 0
    python -m tests.torture leaks --long --seed 0 --first 20   # go on there
"""

import sys
from collections import Counter
from functools import cache
from typing import Any

import numpy as np

from samurai_env.core import bits
from samurai_env.core.game import Game, Variant, find_game
from samurai_env.core.jit import bind, jit
from samurai_env.core.rng import below, draw
from tests.common.variants import all_variants
from tests.regenerate import GAMES, spirit_variants

PAIRS = 1024  # of a batch
SHOWN = 2  # of these, also compared as text and picture
FEATURES = 8
LONG, SHORT = 10_000_000, 150_000

# Stand-ins, so that editors and linters know the names that `bind` replaces.
reset: Any = None
legal: Any = None
step: Any = None
determinize: Any = None
heuristic_policy: Any = None
action_features: Any = None
observe: Any = None
remember: Any = None
draw_alike: Any = None
same_events: Any = None


@jit
def no_events(state, twin):
    """All that has happened shows in the observation."""
    return True


@jit
def same_card(state, twin):
    """Whether the same card was moved last: all have seen it, also if it was collected at the end of a round."""
    return state.moved == twin.moved


@jit
def nothing(state, twin, seat):
    """Leave the twin as it is."""


@jit
def remember_captures(state, twin, seat):
    """Give the twin the captures: the heuristic policy keeps count of them (Ruling 10)."""
    twin.captured[:] = state.captured


@jit
def same_supply(state, twin, seat):
    """Let a seat of the board game draw the same tiles in both games, so that they run alike for longer."""
    twin.supply[seat] = state.supply[seat]


@jit
def same_stacks(state, twin, seat):
    """Let a seat of the card game draw the same cards in both games, and all the same villages."""
    twin.stack[seat] = state.stack[seat]
    twin.village_stack[:] = state.village_stack


@jit
def no_action_features(state, features):
    """There is none beside the heuristic policy."""


REMEMBER = {"samurai": remember_captures}
SAME_EVENTS = {"samurai_spirit": same_card}
DRAW_ALIKE = {"samurai": same_supply, "samurai_card": same_stacks}


def gather(n, games, truths, twins, seats, rng, words, others, scores, seen, seen_too):
    """Fill `truths` and `twins` with positions that the seat in `seats` cannot tell apart.

    Args:
        n: number of players.
        games: two states: the game that is played, and its twin.
        truths: states, out.
        twins: states, out.
        seats: int64, out.
        rng: the stream of everything.
        words: uint64 scratch, as are `others`, `scores` (float64), `seen` and `seen_too` (int8).
    """
    state, twin = games[0], games[1]
    filled = 0
    reset(state, draw(rng))
    sense = below(rng, 3)  # half of the decisions of a game follow the heuristic policy, or all, or none
    while filled < truths.shape[0]:
        for _ in range(1 + below(rng, 20)):
            if state.over:
                reset(state, draw(rng))
                sense = below(rng, 3)
            legal(state, words)
            action = bits.pick(words, rng)
            if below(rng, 2) < sense:
                heuristic_policy(state, scores)
                for i in range(scores.shape[0]):
                    if bits.contains(words, i) and scores[i] > scores[action]:
                        action = i
            step(state, action)
        seat = below(rng, n)
        games[1] = games[0]
        determinize(twin, seat, rng)
        if below(rng, 2) == 1 and not state.over:
            draw_alike(state, twin, seat)
        for _ in range(30):
            truths[filled], twins[filled], seats[filled] = state, twin, seat
            filled += 1
            if filled == truths.shape[0] or state.over:
                break
            legal(state, words)
            legal(twin, others)
            words &= others
            if bits.count(words) == 0:
                break
            action = bits.pick(words, rng)
            step(state, action)
            step(twin, action)
            if state.seat != twin.seat or state.over != twin.over or not same_events(state, twin):
                break
            observe(state, seat, seen)
            observe(twin, seat, seen_too)
            if differ(seen, seen_too):
                break


def determinize_each(states, seats, seed):
    """Determinize each state for its seat, with a stream that depends on nothing but its place."""
    rng = np.empty(1, np.uint64)
    for i in range(states.shape[0]):
        rng[0] = seed + np.uint64(i)
        determinize(states[i], seats[i], rng)


@jit
def differ(one, other):
    """Whether two observations differ, int8 (entries,). Without a branch in the loop, it takes many entries at once."""
    bits = np.int8(0)
    for i in range(one.shape[0]):
        bits |= one[i] ^ other[i]
    return bits != 0


def first_seen(truths, twins, seats, seen, seen_too):
    """The first pair that its seat can tell apart, -1 if there is none."""
    for i in range(truths.shape[0]):
        observe(truths[i], seats[i], seen)
        observe(twins[i], seats[i], seen_too)
        if differ(seen.ravel(), seen_too.ravel()):
            return i
    return -1


def first_difference_of_heuristics(truths, twins, seats, words, others, scores, scores_too, features, features_too):
    """The first pair that differs in legal actions, heuristic policy or action features; -1 if there is none.

    Action features, which may take a millisecond, are compared in one pair of `FEATURES`.
    """
    for i in range(truths.shape[0]):
        if truths[i].seat != seats[i] or truths[i].over:
            continue
        remember(truths[i], twins[i], seats[i])
        legal(truths[i], words)
        legal(twins[i], others)
        heuristic_policy(truths[i], scores)
        heuristic_policy(twins[i], scores_too)
        if i % FEATURES == 0:
            action_features(truths[i], features)
            action_features(twins[i], features_too)
        if (words != others).any() or (scores != scores_too).any() or (features != features_too).any():
            return i
    return -1


class LeakKernels:
    """The compiled functions of one game."""

    def __init__(self, game: Game) -> None:
        c = game.kernels
        shared = {
            "reset": c.reset,
            "legal": c.legal,
            "step": c.step,
            "determinize": c.determinize,
            "heuristic_policy": c.heuristic_policy,
        }
        shared["remember"] = REMEMBER.get(game.name, nothing)
        shared["same_events"] = SAME_EVENTS.get(game.name, no_events)
        shared["draw_alike"] = DRAW_ALIKE.get(game.name, nothing)
        shared["action_features"] = no_action_features if c.action_features is None else c.action_features
        self.gather = bind(gather, game.name, shared | {"observe": c.observe["flat"]})
        self.determinize_each = bind(determinize_each, game.name, shared)
        self.first_difference_of_heuristics = bind(first_difference_of_heuristics, game.name, shared)
        self.first_seen = {
            name: bind(first_seen, f"{game.name}.{name}", {"observe": function}) for name, function in c.observe.items()
        }


kernels_of = cache(LeakKernels)


class Search:
    """The kernels of a game, and their scratch for one variant."""

    def __init__(self, variant: Variant) -> None:
        self.variant, self.kernels = variant, kernels_of(variant.game)
        self.words = np.zeros((2, variant.num_words), np.uint64)
        self.seen = {name: np.zeros((2, *variant.encoding(name).shape), np.int8) for name in self.kernels.first_seen}

    def batch(self, seed: int) -> int:
        """Compare some pairs of positions; how many of them were not the same state.

        Raises:
            AssertionError: something depends on what is hidden; the text says what and how to play it again.
        """
        variant, kernels = self.variant, self.kernels
        games, truths, twins = variant.new(2), variant.new(PAIRS), variant.new(PAIRS)
        seats, rng = np.zeros(PAIRS, np.int64), np.array([seed], np.uint64)
        scores = np.zeros((2, variant.num_actions))
        kernels.gather(
            variant.num_players, games, truths, twins, seats, rng, *self.words, scores[0], *self.seen["flat"]
        )

        def agree(wrong: int, what: str) -> None:
            again = f"Search(parse_variant({variant.spec!r})).batch({seed})"
            assert wrong < 0, f"{what} of seat {seats[wrong]} depend on what is hidden from it: {again}, pair {wrong}"

        for name, compare in kernels.first_seen.items():
            agree(compare(truths, twins, seats, *self.seen[name]), f"the observations ({name})")
        for i in range(0, PAIRS, PAIRS // SHOWN):
            seat = int(seats[i])
            for name, show in (("text", variant.game.text), ("picture", variant.game.scene)):
                agree(i if show(truths[i], seat) != show(twins[i], seat) else -1, f"the {name}")
        dealt, dealt_too = truths.copy(), twins.copy()
        kernels.determinize_each(dealt, seats, np.uint64(seed))
        kernels.determinize_each(dealt_too, seats, np.uint64(seed))
        for name in dealt.dtype.names if dealt.tobytes() != dealt_too.tobytes() else ():
            differs = (dealt[name] != dealt_too[name]).reshape(PAIRS, -1).any(1)
            agree(int(differs.argmax()) if differs.any() else -1, f"determinized states (field {name!r})")
        variant.check(dealt)
        shape = (2, variant.num_actions, len(variant.game.action_features))
        features = np.zeros(shape, np.float32)
        wrong = kernels.first_difference_of_heuristics(truths, twins, seats, *self.words, *scores, *features)
        agree(wrong, "legal actions, heuristic policy or action features")
        return int((truths.view(np.uint8) != twins.view(np.uint8)).reshape(PAIRS, -1).any(1).sum())


def variants_of(game: Game) -> list[Variant]:
    """All variants, of Samurai Spirit every number of samurai at every level."""
    return list(spirit_variants().values()) if game.name == "samurai_spirit" else all_variants(game)


def run(long: bool, seed: int, first: int = 0) -> dict[str, int]:
    """Compare states of all games and variants; how many, by game, and in how many something hidden differed.

    Args:
        long: ten million states instead of 150,000.
        seed: another number, other games.
        first: how many variants of this `seed` have been searched already, by an earlier run.

    Raises:
        AssertionError: something depends on what is hidden; the text says what and how to play it again.
    """
    counts: Counter[str] = Counter()
    searched = 0
    for game in map(find_game, GAMES):
        variants = variants_of(game)
        rounds = -(-(LONG if long else SHORT) // (len(GAMES) * PAIRS * len(variants)))
        for number, variant in enumerate(variants):
            if searched >= first:
                search = Search(variant)
                differ = sum(search.batch(1000 * seed + 1_000_000 * number + i) for i in range(rounds))
                counts.update({game.name: rounds * PAIRS, f"{game.name}, hidden things differ": differ})
            searched += 1
            if searched > first:
                print(f"leaks: nothing found up to --first {searched} {dict(counts)}", file=sys.stderr, flush=True)
    return dict(counts)
