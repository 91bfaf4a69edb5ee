"""The parts of PPO on a GPU that need no GPU."""

import numpy as np
import torch

from experiments.training.ppo_on_gpu import Rollout, advantages_by_seat, drawn
from samurai_env.envs.gae import gae_by_seat


def test_advantages_are_those_of_the_cpu() -> None:
    rng = np.random.default_rng(1)
    steps, games, seats = 20, 30, 3
    rewards = rng.normal(size=(steps, games, seats)).astype(np.float32)
    dones = rng.random((steps, games)) < 0.2
    decided = rng.integers(0, seats, (steps, games))
    values = rng.normal(size=(steps, games)).astype(np.float32)
    last = rng.normal(size=(games, seats)).astype(np.float32)
    expected, _ = gae_by_seat(rewards, dones, decided, values, last, gamma=1.0, gae_lambda=0.9)
    room = torch.zeros(steps, games)
    rollout = Rollout(room, room, room, room, *map(torch.from_numpy, (values, rewards, dones, decided)))
    found = advantages_by_seat(rollout, torch.from_numpy(last), 0.9)
    assert np.abs(found.numpy() - expected).max() < 1e-4


def test_actions_are_drawn_by_their_probabilities() -> None:
    torch.manual_seed(1)
    share = torch.tensor([0.5, 0.3, 0.2, 0.0])
    counts = drawn(share.log().clamp(min=-1e9).expand(20_000, 4)).bincount(minlength=4) / 20_000
    assert counts[3] == 0
    assert (counts - share).abs().max() < 0.02
