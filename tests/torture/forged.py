"""Forged positions of all games: each is refused in one line, or played on to its end.

    python -c "from tests.torture.forged import play; print(play('samurai_spirit', 7))"

Numbers of saved positions are changed at random, and the checksum is made to fit. What is restored is played with
random legal actions; on the way, each seat determinizes, and every game made so has a legal action, too. `arguments`
runs it with bounds checks.
"""

import random
import signal
from collections import Counter

from samurai_env.core.game import find_game
from samurai_env.position import Position
from tests.common.positions import play_random, stream
from tests.common.variants import all_variants
from tests.regenerate import GAMES

LONGEST = 300  # characters of a refusal
SECONDS = 300  # after which a game that does not end is killed, the compilation included
FORGERIES = 12  # of one position


def forge(position: Position, rng: random.Random) -> Position:
    """A copy with a few other numbers, within the limits of their fields."""
    other, variant = position.clone(), position.variant
    fields = [field for field in variant.game.fields(variant.num_players) if field.name not in variant.game.options]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        field = rng.choice(fields)
        values = other.states[field.name].reshape(-1)
        i, (low, high) = rng.randrange(len(values)), field.limits
        kind, value = rng.randrange(4), int(values[i])
        if kind == 0:
            value += rng.choice((-1, 1))
        elif kind == 1:
            value = rng.choice((low, high))
        elif kind == 2:
            value = rng.randint(low, high)
        else:  # two of a row change places
            k = rng.randrange(len(values))
            value, values[k] = int(values[k]), values[i]
        values[i] = min(max(value, low), high)
    return other


def play_to_the_end(position: Position, rng: random.Random) -> int:
    """Make random decisions to the end of the game; how many.

    Raises:
        AssertionError: somebody has no legal action, in the game or in one that may be it, or it does not end.
    """
    variant, decisions = position.variant, 0
    while not position.over:
        actions = position.legal_actions()
        assert actions, "no legal action"
        assert decisions <= variant.max_steps, "the game does not end"
        if rng.random() < 0.1:
            for seat in range(variant.num_players):
                other = position.determinized(seat, stream(rng.randrange(2**63)))
                assert other.over or other.legal_actions(), f"no legal action as seat {seat} may imagine it"
                position.observe(seat)
        position.step(rng.choice(actions))
        decisions += 1
    return decisions


def play(name: str, seed: int) -> Counter[str]:
    """Forge a position of a game in several ways, and play what is restored; how often what happened.

    Raises:
        AssertionError: a fault; the text says which forgery of which seed.
    """
    rng, game, counts = random.Random(f"{name} {seed}"), find_game(name), Counter[str]()
    position = Position(rng.choice(all_variants(game)), rng.randrange(2**62))
    position = play_random(position, rng, rng.randrange(rng.choice((10, 60, 250))))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process, also in compiled code
    for number in range(FORGERIES):
        where = f"tests.torture.forged.play({name!r}, {seed}), forgery {number}"
        saved = forge(position, rng).save()
        signal.alarm(SECONDS)
        try:
            played = Position.restore(saved)
        except ValueError as error:
            counts["refused"] += 1
            told = str(error)
            if len(told) >= LONGEST or len(told.splitlines()) != 1:
                raise AssertionError(f"{where}: refused with {told}") from None
            continue
        except Exception as error:
            raise AssertionError(f"{where}: {error!r}") from error
        try:
            counts["played"] += 1
            counts["decisions"] += play_to_the_end(played, rng)
        except Exception as error:
            raise AssertionError(f"{where}: {error!r}") from error
        signal.alarm(0)
    return counts


def play_all(amount: int, seed: int) -> Counter[str]:
    """So many positions, the three games in turn; how often what happened, by game."""
    counts = Counter[str]()
    for number in range(amount):
        name = GAMES[number % len(GAMES)]
        counts.update({f"{name}: forged and {what}": count for what, count in play(name, seed + number).items()})
    return counts
