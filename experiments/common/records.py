"""Game records named on the command line."""

from pathlib import Path

from samurai_env.core.texts import one_line
from samurai_env.game_record import GameRecord, RecordError


def read_record(path: Path) -> GameRecord:
    """The record in a file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no record; one line that names file, line and reason.
    """
    try:
        return GameRecord.load(path)
    except RecordError as error:
        raise ValueError(one_line(f"{one_line(path, 100)}, {error}")) from None
