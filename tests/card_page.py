"""The parts of `docs/card_game.md` that follow from the code: `python -m tests.card_page` writes them."""

from collections.abc import Callable, Sequence

from experiments.pages import refresh, table
from samurai_env.card import actions, cards, lists
from samurai_env.card.game import GAME

PLAYERS = GAME.players
HEAD = [f"{n} players" for n in PLAYERS]


def by_players(value: Callable[[int], object]) -> list[object]:
    return [value(n) for n in PLAYERS]


def times(shape: Sequence[int]) -> str:
    return " × ".join(map(str, shape))  # noqa: RUF001


def facts() -> str:
    variants = {n: GAME.variant(n) for n in PLAYERS}
    rows: list[list[object]] = [
        ["cards of a player", *by_players(lambda n: cards.CARDS_EACH[n])],
        ["stones of each shape", *by_players(lambda n: int(cards.STONES_EACH[n]))],
        ["action ids", *by_players(lambda n: variants[n].num_actions)],
        ["decisions in a game, at most", *by_players(lambda n: variants[n].max_steps)],
        ["bytes of a record", *by_players(lambda n: variants[n].dtype.itemsize)],
    ]
    for name in GAME.encodings:
        rows.append([f"shape of `{name}`", *by_players(lambda n, name=name: times(variants[n].encoding(name).shape))])
    return table(["", *HEAD], rows)


def influence_cards() -> str:
    copies = {n: lists.card_list(lists.DEFAULT).settings(n)["copies"] for n in PLAYERS}
    rows = []
    for kind, (code, (name, value)) in enumerate(zip(cards.KIND_CODES, cards.KIND_NAMES, strict=True)):
        rows.append([kind, f"`{code}`", f"{name} {value}", *by_players(lambda n, kind=kind: int(copies[n][kind]))])
    return table(["id", "code", "kind", *(f"copies, {head}" for head in HEAD)], rows)


def village_cards() -> str:
    counts = lists.card_list(lists.DEFAULT).villages
    shapes = dict(zip(cards.SHAPE_LETTERS, cards.SHAPES, strict=True))
    rows = [
        [f"`{code}`", " + ".join(shapes[letter] for letter in code), count]
        for code, count in zip(cards.VILLAGE_CODES, counts, strict=True)
    ]
    return table(["code", "symbols", "village cards"], rows)


def options() -> str:
    rows = [
        [f"`{name}`", ", ".join(f"`{value!r}`" for value in option.values), f"`{option.default!r}`", option.meaning]
        for name, option in GAME.options.items()
    ]
    return table(["option", "values", "default", "meaning"], rows)


def action_ids() -> str:
    starts = [int(group[0][2]) for group in actions.GROUPS]
    rows = [
        [name, f"`{first}:{end}`", f"`{actions.names(2)[first]}`", meaning]
        for (_, name, meaning), first, end in zip(actions.GROUPS, starts, [*starts[1:], actions.ACTIONS], strict=True)
    ]
    return table(["group", "ids", "first name", "meaning"], rows)


def encoding(name: str) -> str:
    layouts = {n: GAME.encodings[name](n) for n in PLAYERS}
    places = {n: layout.slices() for n, layout in layouts.items()}
    rows = []
    for blocks in zip(*(layout.blocks for layout in layouts.values()), strict=True):
        cells = [
            f"`{places[n][block.name].start}:{places[n][block.name].stop}`"
            + (f" ({times(block.shape)})" if len(block.shape) > 1 else "")
            for n, block in zip(PLAYERS, blocks, strict=True)
        ]
        low, high = blocks[0].limits
        rows.append([f"`{blocks[0].name}`", *cells, f"{low} … {high}", blocks[0].meaning])
    return table(["block", *HEAD, "values", "meaning"], rows)


def pages() -> dict[str, dict[str, str]]:
    """All generated parts."""
    parts = {"facts": facts(), "cards": influence_cards(), "villages": village_cards()}
    parts |= {"options": options(), "actions": action_ids()}
    return {"docs/card_game.md": parts | {name: encoding(name) for name in GAME.encodings}}


if __name__ == "__main__":
    print(*refresh(pages(), write=True))
