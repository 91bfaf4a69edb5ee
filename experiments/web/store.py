"""Tables on disk, so that the server can be killed at any moment and goes on with every one."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

SCHEMA = """
CREATE TABLE IF NOT EXISTS tables (name TEXT PRIMARY KEY, created REAL NOT NULL, head TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS decisions (
    name TEXT NOT NULL REFERENCES tables(name) ON DELETE CASCADE,
    number INTEGER NOT NULL, action INTEGER NOT NULL, PRIMARY KEY (name, number)
);
"""
COLUMNS = {"tables": "name, created, head", "decisions": "name, number, action"}


class Store:
    """A SQLite file with what makes up a table: its head (JSON) and its decisions.

    Each call is one transaction on disk. All may be called from any thread. Nobody else can use the file meanwhile.

    Raises:
        sqlite3.Error: the file is no such file, cannot be written, or is in use.
    """

    def __init__(self, path: Path) -> None:
        self._lock = Lock()
        self._connection = sqlite3.connect(path, timeout=1, isolation_level=None, check_same_thread=False)
        names = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        there = {name for (name,) in names if not name.startswith("sqlite_")}  # those are SQLite's own
        if there and there != set(COLUMNS):
            raise sqlite3.DatabaseError("it is another program's file")
        for name in there:
            self._connection.execute(f"SELECT {COLUMNS[name]} FROM {name} LIMIT 0")
        # Of two servers with one file, neither would know what the other did.
        self._connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")  # with WAL no process that dies loses a commit
        self._connection.execute("PRAGMA foreign_keys=ON")
        self._connection.executescript(SCHEMA)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def tables(self) -> Iterator[tuple[str, float, str, list[int]]]:
        """Name, time of creation (seconds since 1970), head and decisions of each table, oldest first."""
        with self._lock:
            rows = self._connection.execute("SELECT name, created, head FROM tables ORDER BY created").fetchall()
            decisions: dict[str, list[int]] = {name: [] for name, _, _ in rows}
            for name, action in self._connection.execute("SELECT name, action FROM decisions ORDER BY name, number"):
                decisions[name].append(action)
        for name, created, head in rows:
            yield name, created, head, decisions[name]

    def add_table(self, name: str, created: float, head: str, actions: list[int]) -> None:
        """Write a new table."""
        with self._lock:
            self._connection.execute("BEGIN")
            try:
                self._connection.execute("INSERT INTO tables VALUES (?, ?, ?)", (name, created, head))
                rows = [(name, number, action) for number, action in enumerate(actions)]
                self._connection.executemany("INSERT INTO decisions VALUES (?, ?, ?)", rows)
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise

    def add_decision(self, name: str, number: int, action: int) -> None:
        """Write one more decision of a table."""
        with self._lock:
            self._connection.execute("INSERT INTO decisions VALUES (?, ?, ?)", (name, number, action))

    def cut(self, name: str, count: int) -> None:
        """Keep the first `count` decisions of a table."""
        with self._lock:
            self._connection.execute("DELETE FROM decisions WHERE name = ? AND number >= ?", (name, count))

    def remove(self, name: str) -> None:
        """Forget a table."""
        with self._lock:
            self._connection.execute("DELETE FROM tables WHERE name = ?", (name,))
