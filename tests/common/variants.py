"""Every variant of a game, and a short name for each (test ids, file names)."""

from itertools import product

from samurai_env.core.game import Game, Variant, find_game, game_names


def all_variants(game: Game, **fixed) -> list[Variant]:
    """All numbers of players with all options that go together; options in `fixed` have that value."""
    names = list(game.options)
    choices = [(fixed[name],) if name in fixed else game.options[name].values for name in names]
    found = []
    for players in game.players:
        for values in product(*choices):
            options = dict(zip(names, values, strict=True))
            if not game.forbid(players, options):
                found.append(game.variant(players, **options))
    return found


def rule_variants(game: Game) -> list[Variant]:
    """The variants in which different things may happen: without options that only change what is seen."""
    return all_variants(game, **{name: False for name in ("hide_captures",) if name in game.options})


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
    values = [str(value).lower() for value in variant.options.values()]
    return "-".join([variant.game.name, str(variant.num_players), *values])
