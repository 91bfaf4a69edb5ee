"""The short policy gradient of the environments' page: it runs, and a better policy than chance is seen as one."""

import numpy as np
import torch

from experiments.examples import policy_gradient


def test_it_trains(monkeypatch, capsys) -> None:
    whole = policy_gradient.win_share
    monkeypatch.setattr(policy_gradient, "win_share", lambda net: whole(net, 8))
    shares = policy_gradient.train(updates=2, num_envs=4, num_steps=4)
    assert len(shares) == 2
    assert all(0 <= share <= 1 for share in shares)
    assert "32 decisions: " in capsys.readouterr().out


def test_only_legal_actions_have_a_chance() -> None:
    net, masks = torch.nn.Linear(3, 5), np.array([[0, 1, 1, 0], [1, 0, 0, 0]], np.int8)
    policy, values = policy_gradient.forward(net, np.ones((2, 3), np.int8), masks)
    assert values.shape == (2,)
    assert ((policy.probs > 0) == torch.from_numpy(masks > 0)).all()
