"""PPO by self-play with games, rollout and learning on one GPU: nothing is copied to the host while it learns.

    python -m experiments.training.ppo_on_gpu --game samurai players=2 --updates 200

A short form, to measure and to read: no pool of opponents, no moving average, no checkpoints. `experiments.train_ppo`
is the full learner, whose games run on the CPU. Needs numba-cuda, torch with CUDA and a GPU.
"""

import argparse
import time
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from samurai_env.core.variant_spec import parse_variant
from samurai_env.envs.cuda.learner import CudaLearnerVectorEnv
from samurai_env.envs.cuda.vector import CudaVectorEnv

SCALE = 4.0  # observations are divided by it
ILLEGAL = -1e9


@dataclass
class Settings:
    """Settings of the algorithm; see `experiments.training.ppo`."""

    num_steps: int = 32
    epochs: int = 1
    minibatches: int = 8
    learning_rate: float = 1e-3
    gae_lambda: float = 0.95
    clip_coef: float = 0.2
    ent_coef: float = 0.02
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    width: int = 256


@dataclass
class Rollout:
    """Decisions, steps first, then games; all where the games are."""

    obs: torch.Tensor  # int8 (steps, games, entries)
    masks: torch.Tensor  # int8 (steps, games, actions)
    actions: torch.Tensor  # int64 (steps, games)
    log_probs: torch.Tensor  # float32 (steps, games)
    values: torch.Tensor  # float32 (steps, games): for the seat that decides
    rewards: torch.Tensor  # float32 (steps, games, seats)
    dones: torch.Tensor  # bool (steps, games)
    seats: torch.Tensor  # int64 (steps, games)


def rollout_buffers(env: CudaVectorEnv, seen: dict[str, torch.Tensor], steps: int) -> Rollout:
    """Room for a rollout."""
    obs, masks, games = seen["observation"].flatten(1), seen["action_mask"], env.num_envs

    def room(dtype: torch.dtype, *shape: int) -> torch.Tensor:
        return torch.zeros((steps, games, *shape), dtype=dtype, device=obs.device)

    return Rollout(
        obs=room(torch.int8, obs.shape[1]),
        masks=room(torch.int8, masks.shape[1]),
        actions=room(torch.int64),
        log_probs=room(torch.float32),
        values=room(torch.float32),
        rewards=room(torch.float32, env.variant.num_players),
        dones=room(torch.bool),
        seats=room(torch.int64),
    )


class Net(nn.Module):
    """A perceptron with logits and a value."""

    def __init__(self, entries: int, actions: int, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(entries, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, actions + 1)

    def forward(self, obs: torch.Tensor, masks: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Log probabilities of the actions (illegal ones next to never) and values, float32."""
        with torch.autocast(obs.device.type, torch.bfloat16):
            out = self.head(self.body(obs.flatten(1).to(torch.bfloat16) / SCALE)).float()
        logits = out[:, 1:] if masks is None else out[:, 1:].masked_fill(masks == 0, ILLEGAL)
        return logits.log_softmax(1), out[:, 0]


def drawn(log_probs: torch.Tensor) -> torch.Tensor:
    """Sample an action of each row by its probabilities: log_probs, float32 (rows, actions), to int64 (rows,)."""
    return (log_probs - torch.empty_like(log_probs).exponential_().log()).argmax(1)


@torch.no_grad()
def play(env: CudaVectorEnv, net: Net, seen: dict[str, torch.Tensor], info: dict[str, Any], rollout: Rollout) -> Any:
    """Fill a rollout; returns what the next begins with."""
    for t in range(len(rollout.actions)):
        rollout.obs[t] = seen["observation"].flatten(1)
        rollout.masks[t] = seen["action_mask"]
        rollout.seats[t] = info["seat"]
        log_probs, rollout.values[t] = net(rollout.obs[t], rollout.masks[t])
        actions = drawn(log_probs)
        rollout.actions[t] = actions
        rollout.log_probs[t] = log_probs.gather(1, actions[:, None])[:, 0]
        seen, _, terminated, truncated, info = env.step(actions)
        rollout.rewards[t] = info["rewards"]
        rollout.dones[t] = terminated | truncated
    return seen, info


def advantages_by_seat(rollout: Rollout, next_values: torch.Tensor, gae_lambda: float) -> torch.Tensor:
    """Compute what `samurai_env.envs.gae.gae_by_seat` does, undiscounted, where the rollout is.

    Args:
        rollout: with rewards, ends, seats and values.
        next_values: float32 (games, seats), of each seat after the last step.
        gae_lambda: lambda.

    Returns:
        Advantages, float32 (steps, games).
    """
    next_value = next_values.clone()
    next_advantage, gathered = torch.zeros_like(next_value), torch.zeros_like(next_value)
    advantages = torch.zeros_like(rollout.values)
    for t in reversed(range(len(advantages))):
        going_on = (~rollout.dones[t]).float()[:, None]
        gathered = gathered * going_on + rollout.rewards[t]
        next_value, next_advantage = next_value * going_on, next_advantage * going_on
        seat = rollout.seats[t][:, None]
        delta = (gathered + next_value).gather(1, seat)[:, 0] - rollout.values[t]
        advantages[t] = delta + gae_lambda * next_advantage.gather(1, seat)[:, 0]
        next_advantage.scatter_(1, seat, advantages[t][:, None])
        next_value.scatter_(1, seat, rollout.values[t][:, None])
        gathered.scatter_(1, seat, 0.0)
    return advantages


def learn(
    net: Net, optimizer: torch.optim.Optimizer, rollout: Rollout, gains: torch.Tensor, settings: Settings
) -> None:
    """Update the network from a rollout with these advantages."""
    returns = (gains + rollout.values).flatten()
    gains = ((gains - gains.mean()) / (gains.std() + 1e-8)).flatten()
    obs, masks = rollout.obs.flatten(0, 1), rollout.masks.flatten(0, 1)
    actions, before = rollout.actions.flatten(), rollout.log_probs.flatten()
    for _ in range(settings.epochs):
        for rows in torch.randperm(len(actions), device=obs.device).chunk(settings.minibatches):
            log_probs, values = net(obs[rows], masks[rows])
            ratio = (log_probs.gather(1, actions[rows, None])[:, 0] - before[rows]).exp()
            clipped = ratio.clamp(1 - settings.clip_coef, 1 + settings.clip_coef)
            gain = torch.minimum(ratio * gains[rows], clipped * gains[rows]).mean()
            entropy = -(log_probs.exp() * log_probs).sum(1).mean()
            errors = (values - returns[rows]).square().mean()
            loss = settings.vf_coef * errors - gain - settings.ent_coef * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), settings.max_grad_norm)
            optimizer.step()


class Trainer:
    """A network in training with its games.

    Args:
        env: with tensors (`wrap=torch.as_tensor`) and SAME_STEP.
        settings: of the algorithm.
    """

    def __init__(self, env: CudaVectorEnv, settings: Settings) -> None:
        self.env, self.settings = env, settings
        self.seen, self.info = env.reset(seed=1, options={"desynchronize": True})
        self.rollout = rollout_buffers(env, self.seen, settings.num_steps)
        entries, actions = self.rollout.obs.shape[2], self.rollout.masks.shape[2]
        self.net = Net(entries, actions, settings.width).to(self.rollout.obs.device)
        self.optimizer = torch.optim.Adam(self.net.parameters(), settings.learning_rate)

    def update(self) -> int:
        """Play a rollout and learn from it; the number of decisions. Does not wait for the GPU."""
        self.seen, self.info = play(self.env, self.net, self.seen, self.info, self.rollout)
        everybody = self.env.state()
        with torch.no_grad():
            next_values = self.net(everybody.flatten(0, 1))[1].view(everybody.shape[:2])
        gains = advantages_by_seat(self.rollout, next_values, self.settings.gae_lambda)
        learn(self.net, self.optimizer, self.rollout, gains, self.settings)
        return self.rollout.actions.numel()


@torch.no_grad()
def mean_return(net: Net, spec: str, opponents: str, games: int = 8192) -> float:
    """Mean return of the network's seat, which goes round, in one game each against such opponents."""
    variant = parse_variant(spec)
    settings: dict[str, Any] = {"num_players": variant.num_players, "opponents": opponents, "seat": "rotate"}
    settings |= {"autoreset_mode": "Disabled", "wrap": torch.as_tensor, **variant.options}
    env = CudaLearnerVectorEnv(variant.game.name, games, **settings)
    seen, _ = env.reset(seed=10**6)
    total, over = 0.0, False
    while not over:
        log_probs, _ = net(seen["observation"], seen["action_mask"])
        seen, rewards, terminated, truncated, _ = env.step(drawn(log_probs))
        total += float(rewards.sum())
        over = bool((terminated | truncated).all())
    return total / games


def main() -> None:
    """Learn, and say how fast."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", nargs="+", default=["samurai", "players=2"], help="the game, players and options")
    parser.add_argument("--updates", type=int, default=200, help="updates after the first")
    parser.add_argument("--num-envs", type=int, default=32768, help="games at once")
    options = parser.parse_args()
    if options.updates < 1:
        parser.error(f"--updates must be at least 1, not {options.updates}")
    variant = parse_variant(" ".join(options.game))
    settings: dict[str, Any] = {"num_players": variant.num_players, "autoreset_mode": "SameStep", **variant.options}
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    env = CudaVectorEnv(variant.game.name, options.num_envs, wrap=torch.as_tensor, **settings)
    trainer = Trainer(env, Settings())
    first = trainer.update()  # compiles kernels, so it is not timed
    torch.cuda.synchronize()
    started = time.monotonic()
    timed = sum(trainer.update() for _ in range(options.updates))
    torch.cuda.synchronize()
    rate = timed / (time.monotonic() - started)
    results = {name: round(mean_return(trainer.net, variant.spec, name), 3) for name in ("random", "greedy")}
    print(f"{rate / 1e6:.2f} M decisions/s; mean return after {first + timed:,}: {results}")


if __name__ == "__main__":
    main()
