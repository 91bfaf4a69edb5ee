"""Take the picture of the browser table that the README shows.

    python -m docs.generate.web_picture

Needs Chromium with its driver. It shows a position of docs/replays/board.txt with two judges, as docs/images/web.png.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from docs.generate.pictures import IMAGES
from docs.generate.replays import FOLDER
from experiments.web.table import Table
from samurai_env.files.atomic_write import write_atomically
from samurai_env.game_record import GameRecord

MOVE = 60  # that is shown


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.generate.web_picture", description="Take the README's picture."
    )
    parser.parse_args(arguments)
    from PIL import Image

    from tests.web.served import served
    from tests.web.test_browser import Page

    with tempfile.TemporaryDirectory() as name, served(Path(name) / "t.sqlite", ("greedy", "mcts:1000")) as server:
        page = Page(Path(name), 1280, 720)
        try:
            table = Table.of_record(GameRecord.load(FOLDER / "board.txt"))
            server.server.add(table)
            page.open(server.address, table.watch)
            page.until("return document.querySelectorAll('#judges input').length")
            page.run("document.getElementById('analyse-game').click()")
            page.until("return !document.getElementById('analyse-game').disabled && document.querySelector('.curve')")
            page.run(f"document.querySelectorAll('#moves button')[{MOVE}].click()")
            page.until("return document.querySelector('.line')")
            page.run("document.querySelector('.judge').scrollIntoView()")
            time.sleep(2.0)  # what has moved stops flashing
            image = Image.open(BytesIO(page.driver.get_screenshot_as_png())).convert("RGB")
        finally:
            page.driver.quit()
    written = BytesIO()
    image.quantize(128, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
    write_atomically(IMAGES / "web.png", written.getvalue())
    print(IMAGES / "web.png")


if __name__ == "__main__":
    main()
