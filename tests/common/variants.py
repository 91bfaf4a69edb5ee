"""Every variant of a game, and a short name for each (test ids, file names).

Quiet options and the seat that begins have their defaults, unless a test names them: `tests/core/test_first_seat.py`
and `tests/board/test_readings.py` are about them.
"""

from itertools import product

from samurai_env.core.game import Game, Option, Variant, find_game, game_names
from samurai_env.games.first_seat import FirstSeat


def all_variants(game: Game, **fixed) -> list[Variant]:
    """All numbers of players with all options that go together; options in `fixed` have that value."""
    names = list(game.options)
    choices = [(fixed[name],) if name in fixed else usual_values(game.options[name]) for name in names]
    found = []
    for players in game.players:
        for values in product(*choices):
            options = dict(zip(names, values, strict=True))
            if not game.forbid(players, options):
                found.append(game.variant(players, **options))
    return found


def usual_values(option: Option) -> tuple:
    """The values that tests over all variants go through."""
    return (option.default,) if option.omit_default or isinstance(option, FirstSeat) else option.values


def last_values(game: Game, players: int) -> dict:
    """Each option's last value, as far as they go together; of those that exclude each other the first counts."""
    options = {name: option.default for name, option in game.options.items()}
    for name, option in game.options.items():
        changed = {**options, name: option.values[-1]}
        options = options if game.forbid(players, changed) else changed
    return options


def rule_variants(game: Game) -> list[Variant]:
    """The variants in which different things may happen: without options that only change what is seen."""
    return all_variants(game, **{name: False for name in ("hide_captures",) if name in game.options})


def readings(game: Game) -> list[Variant]:
    """Variants in which `omit_default` options and first seats are not the default, spread over the other options."""
    omitted = {name for name, option in game.options.items() if option.omit_default and name != "first"}
    kept = {"hide_captures": False} if "hide_captures" in game.options else {}
    found = []
    for values in product(*(game.options[name].values for name in sorted(omitted))):
        chosen = dict(zip(sorted(omitted), values, strict=True)) | kept
        for i, variant in enumerate(all_variants(game, **chosen)):
            first = "random" if i % 2 else i // 2 % variant.num_players
            found.append(game.variant(variant.num_players, **{**variant.options, "first": first}))
    return found


def every_variant() -> list[Variant]:
    """All variants of all games."""
    return [variant for name in game_names() for variant in all_variants(find_game(name))]


def cross_section(game: Game) -> list[Variant]:
    """One variant for each number of players, so chosen that together they have many values of options."""
    found, seen = [], set()
    for players in game.players:
        variants = [variant for variant in all_variants(game) if variant.num_players == players]
        found.append(max(variants, key=lambda variant: len(set(variant.option_items) - seen)))
        seen.update(found[-1].option_items)
    return found


def some_variants() -> list[Variant]:
    """The cross-sections of all games."""
    return [variant for name in game_names() for variant in cross_section(find_game(name))]


def label(variant: Variant) -> str:
    """Such as `samurai-2-2016-choose-alternate-false`."""
    options = [(variant.game.options[name], value) for name, value in variant.option_items]
    values = [str(value).lower() for option, value in options if not option.omit_default or value != option.default]
    return "-".join([variant.game.name, str(variant.num_players), *values])
