"""The table of best responses, from the files of `experiments.best_response` that the project keeps."""

from pathlib import Path
from typing import Annotated

import numpy as np
from msgspec import Meta, Struct

from experiments.common.markdown import table, variant_title
from experiments.common.provenance import as_list
from experiments.evaluation.matches import estimate
from samurai_env import parse_variant
from samurai_env.files.json_reader import read_json

FOLDER = "best-response"  # in experiments/results; a folder for each target
FILE = "best_response.json"
TITLE = "Best responses"
ABOUT = """\
What somebody wins who knows the agent and does nothing but exploit it, playing one seat against copies of it: PPO
with up to three seeds, started from the agent's own network if it is one, and search. The best response wins at least
as much as each of them. The best of several is a little too high, since it was chosen on the deals that measure it;
the shares after half of the decisions are points of learning curves, of 100 other deals. On a small game whose best
response is known, exploiters come within five points of it and do not win more (`tests/mini/test_exact_play.py`)."""
CURVES = """\
![Win share of each exploiter by its decisions, a panel for each agent](docs/images/best-response.png)

Lines: learning curves of PPO, one color a seed, 100 deals a point; points: the table's shares with 95 % intervals;
dotted: search; dashed: par."""
HEAD = ["game", "agent", "decisions", "par", "best exploiter", "PPO, by seed", "after half of them", "search", "deals"]


Share = Annotated[float, Meta(ge=0.0, le=1.0)]


class KeptShares(Struct):
    """The form of the file.

    `shares` has a row a deal, for each exploiter; `settings` are those it was made with. `curves` has, for each that
    was trained, decisions and win share against the target on the way. `commit` and `machine` are lists, of all runs;
    see `as_list`.
    """

    settings: dict[str, str]
    networks: dict[str, str]
    shares: dict[str, list[list[Share]]]
    commit: str | list[str] = ""
    machine: str | list[str] = ""
    command: str = ""
    curves: dict[str, list[tuple[int, Share]]] = {}


def kept_shares(folder: Path) -> list[KeptShares]:
    """What has been kept, by game and target; `greedy` first.

    Raises:
        ValueError: a file is damaged.
    """
    found = [read_json(path, KeptShares) for path in sorted((folder / FOLDER).glob(f"*/{FILE}"))]
    found = [kept for kept in found if any(kept.shares.values())]
    return sorted(
        found, key=lambda kept: (kept.settings["variant"], kept.settings["target"] != "greedy", kept.settings["target"])
    )


def part(folder: Path) -> str | None:
    """The section with the table and the commands; None if nothing has been kept.

    Raises:
        ValueError: a file is damaged.
    """
    found = kept_shares(folder)
    if not found:
        return None
    commands = "\n".join(kept.command for kept in found)
    machines = "; ".join(sorted({machine for kept in found for machine in as_list(kept.machine)}))
    commits = ", ".join(sorted({commit for kept in found for commit in as_list(kept.commit)}))
    origin = f"- Code: commit {commits}\n- Machine: {machines}"
    curves = [CURVES] * any(kept.curves for kept in found)
    return "\n\n".join([ABOUT, table(HEAD, [row(kept) for kept in found]), *curves, origin, f"```sh\n{commands}\n```"])


def row(kept: KeptShares) -> list[str]:
    """The cells of a target."""
    variant = parse_variant(kept.settings["variant"])
    shares = {name: estimate(np.array(rows)) for name, rows in kept.shares.items() if rows}
    best = max(shares.values(), key=lambda share: share.mean)
    learned = sorted(name for name in shares if name in kept.curves)
    others = [f"`{name}` {100 * shares[name].mean:.1f}%" for name in shares if name not in kept.curves]
    half = [share_at(kept.curves[name], 0.5) for name in learned]
    return [
        variant_title(variant.spec),
        f"`{kept.settings['target']}`",
        f"{int(kept.settings['total_timesteps']):,}",
        f"{1 / variant.num_players:.0%}",
        str(best).strip(),
        ", ".join(f"{100 * shares[name].mean:.1f}" for name in learned) + "%" * bool(learned),
        ", ".join(f"{100 * share:.0f}" for share in half) + "%" * bool(half),
        ", ".join(others),
        f"{min(len(rows) for rows in kept.shares.values() if rows):,}",
    ]


def share_at(curve: list[tuple[int, float]], part_of_run: float) -> float:
    """The share of a curve's point nearest to a part of its decisions."""
    wanted = part_of_run * curve[-1][0]
    return min(curve, key=lambda point: abs(point[0] - wanted))[1]
