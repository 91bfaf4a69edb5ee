"""Networks on another device than the processor, as far as can be seen without one."""

from pathlib import Path

import numpy as np
import pytest
import torch

from agents.networks.config import prior_features
from agents.networks.network_files import load_network
from agents.registry import make_agent
from samurai_env import make_variant, parse_variant
from samurai_env.envs.vector import GameVectorEnv
from samurai_env.game_batch import GameBatch

WEIGHTS = Path(__file__).resolve().parents[2] / "weights"


@pytest.mark.parametrize("path", sorted(WEIGHTS.glob("*.safetensors")), ids=lambda path: path.stem)
def test_all_that_a_network_computes_with_goes_to_its_device(path, monkeypatch):
    """torch refuses to compute with tensors of two devices; one without memory stands for a GPU."""
    net = load_network(path)
    variant = parse_variant(net.config.variant)
    states, batch = variant.new(3), GameBatch(variant)
    for i in range(3):
        variant.game.kernels.reset(states[i], i)
    inputs = [batch.observe(states, encoding=net.config.encoding), batch.legal_masks(states)]
    if net.config.action_width:
        pytest.skip("counts legal actions, which a device without memory cannot")
    if features := prior_features(net.config, variant):
        inputs.append(features.compute(states))
    # Layers over a grid read what lies there on the CPU.
    monkeypatch.setattr(torch.Tensor, "cpu", lambda tensor: torch.from_numpy(inputs[0]))
    with torch.inference_mode():
        log_probs, values = net.to("meta")(*(torch.from_numpy(x).to("meta") for x in inputs))
    assert log_probs.device.type == values.device.type == "meta"
    assert log_probs.shape == (3, variant.num_actions)


def test_a_search_with_its_device_named_chooses_the_same():
    env = GameVectorEnv("samurai", 5, 2)
    env.reset(seed=3, options={"desynchronize": True})
    keys = np.arange(5, dtype=np.uint64)
    spec = "puct:40,net=weights/samurai-2-scratch.safetensors"
    found, named = (make_agent(text, env.variant).search(env.states, keys) for text in (spec, f"{spec},device=cpu"))
    for ours, theirs in zip(found, named, strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("device", ["nonsense", "meta", "cuda:99"])
def test_a_device_that_is_not_there_is_a_line(device):
    with pytest.raises(ValueError, match=f"device {device} cannot be used: .+") as caught:
        make_agent(f"puct:10,net=weights/samurai-2.safetensors,device={device}", make_variant("samurai", 2))
    assert "\n" not in str(caught.value)


def test_a_network_is_evaluated_where_it_is(monkeypatch):
    """The inputs go to the device of the weights."""
    net = load_network(WEIGHTS / "samurai-2.safetensors")
    seen = []
    monkeypatch.setattr(type(net), "__call__", lambda self, *inputs: seen.extend(inputs) or inputs)
    net.to("meta")
    with pytest.raises(NotImplementedError):  # nothing comes back from there
        net.evaluate(np.zeros((2, 614), np.int8), np.ones((2, 141), np.int8))
    assert [x.device.type for x in seen] == ["meta", "meta"]
