"""Measurements in every game: length, choices, who wins, how the lead runs, how often `greedy` agrees."""

import numpy as np

from experiments.strong_play.recording import Games
from experiments.strong_play.statistics import PerGame
from samurai_env.core.payoffs import win_shares
from samurai_env.game_batch import GameBatch

PARTS = 10  # of a game, by its decisions


def measure(games: Games) -> dict[str, PerGame]:
    """Measure games of any competitive game; progress towards the end is what its `potential` says."""
    return {**_choices(games), **_results(games), "ahead": _ahead(games), "agreement": _agreement(games)}


def ratio(parts: np.ndarray, wholes: np.ndarray) -> np.ndarray:
    """Quotients, float64 of the broadcast shape, NaN where `wholes` is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(wholes > 0, parts / wholes, np.nan)


def _choices(games: Games) -> dict[str, PerGame]:
    count, game = len(games.ends), games.game
    legal = GameBatch(games.variant).legal_masks(games.states).sum(1, dtype=np.int64)
    choice = legal > 1
    choices = np.bincount(game[choice], minlength=count).astype(float)
    actions = np.bincount(game[choice], legal[choice], minlength=count)
    length = np.diff(games.starts).astype(float)
    values = np.column_stack([length, choices, ratio(actions, choices)])
    return {"length": PerGame(("decisions", "choices", "actions"), values)}


def _results(games: Games) -> dict[str, PerGame]:
    n = games.variant.num_players
    won = win_shares(games.returns, n)
    won[~games.counted] = np.nan
    seats = PerGame([f"{seat}" for seat in range(n)], won)
    potential, sole = GameBatch(games.variant).potential(games.ends), games.returns.max(1) == 1
    winner = games.returns.argmax(1)
    own = potential[np.arange(len(winner)), winner]
    potential[np.arange(len(winner)), winner] = -1
    best = potential.max(1)
    taken = np.column_stack([own, best, own - best, own < best]).astype(float)
    taken[~sole] = np.nan
    return {
        "seat": seats,
        "won": PerGame(("share",), np.nanmean(won, 1, keepdims=True)),
        "taken": PerGame(("winner", "other", "lead", "fewer"), taken),
    }


def _parts() -> list[str]:
    return [f"{part}" for part in range(1, PARTS + 1)]


def _ahead(games: Games) -> PerGame:
    """Whether the later winner leads by potential when each tenth of the game ends, a tie counting one half."""
    rows = np.arange(len(games.ends))
    winner, sole = games.returns.argmax(1), games.returns.max(1) == 1
    values = np.full((len(rows), PARTS), np.nan)
    batch, lengths = GameBatch(games.variant), np.diff(games.starts)
    for part in range(1, PARTS + 1):
        at = games.starts[:-1] + lengths * part // PARTS
        states = games.ends if part == PARTS else games.states[at]
        potential = batch.potential(states)
        own = potential[rows, winner]
        potential[rows, winner] = -1
        best = potential.max(1)
        values[:, part - 1] = (own > best) + 0.5 * (own == best)
    values[~sole] = np.nan
    return PerGame(_parts(), values)


def _agreement(games: Games) -> PerGame:
    """How often a counted seat takes an action that `greedy` could take, by tenth of the game.

    Decisions in which `greedy` would take any legal action are left out.
    """
    batch = GameBatch(games.variant)
    masks = batch.legal_masks(games.states) > 0
    logits = np.where(masks, batch.policy_logits(games.states), -np.inf)
    best, worst = logits.max(1), np.where(masks, logits, np.inf).min(1)
    same = logits[np.arange(len(logits)), games.actions] == best
    asked = (best > worst) & games.own
    game = games.game
    part = (np.arange(len(game)) - games.starts[game]) * PARTS // np.diff(games.starts)[game]
    shape = (len(games.ends), PARTS)
    cell = game * PARTS + part
    agreed = np.bincount(cell[asked & same], minlength=shape[0] * PARTS).reshape(shape)
    decided = np.bincount(cell[asked], minlength=shape[0] * PARTS).reshape(shape)
    values = np.column_stack([ratio(agreed, decided), ratio(agreed.sum(1), decided.sum(1))])
    return PerGame([*_parts(), "all"], values)
