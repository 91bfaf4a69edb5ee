"""An adapter whose framework is missing says what to install."""

import sys
from importlib import import_module

import pytest

NEEDED = {
    "samurai_env.adapters.open_spiel": ("pyspiel", "open_spiel"),
    "samurai_env.adapters.open_spiel_bots": ("open_spiel", "open_spiel"),
    "samurai_env.adapters.rllib": ("ray", "'ray[rllib]' torch"),
    "samurai_env.adapters.sb3": ("stable_baselines3", "stable-baselines3 sb3-contrib"),
    "samurai_env.adapters.tianshou": ("tianshou", "tianshou"),
    "samurai_env.adapters.torchrl": ("torchrl", "torchrl"),
    "samurai_env.language.textarena_env": ("textarena", "textarena"),
}


@pytest.mark.parametrize("adapter", NEEDED)
def test_what_to_install_is_said(adapter, monkeypatch):
    framework, packages = NEEDED[adapter]
    for name in [name for name in sys.modules if name == adapter or name.split(".")[0] == framework]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, framework, None)
    with pytest.raises(ModuleNotFoundError) as error:
        import_module(adapter)
    assert str(error.value).endswith(f"; install it: pip install {packages}")
    assert error.value.name is not None
