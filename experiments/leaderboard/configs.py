"""The settings with which the tables of the leaderboard are played."""

import os
from pathlib import Path

from experiments import cooperative, tournament
from experiments.common.provenance import ROOT
from experiments.evaluation.ladders import Ladder


def tournament_config(ladder: Ladder, folder: Path, full: bool) -> tournament.Config:
    """The settings with which a table of ratings is played."""
    return tournament.Config(
        agents=ladder.agents + (ladder.slow if full else ()),
        game=ladder.game,
        deals=ladder.full_deals if full else ladder.deals,
        first_deal=ladder.first_deal,
        mirror=ladder.mirror,
        width=ladder.width,
        winner=ladder.winner,
        above=ladder.above,
        free_for_all=ladder.free_for_all,
        chunk=ladder.chunk,
        output=Path(os.path.relpath(folder / ladder.name, ROOT)),  # it becomes part of the command on the page
    )


def cooperative_config(ladder: Ladder, folder: Path, full: bool) -> cooperative.Config:
    """The settings with which a table of win rates is played."""
    return cooperative.Config(
        game=ladder.game,
        agents=ladder.agents + (ladder.slow if full else ()),
        vary=ladder.vary,
        games=ladder.full_deals if full else ladder.deals,
        output=Path(os.path.relpath(folder / ladder.name, ROOT)),
    )
