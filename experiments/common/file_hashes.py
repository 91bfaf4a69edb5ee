"""What the files that an agent's spec names hold, so that results are not those of another agent of the same name."""

import hashlib
import importlib.util
from pathlib import Path

from agents.api import is_guest
from agents.networks.network import weights_file


def fingerprint(spec: str) -> str | None:
    """The beginning of the SHA-256 of the files that a spec names, a network or a module; None if it names none."""
    name, *parts = spec.replace(",", ":").split(":")
    files = [weights_file(Path(part)) for part in parts if part]
    if is_guest(name) and (module := importlib.util.find_spec(name.rpartition(".")[0])) and module.origin:
        files.append(Path(module.origin))
    read = [path.read_bytes() for path in files if path.is_file()]
    return hashlib.sha256(b"".join(read)).hexdigest()[:16] if read else None


def enter(spec: str, known: dict[str, str], path: Path) -> None:
    """Note the fingerprint of an agent whose results the file `path` holds or will hold.

    Args:
        spec: of the agent.
        known: fingerprints by spec, in and out.
        path: for the error.

    Raises:
        ValueError: a file that the spec names has changed since.
    """
    now, before = fingerprint(spec), known.get(spec)
    if before is not None and now != before:
        raise ValueError(f"{path} is of another {spec}: its file has changed; choose another --output")
    if now is not None:
        known[spec] = now
