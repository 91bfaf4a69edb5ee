"""Colours of all games. The seats have those of the colour-blind-safe palette of Okabe and Ito (2008)."""


class Themed(str):
    """A colour that a page may replace: CSS finds what is painted with it by the classes fill-NAME and stroke-NAME."""

    name: str

    def __new__(cls, name: str, color: str) -> "Themed":
        """The colour called `name` on pages."""
        themed = super().__new__(cls, color)
        themed.name = name
        return themed


PAPER, PANEL, PANEL_EDGE = Themed("paper", "#f6f2e9"), Themed("panel", "#fffdf8"), Themed("panel-edge", "#a9a294")
TEXT, FAINT_TEXT = Themed("text", "#22262b"), Themed("faint-text", "#62676e")  # on paper and panels
PIECE_EDGE = Themed("piece-edge", "#2b2b2b")  # of black pieces that lie on paper and panels
INK, FAINT_INK = "#22262b", "#6a6f76"  # on pieces, which look the same in every theme
MARK, MARK_EDGE = "#f0e442", "#22262b"  # the last move, the seat to move
SEATS = (  # fill, ink on it, name
    ("#0072b2", "#ffffff", "blue"),
    ("#d55e00", "#ffffff", "vermilion"),
    ("#cc79a7", "#22262b", "pink"),
    ("#009e73", "#ffffff", "green"),
)
BLACK, GOLD, WHITE = "#2b2b2b", "#e9b53a", "#ffffff"  # helmets, buddhas, rice
