"""Write the parts of the pages that follow from the code: facts, options, cards, actions, observations, a traced turn.

    python -m docs.generate.tables            # write them
    python -m docs.generate.tables --check    # only say which pages are out of date (exit status 1)

They stand between marks such as `<!-- facts -->` and `<!-- /facts -->`.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from experiments.common.markdown import refresh, table
from samurai_env import samurai_v0
from samurai_env.core.game import Game, find_game
from samurai_env.games.board import actions, state
from samurai_env.games.board.rules import tiles, topology
from samurai_env.games.card import actions as card_actions
from samurai_env.games.card.rules import card_lists, cards
from samurai_env.games.spirit import actions as spirit_actions
from samurai_env.games.spirit.display.card_texts import PENALTIES, TALENTS
from samurai_env.games.spirit.rules.cards import DATA as SPIRIT_DATA

BOARD, CARD, SPIRIT = (find_game(name) for name in ("samurai", "samurai_card", "samurai_spirit"))
PLAYERS = BOARD.players


# --- For every game ---


def columns(game: Game) -> dict[int, str]:
    """The numbers of players that the tables of a game show, with their heads."""
    if game is SPIRIT:
        return {n: f"{n} samurai" for n in (1, 2, 4, 7)}
    return {n: f"{n} players" for n in game.players}


def times(shape: Sequence[int]) -> str:
    """A shape as text."""
    return " × ".join(map(str, shape)) if shape else "1"


def facts(game: Game, *own: tuple[str, Any]) -> str:
    """Sizes by number of players; `own` are further rows, with values that are indexed by it."""
    variants = [game.variant(n) for n in columns(game)]
    rows: list[list[object]] = [[name, *(int(values[n]) for n in columns(game))] for name, values in own]
    rows += [
        ["action ids", *(v.num_actions for v in variants)],
        ["decisions in a game, at most", *(v.max_steps for v in variants)],
        ["bytes of a state", *(v.dtype.itemsize for v in variants)],
    ]
    rows += [[f"shape of `{name}`", *(times(v.encoding(name).shape) for v in variants)] for name in game.encodings]
    return table(["", *columns(game).values()], rows)


def options(game: Game, **values: str) -> str:
    """The options of a variant; `values` describes those that cannot be listed."""
    rows = []
    for name, option in game.options.items():
        listed = values.get(name) or ", ".join(f"`{value!r}`" for value in option.values)
        rows.append([f"`{name}`", listed, f"`{option.default!r}`", option.meaning])
    return table(["option", "values", "default", "meaning"], rows)


def encoding(game: Game, name: str) -> str:
    """The blocks of an encoding."""
    layouts = [game.encodings[name](n) for n in columns(game)]
    rows = []
    for blocks in zip(*(layout.blocks for layout in layouts), strict=True):
        cells = []
        for layout, block in zip(layouts, blocks, strict=True):
            place = layout.slices()[block.name]
            shape = f" ({times(block.shape)})" if len(block.shape) > 1 else ""
            cells.append(f"`{place.start}:{place.stop}`{shape}")
        low, high = blocks[0].limits
        rows.append([f"`{blocks[0].name}`", *cells, f"{low} … {high}", blocks[0].meaning])
    return table(["block", *columns(game).values(), "values", "meaning"], rows)


# --- The board game ---


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


# --- The card game ---


def influence_cards() -> str:
    """The kinds of influence card."""
    copies = [card_lists.card_list(card_lists.DEFAULT).settings(n)["copies"] for n in columns(CARD)]
    rows = []
    for kind, (code, (name, value)) in enumerate(zip(cards.KIND_CODES, cards.KIND_NAMES, strict=True)):
        rows.append([kind, f"`{code}`", f"{name} {value}", *(int(counts[kind]) for counts in copies)])
    return table(["id", "code", "kind", *(f"copies, {head}" for head in columns(CARD).values())], rows)


def village_cards() -> str:
    """The kinds of village card."""
    shapes = dict(zip(cards.SHAPE_LETTERS, cards.SHAPES, strict=True))
    rows = []
    for code, count in zip(cards.VILLAGE_CODES, card_lists.card_list(card_lists.DEFAULT).villages, strict=True):
        rows.append([f"`{code}`", " + ".join(shapes[letter] for letter in code), count])
    return table(["code", "symbols", "village cards"], rows)


def card_action_ids() -> str:
    """The groups of action ids, which are the same for all numbers of players."""
    firsts = [int(group[0][2]) for group in card_actions.GROUPS]
    ends = [*firsts[1:], card_actions.ACTIONS]
    rows = []
    for (_, name, meaning), first, end in zip(card_actions.GROUPS, firsts, ends, strict=True):
        rows.append([name, f"`{first}:{end}`", f"`{card_actions.names(2)[first]}`", meaning])
    return table(["group", "ids", "first name", "meaning"], rows)


# --- Samurai Spirit ---


def spirit_data() -> dict[str, Any]:
    """Cards and Kiai values with how sure they are."""
    return json.loads((SPIRIT_DATA / "spirit.json").read_text(encoding="utf-8"))


def raiders() -> str:
    """The 66 raiders with the status of each."""
    rows = []
    for card in spirit_data()["cards"]:
        penalty = ", ".join(card["penalties"]) or "–"
        flames = "flames" if card["flames"] else ""
        rows.append([card["id"], card["value"], card["defence"] or "–", penalty, flames, card["confidence"]])
    return table(["card", "value", "symbol", "penalty", "flames", "status"], rows)


def penalties() -> str:
    """Make the table of penalty icons."""
    return table(["icon", "penalty"], [[f"`{icon}`", meaning] for icon, meaning in PENALTIES.items()])


def talents() -> str:
    """Make the table of talents and Kiai."""
    rows = [[name, *words] for name, words in TALENTS.items()]
    return table(["samurai", "talent", "Kiai, human side", "Kiai, animal side"], rows)


def kiai_values() -> str:
    """Kiai values with the status of each."""
    rows = []
    for one in spirit_data()["samurai"]:
        sides = [f"{one[f'kiai_{side}']} ({one[f'confidence_{side}']})" for side in ("human", "animal")]
        rows.append([one["name"], *sides])
    return table(["samurai", "Kiai, human side", "animal side"], rows)


def spirit_action_ids() -> str:
    """The groups of action ids."""
    rows = []
    for first, last, name, meaning in spirit_actions.GROUPS:
        ids = f"{first}" if first == last else f"{first}:{last + 1}"
        if first == spirit_actions.PLAYER0:
            ids = f"{first}:{first} + n"
        rows.append([f"`{ids}`", f"`{name}`", f"`{spirit_actions.names(7)[first]}`", meaning])
    return table(["ids", "name", "first of them", "meaning"], rows)


# --- A traced turn, for the page of the environments ---


def turn(env: Any) -> Iterator[str]:
    """The actions of a turn that plays a ship, then a plain land tile, and ends."""
    hand = env.position.state["hand"][env.position.seat]
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
        kinds_held = int(env.position.state["kinds"][0])
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
        phase = state.PHASES[int(env.position.state["phase"])]
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
    hexes = {n: len(topology.hexes_in_play(n)) for n in PLAYERS}
    board = {
        "facts": facts(
            BOARD,
            ("hexes", hexes),
            ("open land hexes", topology.LANDS),
            ("sea hexes", topology.SEAS),
            ("settlements", topology.SETTLEMENTS),
            ("figures of each kind", topology.FIGURES_EACH),
        ),
        "options": options(BOARD, first='a seat, `"random"`'),
        "tiles": kinds(),
        "settlements": settlements(),
        "actions": action_ids(),
    }
    card = {
        "facts": facts(CARD, ("cards of a player", cards.CARDS_EACH), ("stones of each shape", cards.STONES_EACH)),
        "options": options(CARD, first='a seat, `"random"`'),
        "cards": influence_cards(),
        "villages": village_cards(),
        "actions": card_action_ids(),
    }
    spirit = {
        "facts": facts(SPIRIT),
        "options": options(SPIRIT, samurai='`"random"` or a sequence of names, one a seat', first='a seat, `"random"`'),
        "penalties": penalties(),
        "talents": talents(),
        "cards": raiders(),
        "samurai": kiai_values(),
        "actions": spirit_action_ids(),
    }
    found = {"docs/reference/environments.md": {"trace": trace()}}
    for page, game, parts in (("board_game", BOARD, board), ("card_game", CARD, card), ("spirit", SPIRIT, spirit)):
        found[f"docs/games/{page}.md"] = parts | {name: encoding(game, name) for name in game.encodings}
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.generate.tables", description="Write the parts of the pages that follow from the code."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is out of date")
    given = parser.parse_args(arguments)
    stale = refresh(pages(), write=not given.check)
    for path in stale:
        print(f"{path} {'is out of date' if given.check else 'written'}")
    return int(given.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
