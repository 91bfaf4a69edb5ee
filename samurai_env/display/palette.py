"""Colours of all games. The seats have those of the colour-blind-safe palette of Okabe and Ito (2008)."""

INK, FAINT_INK = "#22262b", "#6a6f76"
PAPER, PANEL, PANEL_EDGE = "#f6f2e9", "#fffdf8", "#a9a294"
MARK, MARK_EDGE = "#f0e442", "#22262b"  # the last move, the seat to move
SEATS = (  # fill, ink on it, name
    ("#0072b2", "#ffffff", "blue"),
    ("#d55e00", "#ffffff", "vermilion"),
    ("#cc79a7", "#22262b", "pink"),
    ("#009e73", "#ffffff", "green"),
)
BLACK, GOLD, WHITE = "#2b2b2b", "#e9b53a", "#ffffff"  # helmets, buddhas, rice
