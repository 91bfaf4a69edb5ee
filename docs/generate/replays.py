"""Let the strongest agents play the games that the first page of the site steps through.

    python -m docs.generate.replays               # play them; docs/replays/*.txt are their records
    python -m docs.generate.replays --agent best:1s

mkdocs calls `on_post_build`, which writes each record as a page of its own into the site.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from samurai_env import Position, parse_variant
from samurai_env.files.atomic_write import write_atomically
from samurai_env.game_record import GameRecord

FOLDER = Path(__file__).resolve().parents[1] / "replays"
GAMES = {  # name: variant and seed
    "board": ("samurai players=2", 2026),
    "card": ("samurai_card players=2", 2026),
    "spirit": ("samurai_spirit players=4 difficulty=easy", 2026),
}


def play(spec: str, seed: int, agent: str) -> GameRecord:
    """A game of an agent against itself."""
    from agents.best import named
    from agents.registry import make_agent
    from samurai_env.agent_api import decision_keys

    variant = parse_variant(spec)
    player = make_agent(agent, variant)

    def choose(position: Position) -> int:
        keys = decision_keys(position.states["seed"], position.states["steps"], position.seat)
        return int(player.act(position.states, keys)[0])

    tags = {f"player{seat}": named(agent, variant) for seat in range(variant.num_players)}
    return GameRecord.play(variant, seed, choose, tags)


def on_post_build(config: Any, **_: Any) -> None:
    """Write the replays into the site (a hook of mkdocs)."""
    site = Path(config["site_dir"]) / "replays"
    site.mkdir(parents=True, exist_ok=True)
    for path in sorted(FOLDER.glob("*.txt")):
        write_atomically(site / f"{path.stem}.html", GameRecord.load(path).to_html())


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.generate.replays", description="Play the games of the first page."
    )
    parser.add_argument("--agent", default="best", help="who plays on all seats (default: best)")
    wanted = parser.parse_args(arguments)
    FOLDER.mkdir(exist_ok=True)
    for name, (spec, seed) in GAMES.items():
        record = play(spec, seed, wanted.agent)
        record.save(FOLDER / f"{name}.txt")
        print(f"{FOLDER / name}.txt: {record.tags['player0']}, {len(record.actions)} decisions")


if __name__ == "__main__":
    main()
