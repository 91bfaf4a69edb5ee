"""Write the parts of docs/spirit.md that follow from the code: facts, options, cards, actions, observations.

python -m tests.spirit_page            # write them
python -m tests.spirit_page --check    # only say whether the page is out of date (exit status 1)
"""

import argparse
import json
import sys
from collections.abc import Sequence

from experiments.pages import refresh, table
from samurai_env.spirit.actions import GROUPS, PLAYER0, names
from samurai_env.spirit.cards import DATA
from samurai_env.spirit.game import GAME

PAGE = "docs/spirit.md"
TIMES = " \N{MULTIPLICATION SIGN} "
SHOWN = (1, 2, 4, 7)  # numbers of players in the tables


def facts() -> str:
    """Sizes by number of players."""
    variants = [GAME.variant(n) for n in SHOWN]
    rows: list[list[object]] = [
        ["action ids", *(v.num_actions for v in variants)],
        ["decisions in a game, at most", *(v.max_steps for v in variants)],
        ["bytes of a record", *(v.dtype.itemsize for v in variants)],
    ]
    for name in GAME.encodings:
        rows.append([f"shape of `{name}`", *(TIMES.join(map(str, v.encoding(name).shape)) for v in variants)])
    return table(["", *(f"{n} samurai" for n in SHOWN)], rows)


def options() -> str:
    """The options of a variant."""
    values = {"samurai": '`"random"` or a sequence of names, one a seat', "first": "a seat"}
    rows = [
        [f"`{name}`", values.get(name) or ", ".join(f"`{v!r}`" for v in o.values), f"`{o.default!r}`", o.meaning]
        for name, o in GAME.options.items()
    ]
    return table(["option", "values", "default", "meaning"], rows)


def cards() -> str:
    """The 66 raiders with the status of each."""
    rows = []
    for card in json.loads((DATA / "spirit.json").read_text(encoding="utf-8"))["cards"]:
        flames = "flames" if card["flames"] else ""
        penalty = ", ".join(card["penalties"]) or "-"
        rows.append([card["id"], card["value"], card["defence"] or "-", penalty, flames, card["confidence"]])
    return table(["card", "value", "symbol", "penalty", "flames", "status"], rows)


def samurai() -> str:
    """Kiai values with the status of each."""
    rows = []
    for one in json.loads((DATA / "spirit.json").read_text(encoding="utf-8"))["samurai"]:
        human = f"{one['kiai_human']} ({one['confidence_human']})"
        rows.append([one["name"], human, f"{one['kiai_animal']} ({one['confidence_animal']})"])
    return table(["samurai", "Kiai, human side", "animal side"], rows)


def action_ids() -> str:
    """The groups of action ids."""
    rows = []
    for first, last, name, meaning in GROUPS:
        ids = f"`{first}`" if first == last else f"`{first}:{last + 1}`"
        ids = f"`{PLAYER0}:{PLAYER0} + n`" if first == PLAYER0 else ids
        rows.append([ids, f"`{name}`", f"`{names(7)[first]}`", meaning])
    return table(["ids", "name", "first of them", "meaning"], rows)


def encoding(name: str) -> str:
    """The blocks of an encoding."""
    layouts = [GAME.encodings[name](n) for n in SHOWN]
    rows = []
    for blocks in zip(*(layout.blocks for layout in layouts), strict=True):
        first = blocks[0]
        cells = []
        for block, layout in zip(blocks, layouts, strict=True):
            where = layout.slices()[block.name]
            shape = f" ({TIMES.join(map(str, block.shape))})" if len(block.shape) > 1 else ""
            cells.append(f"`{where.start}:{where.stop}`{shape}")
        low, high = first.limits
        rows.append([f"`{first.name}`", *cells, f"{low} … {high}", first.meaning])
    return table(["block", *(f"{n} samurai" for n in SHOWN), "values", "meaning"], rows)


def parts() -> dict[str, str]:
    """All generated parts."""
    return {
        "facts": facts(),
        "options": options(),
        "cards": cards(),
        "samurai": samurai(),
        "actions": action_ids(),
        **{name: encoding(name) for name in GAME.encodings},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.spirit_page", description="Write the tables of the page.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page is out of date")
    given = parser.parse_args(arguments)
    stale = refresh({PAGE: parts()}, write=not given.check)
    for path in stale:
        print(f"{path} {'is out of date' if given.check else 'written'}")
    return int(given.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
