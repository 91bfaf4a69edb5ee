"""Talents and Kiai of the seven samurai of Samurai Spirit; `spirit.py` has the game and the names of the actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .spirit import SpiritGame, Steps

# ---------------------------------------------------------------------- talents


def ways_with_drawn_card(game: SpiritGame, seat: int, card: str, had: set[int]) -> list[str]:
    """What the talents at hand allow with a card drawn or passed on, besides attack and defend."""
    ways: list[str] = []
    if may_pass_on(game, seat, card):
        ways += [f"give_seat{other}" for other in neighbours(game, seat) if game.in_round(other) and other not in had]
    if may_discard(game, seat, card):
        ways.append("discard")
    if may_replace(game, seat):
        ways.append("replace")
    return ways


def may_pass_on(game: SpiritGame, seat: int, card: str) -> bool:
    """Heihachi may pass an even card to a neighbour, who must fight it at once; Daisuke an odd one."""
    talent = "Heihachi" if game.cards[card].value % 2 == 0 else "Daisuke"
    return talent in game.talents(seat)


def may_discard(game: SpiritGame, seat: int, card: str) -> bool:
    """Kyuzo may discard a card whose value lies already in his combat line."""
    values = {game.cards[other].value for other in game.right[seat]}
    return "Kyuzo" in game.talents(seat) and game.cards[card].value in values


def may_replace(game: SpiritGame, seat: int) -> bool:
    """Katsushiro may put the card under the raider stack and draw another, if there is another."""
    return "Katsushiro" in game.talents(seat) and bool(game.raiders)


def may_ignore_penalty(game: SpiritGame, seat: int, card: str) -> bool:
    """Gorobei may ignore the penalties of even cards, Kanbei those of odd ones."""
    talent = "Gorobei" if game.cards[card].value % 2 == 0 else "Kanbei"
    return talent in game.talents(seat)


def may_fight_again(game: SpiritGame, seat: int) -> bool:
    """Kikuchiyo may fight twice in his turn."""
    return "Kikuchiyo" in game.talents(seat)


def neighbours(game: SpiritGame, seat: int) -> list[int]:
    """The left and the right neighbour: two samurai, one, or none."""
    return [other for other in dict.fromkeys([game.left_of(seat), game.right_of(seat)]) if other != seat]


# ---------------------------------------------------------------------- Kiai


@dataclass(frozen=True)
class Kiai:
    """An effect: whether it can do anything now, and what it does. The last argument: is the animal side up?"""

    possible: Callable[[SpiritGame, int, bool], bool]
    use: Callable[[SpiritGame, int, bool], Steps]


def has_room(game: SpiritGame) -> bool:
    return game.barricades < game.max_barricades


# --- Heihachi: a barricade; animal: and a wound token may leave any board, also that of one who has passed.


def heihachi_possible(game: SpiritGame, seat: int, animal: bool) -> bool:
    return has_room(game) or (animal and any(game.wounds))


def heihachi_use(game: SpiritGame, seat: int, animal: bool) -> Steps:
    game.add_barricade()
    if animal:
        wounded = [f"heal_seat{other}" for other in game.seats if game.wounds[other]]
        choice = yield from game.ask(seat, "kiai_heal", [*wounded, "heal_none"])
        if choice != "heal_none":
            game.wounds[seat_in(choice)] = 0


# --- Daisuke: the last card of any line goes to another samurai, who puts it left or right; animal: up to twice.


def daisuke_givers(game: SpiritGame) -> list[int]:
    """Samurai in the round with a card to give, if there is somebody else in the round to take it."""
    if len(game.seats_in_round()) < 2:
        return []
    return [seat for seat in game.seats_in_round() if game.right[seat]]


def daisuke_possible(game: SpiritGame, seat: int, animal: bool) -> bool:
    return bool(daisuke_givers(game))


def daisuke_use(game: SpiritGame, seat: int, animal: bool) -> Steps:
    for leave in uses(animal, "take_none"):
        givers = [f"take_seat{giver}" for giver in daisuke_givers(game)]
        if not givers:
            return
        choice = yield from game.ask(seat, "kiai_giver", givers + leave)
        if choice == "take_none":
            return
        giver = seat_in(choice)
        receivers = [f"to_seat{other}" for other in game.seats_in_round() if other != giver]
        choice = yield from game.ask(seat, "kiai_receiver", receivers)
        yield from move_last_card(game, giver, seat_in(choice))


def move_last_card(game: SpiritGame, giver: int, receiver: int) -> Steps:
    """The receiver places the card; a barricade if that leads too far, the giver's Kiai, the receiver's Kiai."""
    card = game.right[giver].pop()
    side = yield from game.choose_side(receiver, card)
    if side == "defend":
        game.put_left(receiver, card)
    else:
        yield from game.put_right(receiver, card)
    yield from game.kiai_if_exact(giver)
    yield from game.kiai_if_exact(receiver)


# --- Gorobei: two (animal: three) cards of the raider stack are discarded. Kanbei: of the intruder stack.


def gorobei_possible(game: SpiritGame, seat: int, animal: bool) -> bool:
    return bool(game.raiders)


def gorobei_use(game: SpiritGame, seat: int, animal: bool) -> Steps:
    discard_from(game, game.raiders, 3 if animal else 2)
    yield from ()


def kanbei_possible(game: SpiritGame, seat: int, animal: bool) -> bool:
    return bool(game.intruders)


def kanbei_use(game: SpiritGame, seat: int, animal: bool) -> Steps:
    discard_from(game, game.intruders, 3 if animal else 2)
    yield from ()


def discard_from(game: SpiritGame, stack: list[str], number: int) -> None:
    """If there are fewer, as many as there are."""
    for _ in range(min(number, len(stack))):
        game.discard_top(stack)


# --- Kikuchiyo: the last card of any line (of one in the round) is discarded; animal: up to twice.


def kikuchiyo_targets(game: SpiritGame) -> list[str]:
    return [f"remove_seat{seat}" for seat in game.seats_in_round() if game.right[seat]]


def kikuchiyo_possible(game: SpiritGame, seat: int, animal: bool) -> bool:
    return bool(kikuchiyo_targets(game))


def kikuchiyo_use(game: SpiritGame, seat: int, animal: bool) -> Steps:
    for leave in uses(animal, "remove_none"):
        targets = kikuchiyo_targets(game)
        if not targets:
            return
        choice = yield from game.ask(seat, "kiai_remove", targets + leave)
        if choice == "remove_none":
            return
        target = seat_in(choice)
        game.drop_last(target)
        yield from game.kiai_if_exact(target)


# --- Kyuzo: a support token that lies with its owner goes to another samurai; animal: and a barricade.


def kyuzo_tokens(game: SpiritGame) -> list[str]:
    """Tokens at home whose owner is in the round, if anybody else is."""
    if len(game.seats_in_round()) < 2:
        return []
    return [game.samurai[seat] for seat in game.seats_in_round() if game.token_at_home(seat)]


def kyuzo_possible(game: SpiritGame, seat: int, animal: bool) -> bool:
    return bool(kyuzo_tokens(game)) or (animal and has_room(game))


def kyuzo_use(game: SpiritGame, seat: int, animal: bool) -> Steps:
    if animal:
        game.add_barricade()
    leave = ["token_none"] if animal else []
    choice = yield from game.ask(seat, "kiai_token", [f"token_{name}" for name in kyuzo_tokens(game)] + leave)
    if choice == "token_none":
        return
    token = choice.removeprefix("token_")
    owner = game.samurai.index(token)
    receivers = [f"to_seat{other}" for other in game.seats_in_round() if other != owner]
    choice = yield from game.ask(seat, "kiai_token_to", receivers)
    game.tokens[token] = seat_in(choice)


# --- Katsushiro: the top two (animal: three) raiders are opened and put back, open, in an order of his choice.


def katsushiro_possible(game: SpiritGame, seat: int, animal: bool) -> bool:
    """It can do something if there is a card to open or an order to choose."""
    return len(game.raiders) >= 2 or any(card not in game.known for card in game.raiders)


def katsushiro_use(game: SpiritGame, seat: int, animal: bool) -> Steps:
    number = 3 if animal else 2
    opened = game.raiders[:number]
    game.known.update(opened)
    game.seen.update(opened)
    ordered: list[str] = []
    while opened:
        choice = yield from game.ask(seat, "kiai_top", [f"top_{card}" for card in opened])
        card = choice.removeprefix("top_")
        opened.remove(card)
        ordered.append(card)
        game.raiders[:number] = ordered + opened


# --- all seven


def uses(animal: bool, leave: str) -> Iterator[list[str]]:
    """The uses of a Kiai the animal side has twice: what may be answered to leave it out (the second time only)."""
    yield []
    if animal:
        yield [leave]


def seat_in(action: str) -> int:
    """The seat an action names: 2 for "give_seat2"."""
    return int(action.rpartition("seat")[2])


KIAI = {
    "Heihachi": Kiai(heihachi_possible, heihachi_use),
    "Daisuke": Kiai(daisuke_possible, daisuke_use),
    "Gorobei": Kiai(gorobei_possible, gorobei_use),
    "Kanbei": Kiai(kanbei_possible, kanbei_use),
    "Kikuchiyo": Kiai(kikuchiyo_possible, kikuchiyo_use),
    "Kyuzo": Kiai(kyuzo_possible, kyuzo_use),
    "Katsushiro": Kiai(katsushiro_possible, katsushiro_use),
}
