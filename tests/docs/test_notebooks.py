"""The notebooks run from top to bottom, and are kept with the outputs of such a run."""

from pathlib import Path

import nbformat
import pytest

from docs.generate.notebooks import NOTEBOOKS, run

LARGEST = 1_000_000  # bytes


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(notebook: nbformat.NotebookNode) -> list[str]:
    """What each cell prints."""
    return ["".join(output.get("text", "") for output in cell.outputs) for cell in code_cells(notebook)]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_run_prints_what_is_kept(path: Path) -> None:
    kept = nbformat.read(path, as_version=4)
    assert printed(run(path)) == printed(kept), "write them again: python -m docs.generate.notebooks"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_kept_with_the_outputs_of_one_run(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = code_cells(notebook)
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert {output.output_type for output in outputs} <= {"stream", "display_data"}  # no error
    assert not any(output.get("name") == "stderr" for output in outputs)
    assert path.stat().st_size < LARGEST


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS
