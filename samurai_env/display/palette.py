"""Colours of all games, and of the pages that show them.

The seats have those of the colour-blind-safe palette of Okabe and Ito (2008).
"""


class Themed(str):
    """A colour with another for dark pages: CSS finds what is painted with it by the classes fill-NAME and stroke-NAME.

    Attributes:
        name: of the CSS variable.
        dark: the colour on dark pages.
    """

    name: str
    dark: str

    def __new__(cls, name: str, color: str, dark: str) -> "Themed":
        """The colour called `name` on pages."""
        themed = super().__new__(cls, color)
        themed.name, themed.dark = name, dark
        return themed


PAPER = Themed("paper", "#f6f2e9", "#1d2024")
PANEL, PANEL_EDGE = Themed("panel", "#fffdf8", "#282c31"), Themed("panel-edge", "#a9a294", "#5b6068")
TEXT, FAINT_TEXT = Themed("text", "#22262b", "#eceae5"), Themed("faint-text", "#62676e", "#b3b6ba")  # on these
PIECE_EDGE = Themed("piece-edge", "#2b2b2b", "#b3b6ba")  # of black pieces that lie on paper and panels
ACCENT = Themed("accent", "#7b2cbf", "#d9a8ff")  # of pages: what is chosen, what has the focus
THEMED = (PAPER, PANEL, PANEL_EDGE, TEXT, FAINT_TEXT, PIECE_EDGE, ACCENT)
INK, FAINT_INK = "#22262b", "#6a6f76"  # on pieces, which look the same in every theme
MARK, MARK_EDGE = "#f0e442", "#22262b"  # the last move, the seat to move
SEATS = (  # fill, ink on it
    ("#0072b2", "#ffffff"),  # blue
    ("#d55e00", "#ffffff"),  # vermilion
    ("#cc79a7", "#22262b"),  # pink
    ("#009e73", "#ffffff"),  # green
)
SEAT_LINES = (  # the same as thin lines and text on the ground of pages
    Themed("s0", "#0072b2", "#6cb8ea"),
    Themed("s1", "#b34700", "#ff9a52"),
    Themed("s2", "#a03d77", "#e6a6cb"),
    Themed("s3", "#00734f", "#4fcca0"),
)
BLACK, GOLD, WHITE = "#2b2b2b", "#e9b53a", "#ffffff"  # helmets, buddhas, rice


def css_variables(dark: bool = False) -> str:
    """Declarations of the CSS variables `--NAME`, one for each of `THEMED` and `SEAT_LINES`."""
    return " ".join(f"--{c.name}: {c.dark if dark else c};" for c in (*THEMED, *SEAT_LINES))


def css_classes() -> str:
    """Rules that paint the classes of pictures with the CSS variables."""
    uses = ("fill", "stroke")
    return "\n".join(f".{use}-{c.name} {{ {use}: var(--{c.name}); }}" for c in THEMED for use in uses)
