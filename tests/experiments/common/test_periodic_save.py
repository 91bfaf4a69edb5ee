"""Results written while they come: now and then, in the end, and before an error."""

import pytest

from experiments.common import periodic_save
from experiments.common.periodic_save import PeriodicSave


def test_in_the_end_also_without_a_result() -> None:
    written = []
    with PeriodicSave(lambda: written.append(len(written))) as save:
        save.added()
        assert written == []
    assert written == [0]
    with PeriodicSave(lambda: written.append(len(written))):
        pass
    assert written == [0, 1]


def test_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now, written = [100.0], []
    monkeypatch.setattr(periodic_save.time, "monotonic", lambda: now[0])
    with PeriodicSave(lambda: written.append(now[0])) as save:
        for _ in range(50):
            now[0] += 1
            save.added()
    assert written == [121, 142, 150]


@pytest.mark.parametrize("error", [ChildProcessError, KeyboardInterrupt])
def test_before_an_error_what_is_not_written_yet(monkeypatch: pytest.MonkeyPatch, error: type[BaseException]) -> None:
    def written(results: int) -> list[str]:
        found = []
        with pytest.raises(error), PeriodicSave(lambda: found.append("written")) as save:
            fail_after(results, save)
        return found

    def fail_after(results: int, save: PeriodicSave) -> None:
        for _ in range(results):
            save.added()
        raise error

    assert [len(written(results)) for results in (0, 1, 2)] == [0, 1, 1]
    monkeypatch.setattr(periodic_save, "SECONDS", -1.0)
    assert [len(written(results)) for results in (0, 1, 2)] == [0, 1, 2]
