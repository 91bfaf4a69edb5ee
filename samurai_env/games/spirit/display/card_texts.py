"""Samurai and penalties in a line each, for the terminal and for docs/games/spirit.md."""

# By name, in the order of `cards.SAMURAI`: the talent, and the effect of the Kiai on the human and on the animal side.
TALENTS = {
    "Heihachi": (
        "pass an even card on to a neighbour",
        "a barricade comes",
        "a barricade comes, and a wound token anywhere goes",
    ),
    "Daisuke": (
        "pass an odd card on to a neighbour",
        "the last card of a line goes to another samurai, who fights it without talents",
        "the last card of a line goes to another samurai, who fights it without talents; up to twice",
    ),
    "Gorobei": (
        "ignore penalties of even cards",
        "discard the two top raiders",
        "discard the three top raiders",
    ),
    "Kanbei": (
        "ignore penalties of odd cards",
        "discard the two top intruders",
        "discard the three top intruders",
    ),
    "Kikuchiyo": (
        "fight twice",
        "discard the last card of a line",
        "discard the last card of a line, up to twice",
    ),
    "Kyuzo": (
        "discard a card whose value is in the own line",
        "a support token goes from its owner to another samurai",
        "a support token goes from its owner to another samurai, and a barricade comes",
    ),
    "Katsushiro": (
        "put a drawn card under the raiders, draw another, and keep it",
        "open the two top raiders, put them back in any order",
        "open the three top raiders, put them back in any order",
    ),
}

PENALTIES = {
    "fire": "a barricade goes; without one a farmstead",
    "wound": "a wound",
    "ninja": "the top raider joins the intruders unseen",
    "no_defend": "no defending in this turn",
    "no_support": "no supporting in this turn",
    "left_draws": "the left neighbour lays the top raider into the line, without talents",
    "right_draws": "the right neighbour lays the top raider into the line, without talents",
    "must_pass": "pass in this turn",
    "recycle": "a random discarded card is shuffled among the raiders",
    "no_talent": "no talents in this turn, neither own nor lent",
    "discard_defender": "discard a card of the own left",
}
