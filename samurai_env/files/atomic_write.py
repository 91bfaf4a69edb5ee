"""The ways in which files are written here: whole or not at all, whatever happens on the way, or a line more."""

import errno
import hashlib
import os
import platform
import re
import secrets
import time
from contextlib import suppress
from pathlib import Path


def _here() -> str:
    """Eight digits of where ids of processes mean the same: a container has its own, also under its host's name."""
    parts = [platform.node()]
    with suppress(OSError):  # Linux
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        parts.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:8]


_HOST = _here()  # part of the names of temporary files
_OLD = 24 * 60 * 60.0  # seconds after which a temporary file is nobody's any more, whoever wrote it


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file so that at any moment, also after a crash, it is the old or the new one as a whole.

    What is written goes to a temporary file beside it, which is flushed to the disk and then takes the place of the
    old one; of two writers at the same time one comes last. A file that is there keeps its mode, and a link is
    followed. What is no regular file, such as a pipe or /dev/null, is written in place.

    Args:
        path: the file; its folder has to be there.
        content: text, written as UTF-8 with the line ends that it has, or bytes.

    Raises:
        OSError: the disk is full, or the file cannot be written; it is then what it was, and nothing is left beside it.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            Path(path).write_bytes(data)  # by the name given: a pipe without one, as /dev/stdout may be, has no other
        else:
            target = Path(os.path.realpath(path))
            _sweep(target)
            _replace(target, data)
    except OSError as error:  # an error of a write does not say of which file
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _replace(target: Path, data: bytes) -> None:
    draft = target.with_name(f"{_stem(target)}{_HOST}-{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            draft.chmod(target.stat().st_mode)
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # a system that cannot do this to a folder: the file is whole all the same
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _stem(target: Path) -> str:
    """With what the names of a file's temporary files begin; a long name is cut, for names have a limit."""
    return f".{target.name[:40]}."


def _sweep(target: Path) -> None:
    """Remove what killed writers of this file have left."""
    name = re.compile(re.escape(_stem(target)) + "([0-9a-f]{8})-([0-9]+)-[0-9a-f]{8}[.]tmp")
    for draft in target.parent.glob(".*.tmp"):
        if match := name.fullmatch(draft.name):
            with suppress(OSError):
                dead = match[1] == _HOST and not _alive(int(match[2]))
                if dead or time.time() - draft.stat().st_mtime > _OLD:
                    draft.unlink()


def _alive(process: int) -> bool:
    """Whether a process of this machine may still be running."""
    if os.name == "nt":  # where signal 0 is Ctrl-C
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def append_line(path: Path, line: str) -> None:
    """Add a line of text at the end of a file, in one write, so that several processes may do so at once.

    Raises:
        OSError: it cannot be written; the file then ends as before.
    """
    ends = path.read_bytes()[-1:] if path.exists() else b""
    start = "" if ends in (b"", b"\n") else "\n"  # an editor may leave out the last one
    data = f"{start}{line}\n".encode()
    with path.open("ab", buffering=0) as file:
        if (written := file.write(data)) != len(data):  # the disk is full
            file.truncate(file.tell() - written)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
