"""Paths of networks: named by path, by the folder of a run, or by the name of a shipped network."""

from pathlib import Path

SHIPPED = Path(__file__).resolve().parents[2] / "weights"  # beside this package, in a clone and in a wheel
SUFFIX = ".safetensors"


def weights_file(path: Path) -> Path:
    """Find the file of weights that `path` names.

    Args:
        path: a .safetensors file, with or without its suffix, or the folder of a training run. What does not exist
            but reads `weights/NAME`, as in the results of this project, is the shipped file of that name, from
            wherever the program is run.

    Returns:
        The file; `path` itself if there is none.
    """
    if path.is_dir():
        return path / f"model{SUFFIX}"
    places = [path, path.with_name(path.name + SUFFIX)] if path.name else [path]
    if path.parts[:1] == ("weights",) and path.name != "weights":
        shipped = SHIPPED / path.relative_to("weights")
        places += [shipped, shipped.with_name(shipped.name + SUFFIX)]
    return next((place for place in places if place.is_file()), path)


def shipped_networks() -> list[Path]:
    """The files of the networks that come with the project, by name."""
    return shipped_weights("")


def shipped_weights(folder: str) -> list[Path]:
    """The files of weights in a folder of those that come with the project, by name."""
    return sorted((SHIPPED / folder).glob(f"*{SUFFIX}"))
