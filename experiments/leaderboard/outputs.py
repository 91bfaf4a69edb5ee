"""Writes what follows from the results: LEADERBOARD.md, its pictures, the README's ladder and `agents/best.json`."""

import json

from experiments.common.markdown import refresh
from experiments.common.provenance import RESULTS, ROOT
from experiments.evaluation import best_response_curves, best_responses
from experiments.leaderboard.best_agents import best
from experiments.leaderboard.page import page, readme_part
from experiments.leaderboard.time_curve import draw
from samurai_env import parse_variant
from samurai_env.files.atomic_write import write_atomically

PAGE = ROOT / "LEADERBOARD.md"
BEST = ROOT / "agents" / "best.json"
CURVE = ROOT / "docs" / "images" / "strength-time.png"
BEST_RESPONSES = ROOT / "docs" / "images" / "best-response.png"


def write_pages(write: bool) -> list[str]:
    """Bring LEADERBOARD.md, the README's ladder and what `best` names up to date; the names of those that were not."""
    stale = refresh(readme_part(), write)
    chosen = best()
    for path, text in ((PAGE, page()), (BEST, chosen)):
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path.name)
            if write:
                write_atomically(path, text)
    if write:
        variants = json.loads(chosen)["variants"]
        rated = {spec: rows for spec, rows in variants.items() if not parse_variant(spec).game.cooperative and rows}
        draw(rated, CURVE)
        best_response_curves.draw(best_responses.kept_shares(RESULTS), BEST_RESPONSES)
    return stale
