"""Run the notebooks from top to bottom and keep their outputs: `python -m docs.generate.notebooks`."""

import os
from copy import deepcopy
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from samurai_env.core.notices import QUIET
from samurai_env.files.atomic_write import write_atomically

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def run(path: Path) -> nbformat.NotebookNode:
    """The notebook with the outputs of a run in a fresh kernel."""
    notebook = nbformat.read(path, as_version=4)
    metadata = deepcopy(notebook.metadata)
    # The limit is for one cell, the first of which may have to compile the rules.
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(ROOT)}},
    )
    os.environ[QUIET] = "off"  # no line on what is compiled among the outputs
    client.execute()
    notebook.metadata = metadata  # without the version of the Python that ran it
    return notebook


def main() -> None:
    """Run and write all notebooks."""
    for path in NOTEBOOKS:
        write_atomically(path, nbformat.writes(run(path)).rstrip("\n") + "\n")
        print(f"{path.relative_to(ROOT)} written, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
