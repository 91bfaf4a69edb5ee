"""The file of `experiments.best_response`."""

import json
from pathlib import Path

import pytest

from experiments.best_response import Config, Shares
from samurai_env import make_variant


def test_a_file_of_other_settings_is_refused_with_their_names(tmp_path: Path) -> None:
    variant = make_variant("samurai_card")
    config = Config(target="greedy", game="samurai_card", output=tmp_path)
    shares = Shares(config, variant)
    shares.save()
    assert Shares(config, variant).settings == shares.settings
    kept = json.loads(shares.path.read_text())
    kept["settings"]["total_steps"] = kept["settings"].pop("total_timesteps")  # its name before version 0.2
    shares.path.write_text(json.dumps(kept))
    assert Shares(config, variant).settings == shares.settings
    del kept["settings"]["graph_width"]
    kept["settings"]["ent_coef"] = "0.5"
    shares.path.write_text(json.dumps(kept))
    with pytest.raises(ValueError, match=r"with ent_coef 0\.5, graph_width not noted; choose another --output"):
        Shares(config, variant)
