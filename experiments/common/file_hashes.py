"""Hashes of the files that agent specs name, so that results of agents with the same spec are not mixed up."""

import hashlib
import importlib.util
import shlex
from pathlib import Path

from agents.networks.paths import weights_file
from agents.spec import parse_agent_spec

FILES = ("net", "belief", "value")  # settings of agents that are files


def files_of(spec: str) -> list[Path]:
    """The files that a spec names: a network's weights, the source of an external agent, or the words of a command."""
    parsed = parse_agent_spec(spec)
    if parsed.name == "exec":
        words = [*shlex.split(parsed.argument), *parsed.settings.values()]
    elif parsed.is_external:
        words = [*parsed.argument.split(":"), *parsed.settings.values()]
    else:  # numbers of other settings are no files, even if one is there of that name
        words = [parsed.argument] if parsed.name == "ppo" else []
        words += [value for key, value in parsed.settings.items() if key in FILES]
    files = [weights_file(Path(word)) for word in words if word]
    if parsed.is_external:
        module = importlib.util.find_spec(parsed.name.rpartition(".")[0])
        if module and module.origin:
            files.append(Path(module.origin))
    return [path for path in files if path.is_file()]


def file_hash(spec: str) -> str | None:
    """The first 16 digits of the SHA-256 of the files that a spec names; None if it names none."""
    read = [path.read_bytes() for path in files_of(spec)]
    return hashlib.sha256(b"".join(read)).hexdigest()[:16] if read else None


def check_file_hash(spec: str, known: dict[str, str], path: Path) -> None:
    """Note the file hash of an agent whose results a file holds or will hold.

    Args:
        spec: of the agent.
        known: hashes by spec, in and out.
        path: the results file, for the error.

    Raises:
        ValueError: a file that the spec names has changed since.
    """
    now, before = file_hash(spec), known.get(spec)
    if before is not None and now != before:
        raise ValueError(
            f"{path} holds results of another {spec}: its file has changed; move it away or choose another --output"
        )
    if now is not None:
        known[spec] = now
