"""The mini game is registered only while the tests of this folder run."""

import pytest

from samurai_env.core import game as registry
from samurai_env.core.game import register_game
from tests.mini.game import GAME


@pytest.fixture(scope="module", autouse=True)
def _registered():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_loaders", dict(registry._loaders))
        register_game("mini", lambda: GAME)
        yield
