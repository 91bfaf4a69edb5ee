"""Positions set up by hand: what can be set in each game, and why a position is impossible.

A game declares it as an `Editor`; everything else here is written once. Values are texts, so that they can be stored
as JSON, compared and shown::

    variant = make_variant("samurai", 2)
    values = editor_of(variant).start(variant)   # of a legal position
    values["captured 0 helmet"] = "2"
    position = set_up(variant, values)           # or a ValueError that says what is impossible
"""

from samurai_env.editors.editor import Draft, Editor, Entry, draft, editor_of, set_up, start, values_of

__all__ = ["Draft", "Editor", "Entry", "draft", "editor_of", "set_up", "start", "values_of"]
