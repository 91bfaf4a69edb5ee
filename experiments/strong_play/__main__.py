"""Measure how strong agents play, and write docs/background/strong_play.md with its pictures.

    python -m experiments.strong_play              # play what is missing (minutes), write page and pictures
    python -m experiments.strong_play --no-play    # only write them from what has been played

`experiments/strong_play/sections.toml` says who plays what and how often, `page.md` beside it is the text. What is
measured is in `experiments/results/strong-play`, as sums over games; the same command resumes.
"""

from dataclasses import dataclass

from rich.console import Console

from experiments.common.cli import run_program
from experiments.common.interrupts import Interrupt
from experiments.common.provenance import ROOT
from experiments.common.ranges import check_ranges
from experiments.common.tasks import WorkerSettings
from experiments.strong_play.outputs import IMAGES, texts
from experiments.strong_play.page import measured
from experiments.strong_play.pictures import draw
from experiments.strong_play.play import play, read_sections
from samurai_env.files.atomic_write import write_atomically


@dataclass
class Config(WorkerSettings):
    """Settings of the page."""

    play: bool = True
    """Play what is missing; otherwise only write the page."""
    check: bool = False
    """Neither play nor write; exit with 1 if the page or its map is out of date."""


def main(config: Config) -> None:
    """Play and write."""
    check_ranges(config)
    console, interrupt = Console(), Interrupt()
    if config.play and not config.check:
        play(read_sections(), config, console, interrupt=interrupt)
        interrupt.end()
    stale = False
    for path, text in texts().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale = True
            console.print(f"{path.relative_to(ROOT)} {'is out of date' if config.check else 'written'}")
            if not config.check:
                write_atomically(path, text)
    if config.check:
        raise SystemExit(int(stale))
    draw(measured(), IMAGES)


if __name__ == "__main__":
    run_program("experiments.strong_play", Config, main, __doc__)
