"""Policy gradient by self-play in one short file: a network learns the board game from playing all seats.

    python -m experiments.examples.policy_gradient

Read it with "Rewards and seats" in docs/reference/environments.md. `experiments.train_ppo` is the full learner.
"""

from argparse import ArgumentParser

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from samurai_env.envs.gae import gae_by_seat

ID = "samurai_env:samurai_env/Samurai-v0"


def forward(net: nn.Module, observations: np.ndarray, masks: np.ndarray) -> tuple[Categorical, torch.Tensor]:
    """Policy over the legal actions, and the value for the seat that sees the observation."""
    out = net(torch.from_numpy(observations).flatten(1).float() / 4)
    return Categorical(logits=out[:, 1:].masked_fill(torch.from_numpy(masks) == 0, -1e9)), out[:, 0]


@torch.no_grad()
def win_share(net: nn.Module, games: int = 256) -> float:
    """Share of games won against uniformly random play; draws count half."""
    envs = gymnasium.make_vec(ID, num_envs=games, opponents="random", seat="rotate", autoreset_mode="Disabled")
    observed, _ = envs.reset(seed=10**6)
    results, over = np.zeros(games), np.zeros(games, bool)
    while not over.all():
        policy, _ = forward(net, observed["observation"], observed["action_mask"])
        observed, rewards, terminated, truncated, _ = envs.step(policy.sample().numpy())
        over = terminated | truncated
        results += rewards  # the learner's; 0 for games that are over
    return float((1 + results.mean()) / 2)


def train(updates: int = 300, num_envs: int = 128, num_steps: int = 32) -> list[float]:
    """Learn; the win shares against random play before and after, and every fifty updates."""
    torch.manual_seed(1)
    envs = gymnasium.make_vec(ID, num_envs=num_envs, autoreset_mode="SameStep")
    observed, info = envs.reset(seed=1, options={"desynchronize": True})  # games at all stages from the start
    size, actions = int(np.prod(observed["observation"].shape[1:])), int(envs.single_action_space.n)  # type: ignore[attr-defined]
    net = nn.Sequential(nn.Linear(size, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1 + actions))
    optimizer, shares = torch.optim.Adam(net.parameters(), 1e-3), [win_share(net)]
    for update in range(1, updates + 1):
        steps: list[tuple[np.ndarray, ...]] = []
        for _ in range(num_steps):
            seen = observed["observation"].copy(), observed["action_mask"].copy()  # the next step overwrites them
            with torch.no_grad():
                action = forward(net, *seen)[0].sample().numpy()
            observed, _, terminated, truncated, info = envs.step(action)
            steps.append((*seen, action, info["rewards"].copy(), terminated | truncated, info["actor"].copy()))
        obs, masks, played, rewards, dones, seats = map(np.stack, zip(*steps, strict=True))
        policy, values = forward(net, obs.reshape(-1, *obs.shape[2:]), masks.reshape(-1, actions))
        with torch.no_grad():  # the value of every seat where the rollout is cut, from what that seat sees
            next_values = net(torch.from_numpy(envs.unwrapped.state()).flatten(2).float() / 4)[:, :, 0].numpy()  # type: ignore[attr-defined]
        advantages, returns = gae_by_seat(
            rewards, dones, seats, values.detach().numpy().reshape(dones.shape), next_values
        )
        gain = torch.from_numpy((advantages - advantages.mean()) / (advantages.std() + 1e-8)).flatten().float()
        chosen = policy.log_prob(torch.from_numpy(played).flatten())
        errors = values - torch.from_numpy(returns).flatten().float()
        loss = -(chosen * gain).mean() + 0.5 * errors.square().mean() - 0.01 * policy.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        if update % 50 == 0 or update == updates:
            shares.append(win_share(net))
            print(f"{update * num_envs * num_steps:9,} decisions: {shares[-1]:.0%} won against random", flush=True)
    return shares


if __name__ == "__main__":
    about = (__doc__ or "").split("\n")[0]
    parser = ArgumentParser("python -m experiments.examples.policy_gradient", description=about)
    parser.add_argument("--updates", type=int, default=300, help="updates of the network, 4,096 decisions each")
    train(parser.parse_args().updates)
