"""Files are written whole or not at all."""

import errno
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from samurai_env.files import atomic_write
from samurai_env.files.atomic_write import write_atomically

ROOT = Path(__file__).resolve().parents[2]


def test_text_and_bytes_arrive_as_they_are(tmp_path):
    for content in ("刀 one\ntwo\r\n", b"\x00\xff", ""):
        write_atomically(tmp_path / "file", content)
        assert (tmp_path / "file").read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert os.listdir(tmp_path) == ["file"]


def test_a_line_that_the_disk_has_no_room_for_is_not_half_written(tmp_path):
    program = (
        "import resource, sys; from pathlib import Path; from samurai_env.files.atomic_write import append_line\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))\n"
        "append_line(Path(sys.argv[1]), 'a line of more than twenty bytes')"
    )
    (tmp_path / "rows").write_text("first\n")
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "rows")], cwd=ROOT, capture_output=True, text=True
    )
    assert "No space left" in done.stderr
    assert (tmp_path / "rows").read_text() == "first\n"


def test_two_writers_at_once_leave_one_whole_file(tmp_path):
    contents = [bytes([number]) * 200_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: [write_atomically(tmp_path / "file", content) for _ in range(5)], contents))
    assert (tmp_path / "file").read_bytes() in contents
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_fault_leaves_the_old_file_and_nothing_else(name, tmp_path, monkeypatch):
    write_atomically(tmp_path / "file", "old")

    def fail(*_):
        raise OSError(errno.EIO, "broken")

    with monkeypatch.context() as patch:
        patch.setattr(os, name, fail)
        with pytest.raises(OSError, match=f"broken: '{re.escape(str(tmp_path / 'file'))}'"):
            write_atomically(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path):
    """A limit on the size of files stands for a full disk: a write ends in the middle."""
    write_atomically(tmp_path / "file", b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        with pytest.raises(OSError, match=r"file'$"):
            write_atomically(tmp_path / "file", bytes(5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert (tmp_path / "file").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_what_is_written_is_on_the_disk_before_the_old_file_goes(tmp_path, monkeypatch):
    done = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *given, name=name, real=real: (done.append(name), real(*given)))
    write_atomically(tmp_path / "file", "new")
    assert done == ["fsync", "replace", "fsync"]  # the file, its name, the folder


def test_what_killed_writers_left_is_swept(tmp_path):
    code = f"""if True:
        import os
        from samurai_env.files.atomic_write import write_atomically
        os.replace = lambda *_: os._exit(9)
        write_atomically({str(tmp_path / "file")!r}, "new")
    """
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 9
    assert [name[:6] for name in os.listdir(tmp_path)] == [".file."]
    for name in ("other", ".file.tmp", ".file.swp"):
        (tmp_path / name).write_text("of somebody else")
    busy, old = (tmp_path / f".file.{host}-{os.getppid()}-01234567.tmp" for host in (atomic_write._HOST, "0" * 8))
    busy.write_text("of a writer at work")
    old.write_text("of a machine that was lost long ago")
    os.utime(old, (time.time() - 1e6,) * 2)
    write_atomically(tmp_path / "file", "newer")
    assert sorted(os.listdir(tmp_path)) == sorted(["file", "other", ".file.tmp", ".file.swp", busy.name])


def test_modes_links_pipes_and_long_names(tmp_path):
    write_atomically(tmp_path / "file", "old")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~umask
    (tmp_path / "file").chmod(0o751)
    (tmp_path / "link").symlink_to("file")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o751
    write_atomically("/dev/null", "nothing")
    assert not Path("/dev/null").is_file()
    reading, writing = os.pipe()  # without a name, as /dev/stdout may be
    write_atomically(f"/dev/fd/{writing}", "through a pipe")
    assert os.read(reading, 100) == b"through a pipe"
    os.close(reading)
    os.close(writing)
    write_atomically(tmp_path / ("刀" * 80), "long")
    with pytest.raises(IsADirectoryError, match=re.escape(str(tmp_path))):
        write_atomically(tmp_path, "a folder")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_atomically(tmp_path / "nowhere" / "file", "no folder")


def test_programs_write_in_no_other_way():
    """One module opens files for writing, and numba's cache, whose entries carry a hash; tests are free to."""
    writing = re.compile(
        r"""write_text|write_bytes|savefig\((?!image)|os\.replace|save_file|open\([^)]*["'][wax]b?["']"""
    )
    found = {
        str(path.relative_to(ROOT))
        for folder in ("samurai_env", "agents", "experiments", "docs")
        for path in (ROOT / folder).rglob("*.py")
        if writing.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"samurai_env/files/atomic_write.py", "samurai_env/core/cache.py"}
