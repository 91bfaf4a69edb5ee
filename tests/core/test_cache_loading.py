"""Loading compiled code sets off no search for garbage, and leaves the collector as it was."""

import gc

import numba
import pytest
from numba.core.caching import FunctionCache

from samurai_env.core.jit import jit


def triple(x):
    return 3 * x


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_rests_while_code_is_loaded(enabled: bool, tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    numba.config.reload_config()
    seen = []
    load = FunctionCache.load_overload
    monkeypatch.setattr(FunctionCache, "load_overload", lambda *a: seen.append(gc.isenabled()) or load(*a))
    try:
        gc.enable() if enabled else gc.disable()
        assert jit(triple)(14) == 42
        assert seen == [False]
        assert gc.isenabled() is enabled
    finally:
        gc.enable()
        monkeypatch.undo()
        numba.config.reload_config()
