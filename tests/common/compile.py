"""Compile what most tests call, for one game and number of players: `python -m tests.common.compile SPEC PART...`."""

import sys

from experiments.command.warmup import PARTS
from samurai_env import find_game, game_names, parse_variant


def tasks() -> list[tuple[str, ...]]:
    """The arguments of each process, the longest first.

    Code is compiled for a layout of the state, which several numbers of players may share. Tests of agents play with
    the fewest and the most players.
    """
    found: dict[object, tuple[str, ...]] = {}
    for game in map(find_game, game_names()):
        for players in (game.players[0], game.players[-1], *game.players):
            variant = game.variant(players)
            parts = tuple(PARTS) if players in (game.players[0], game.players[-1]) else ("rules", "environments")
            found.setdefault((game.name, variant.dtype), (variant.spec, *parts))
    return sorted(found.values(), key=len, reverse=True)


if __name__ == "__main__":
    for part in sys.argv[2:]:
        PARTS[part](parse_variant(sys.argv[1]))
