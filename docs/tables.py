"""Write the parts of the pages that follow from the code: facts, options, tiles, actions, observations, a traced turn.

    python -m docs.tables            # write them
    python -m docs.tables --check    # only say which pages are out of date (exit status 1)

They stand between marks such as `<!-- facts -->` and `<!-- /facts -->`.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from experiments.pages import refresh, table
from samurai_env import samurai_v0
from samurai_env.board import actions, state, tiles, topology
from samurai_env.board.game import GAME

PLAYERS = GAME.players


def by_players(value: Callable[[int], object]) -> list[object]:
    """A value for each number of players."""
    return [value(n) for n in PLAYERS]


def times(shape: Sequence[int]) -> str:
    """A shape as text."""
    return " × ".join(map(str, shape)) if shape else "1"


# --- The board game's page ---


def facts() -> str:
    """Sizes by number of players."""
    variants = {n: GAME.variant(n) for n in PLAYERS}
    rows: list[list[object]] = [
        ["hexes", *by_players(lambda n: len(topology.hexes_in_play(n)))],
        ["open land hexes", *by_players(lambda n: int(topology.LANDS[n]))],
        ["sea hexes", *by_players(lambda n: int(topology.SEAS[n]))],
        ["settlements", *by_players(lambda n: int(topology.SETTLEMENTS[n]))],
        ["figures of each kind", *by_players(lambda n: int(topology.FIGURES_EACH[n]))],
        ["action ids", *by_players(lambda n: variants[n].num_actions)],
        ["decisions in a game, at most", *by_players(lambda n: variants[n].max_steps)],
        ["bytes of a record", *by_players(lambda n: variants[n].dtype.itemsize)],
    ]
    for name, layout in GAME.encodings.items():
        rows.append([f"shape of `{name}`", *(times(layout(n).shape) for n in PLAYERS)])
    return table(["", *(f"{n} players" for n in PLAYERS)], rows)


def options() -> str:
    """The options of a variant."""
    rows = [
        [f"`{name}`", ", ".join(f"`{value!r}`" for value in option.values), f"`{option.default!r}`", option.meaning]
        for name, option in GAME.options.items()
    ]
    return table(["option", "values", "default", "meaning"], rows)


def kinds() -> str:
    """The kinds of tile."""
    rows = []
    for kind, code in enumerate(tiles.KIND_CODES):
        bit = 1 << kind
        where = "sea" if bit & int(tiles.SHIPS) else "land" if bit & int(tiles.ON_LAND) else "leaves the game"
        strength = "–" if kind == tiles.FIGURE_EXCHANGE else int(tiles.STRENGTH[kind].max())
        pace = "quick" if bit & int(tiles.QUICK) else "plain"
        rows.append([kind, f"`{code}`", tiles.KIND_NAMES[kind], strength, int(tiles.COPIES[kind]), pace, where])
    return table(["id", "code", "kind", "strength", "copies", "", "goes on"], rows)


def settlements() -> str:
    """The settlements by number."""
    rows = []
    for number, hex_ in enumerate(topology.SETTLEMENT):
        size = ("village", "city", "Edo")[hex_.size - 1]
        around = int(topology.SETTLEMENT_LAND[number]).bit_count()
        name = hex_.name if size == "city" and hex_.name else ""
        rows.append([number, f"`{hex_.label}`", f"{size} {name}".strip(), around, hex_.min_players])
    return table(["number", "hex", "", "land hexes around", "in play from players"], rows)


def action_ids() -> str:
    """The groups of action ids."""
    rows = []
    starts = [group[0] for group in actions.GROUPS]
    ends = [*starts[1:], actions.ACTIONS]
    for (first, name, meaning), end in zip(actions.GROUPS, ends, strict=True):
        ranges = [f"`{first[n]}:{end[n]}`" for n in PLAYERS]
        example = actions.names(PLAYERS[0])[int(first[PLAYERS[0]])]
        rows.append([name, *ranges, f"`{example}`", meaning])
    return table(["group", *(f"{n} players" for n in PLAYERS), "first name (2 players)", "meaning"], rows)


def encoding(name: str) -> str:
    """The blocks of an encoding."""
    layouts = {n: GAME.encodings[name](n) for n in PLAYERS}
    places = {n: layout.slices() for n, layout in layouts.items()}
    rows = []
    for blocks in zip(*(layout.blocks for layout in layouts.values()), strict=True):
        first = blocks[0]
        cells = [
            f"`{places[n][block.name].start}:{places[n][block.name].stop}`"
            + (f" ({times(block.shape)})" if len(block.shape) > 1 else "")
            for n, block in zip(PLAYERS, blocks, strict=True)
        ]
        low, high = first.limits
        rows.append([f"`{first.name}`", *cells, f"{low} … {high}", first.meaning])
    return table(["block", *(f"{n} players" for n in PLAYERS), "values", "meaning"], rows)


# --- A traced turn, for the page of the environments ---


def turn(env: Any) -> Iterator[str]:
    """The actions of a turn that plays a ship, then a plain land tile, and ends."""
    hand = env.position.record["hand"][env.position.seat]
    on_land = int(tiles.PLAIN) & int(tiles.ON_LAND) & ~int(tiles.EXCHANGES)
    for allowed in (int(tiles.SHIPS), on_land):
        yield next(tiles.KIND_CODES[k] for k in range(tiles.KINDS) if hand[k] and 1 << k & allowed)
        first = actions.SEA0[2] if allowed == int(tiles.SHIPS) else actions.LAND0
        names = env.position.variant.action_names
        yield next(names[a] for a in env.position.legal_actions() if a >= first)
    yield "end"


def trace_seed() -> int:
    """The first seed whose first hand allows such a turn: a ship, a land tile, and a further quick tile."""
    for seed in range(1000):
        env = samurai_v0.raw_env(first_hand="random", figure_setup="random")
        env.reset(seed=seed)
        kinds_held = int(env.position.record["kinds"][0])
        ships, quick = kinds_held & int(tiles.SHIPS), kinds_held & int(tiles.QUICK)
        if ships.bit_count() == 1 and quick.bit_count() > 1:
            return seed
    raise RuntimeError("no such seed")


def trace() -> str:
    """One turn, decision by decision."""
    seed = trace_seed()
    env = samurai_v0.raw_env(first_hand="random", figure_setup="random")
    env.reset(seed=seed)
    rows: list[list[object]] = []
    names = env.variant.action_names

    def look(action: str) -> None:
        observation, reward, terminated, _, _ = env.last()
        phase = state.PHASES[int(env.position.record["phase"])]
        legal = int(observation["action_mask"].sum())
        number = f"{names.index(action)} `{action}`" if action else ""
        rows.append([len(rows), f"`{env.agent_selection}`", f"`{phase}`", legal, number, reward, terminated])

    for action in turn(env):
        look(action)
        env.step(names.index(action))
    look("")
    head = ["step", "agent_selection", "phase", "legal actions", "action", "reward in last()", "terminated"]
    call = f'`samurai_v0.raw_env(first_hand="random", figure_setup="random")`, `reset(seed={seed})`'
    return f"{call}:\n\n{table(head, rows)}"


def pages() -> dict[str, dict[str, str]]:
    """All generated parts, by page."""
    game = {
        "facts": facts(),
        "options": options(),
        "tiles": kinds(),
        "settlements": settlements(),
        "actions": action_ids(),
        **{name: encoding(name) for name in GAME.encodings},
    }
    return {"docs/board_game.md": game, "docs/environments.md": {"trace": trace()}}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.tables", description="Write the parts of the pages that follow from the code."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is out of date")
    given = parser.parse_args(arguments)
    stale = refresh(pages(), write=not given.check)
    for path in stale:
        print(f"{path} {'is out of date' if given.check else 'written'}")
    return int(given.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
