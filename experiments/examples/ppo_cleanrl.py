"""Proximal policy optimisation in one file, in the manner of CleanRL, for one learner in each of many games.

    python -m experiments.examples.ppo_cleanrl --total-timesteps 1000000 --opponents greedy

The other seats are the environment's, so that rewards, values and ends of episodes are the learner's alone and the
algorithm is that of any single-agent task; what differs is the mask. With `--opponents self` they play by the policy
that learns, but only the learner's decisions are learned from; for more see `policy_gradient` beside it and
`experiments.train_ppo`.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
import tyro
from torch import nn
from torch.distributions import Categorical

ID = "samurai_env:samurai_env/Samurai-v0"
Seen = dict[str, np.ndarray]


@dataclass(frozen=True)
class Args:
    """Settings of a run."""

    env_id: str = ID
    """the id of the game; the others are SamuraiCard-v0 and SamuraiSpirit-v0"""
    num_players: int = 2
    """number of players"""
    opponents: str = "random"
    """who plays the other seats: random, greedy, an agent's spec, or self"""
    reward: str = "result"
    """result at the end of a game, or shaped"""
    seed: int = 1
    """seed of the games and of the network"""
    total_timesteps: int = 500_000
    """decisions of the learner in all"""
    state: Path | None = None
    """file that keeps the state of the run from time to time; if it exists, the run goes on from there"""
    learning_rate: float = 1e-3
    """learning rate, which falls to 0"""
    num_envs: int = 128
    """games at once"""
    num_steps: int = 64
    """decisions of each game in a rollout"""
    gamma: float = 1.0
    """discount"""
    gae_lambda: float = 0.95
    """lambda of generalised advantage estimation"""
    num_minibatches: int = 8
    """parts of a rollout"""
    update_epochs: int = 4
    """how often each rollout is learned from"""
    clip_coef: float = 0.2
    """clipping of the policy's ratio"""
    ent_coef: float = 0.01
    """weight of the entropy"""
    vf_coef: float = 0.5
    """weight of the value's error"""
    max_grad_norm: float = 0.5
    """longest gradient"""
    hidden: int = 256
    """units of each of the two hidden layers"""
    eval_games: int = 512
    """games of an evaluation: one before learning and ten more, against the opponents ("self": against random)"""


class Agent(nn.Module):
    """Policy and value of one observation."""

    def __init__(self, inputs: int, actions: int, hidden: int) -> None:
        super().__init__()
        layers = [nn.Linear(inputs, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, actions + 1)]
        for layer, gain in zip(layers, (2**0.5, 2**0.5, 0.01), strict=True):
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)
        self.body = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        """The distribution over legal actions, and the value."""
        out = self.body(observations.flatten(1).float())
        # Finite, since a game that is over has no legal action.
        return Categorical(logits=out[:, 1:].masked_fill(~masks, -1e9), validate_args=False), out[:, 0]

    @torch.no_grad()
    def act(self, seen: Seen) -> np.ndarray:
        """Sampled actions, int64 (games,)."""
        policy, _ = self(torch.from_numpy(seen["observation"]), torch.from_numpy(seen["action_mask"]).bool())
        return policy.sample().numpy()


def make_envs(args: Args, num_envs: int, **settings: Any) -> gymnasium.vector.VectorEnv:
    """Many games with one learner in each, who takes every seat in turn."""
    return gymnasium.make_vec(args.env_id, num_envs=num_envs, num_players=args.num_players, seat="rotate", **settings)


def mean_return(agent: Agent, args: Args) -> float:
    """The mean result of some games, from -1 to 1: against the opponents, or random play if it learns from itself."""
    opponents = "random" if args.opponents == "self" else args.opponents
    envs = make_envs(args, args.eval_games, opponents=opponents, autoreset_mode="Disabled")
    seen, _ = envs.reset(seed=10**6)
    results, over = np.zeros(args.eval_games), np.zeros(args.eval_games, bool)
    while not over.all():
        seen, rewards, terminated, truncated, _ = envs.step(agent.act(seen))
        over = terminated | truncated
        results += rewards  # 0 for games that are over
    return float(results.mean())


def train(
    args: Args,
    report: Callable[[str], None] = print,
    left: Callable[[int], float] | None = None,
    saved: Callable[[], None] = lambda: None,
) -> Agent:
    """Learn; the agent at the end.

    Args:
        args: the settings.
        report: receives lines on the progress.
        left: what is left of the run, from 1 to 0, after so many decisions; by `args.total_timesteps` if None.
        saved: called when the state has been written.

    Raises:
        ValueError: the minibatches do not fit, or the state is damaged.
    """
    batch_size = args.num_steps * args.num_envs
    if batch_size % args.num_minibatches or batch_size < 2 * args.num_minibatches:
        raise ValueError(
            f"--num-minibatches {args.num_minibatches} must share {batch_size} decisions, at least 2 in each"
        )
    if args.state:
        args.state.parent.mkdir(parents=True, exist_ok=True)  # before anything is learned
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    # The agent is made below: it needs the spaces.
    agent: Agent
    opponents = (lambda seen: agent.act(seen)) if args.opponents == "self" else args.opponents
    # No step is spent on resets.
    envs = make_envs(args, args.num_envs, opponents=opponents, reward=args.reward, autoreset_mode="SameStep")
    shape, actions = envs.single_observation_space["observation"].shape, int(envs.single_action_space.n)  # type: ignore
    agent = Agent(int(np.prod(shape)), actions, args.hidden)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    steps, games = args.num_steps, args.num_envs
    total = max(1, args.total_timesteps // batch_size) * batch_size
    left = left or (lambda decisions: 1 - decisions / total)
    obs = torch.zeros((steps, games, *shape), dtype=torch.int8)
    masks = torch.zeros((steps, games, actions), dtype=torch.bool)
    acts = torch.zeros((steps, games), dtype=torch.long)
    logprobs, rewards, values = (torch.zeros((steps, games)) for _ in range(3))
    dones = torch.zeros((steps, games), dtype=torch.bool)

    decisions = 0
    if args.state and args.state.exists():
        try:
            state = torch.load(args.state, weights_only=True)
        except Exception as error:  # torch has many
            raise ValueError(f"{args.state} is damaged: {str(error).splitlines()[0]}") from None
        agent.load_state_dict(state["agent"])
        optimizer.load_state_dict(state["optimizer"])
        decisions = state["decisions"]
    rest = left(decisions)
    start, begun, said = time.time(), decisions, round(10 * (1 - rest))
    report(f"{decisions:9,} decisions: mean return {mean_return(agent, args):+.2f}")
    # Games at all stages from the start, other ones if the run goes on.
    seen, _ = envs.reset(seed=args.seed + decisions, options={"desynchronize": True})
    while rest > 0:
        optimizer.param_groups[0]["lr"] = args.learning_rate * rest

        for step in range(steps):
            obs[step] = torch.from_numpy(seen["observation"])  # copied: the next step overwrites it
            masks[step] = torch.from_numpy(seen["action_mask"]).bool()
            with torch.no_grad():
                policy, values[step] = agent(obs[step], masks[step])
            acts[step] = policy.sample()
            logprobs[step] = policy.log_prob(acts[step])
            seen, reward, terminated, truncated, _ = envs.step(acts[step].numpy())
            rewards[step] = torch.from_numpy(reward)
            # A game that is cut off at its own limit of decisions has ended: its returns are final.
            dones[step] = torch.from_numpy(terminated | truncated)

        advantages = torch.zeros_like(rewards)
        with torch.no_grad():
            next_mask = torch.from_numpy(seen["action_mask"]).bool()
            next_value = agent(torch.from_numpy(seen["observation"]), next_mask)[1]
        last = torch.zeros(games)
        for t in reversed(range(steps)):
            alive = (~dones[t]).float()
            delta = rewards[t] + args.gamma * next_value * alive - values[t]
            advantages[t] = last = delta + args.gamma * args.gae_lambda * alive * last
            next_value = values[t]
        returns = advantages + values

        b_obs, b_masks, b_acts = obs.flatten(0, 1), masks.flatten(0, 1), acts.flatten()
        b_logprobs, b_advantages, b_returns = logprobs.flatten(), advantages.flatten(), returns.flatten()
        for _ in range(args.update_epochs):
            for rows in torch.randperm(batch_size).split(batch_size // args.num_minibatches):
                policy, value = agent(b_obs[rows], b_masks[rows])
                ratio = (policy.log_prob(b_acts[rows]) - b_logprobs[rows]).exp()
                gain = b_advantages[rows]
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = -torch.min(gain * ratio, gain * clipped).mean()
                v_loss = 0.5 * (value - b_returns[rows]).square().mean()
                loss = pg_loss - args.ent_coef * policy.entropy().mean() + args.vf_coef * v_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        decisions += batch_size
        rest = left(decisions)
        if round(10 * (1 - rest)) > said:
            said = round(10 * (1 - rest))
            speed = int((decisions - begun) / (time.time() - start))
            report(f"{decisions:9,} decisions: mean return {mean_return(agent, args):+.2f}, {speed:,} decisions/s")
        if args.state and (decisions // batch_size % 20 == 0 or rest <= 0):
            state = {"agent": agent.state_dict(), "optimizer": optimizer.state_dict(), "decisions": decisions}
            torch.save(state, args.state.with_suffix(".new"))
            args.state.with_suffix(".new").replace(args.state)  # never half-written
            saved()
    envs.close()
    return agent


def main(args: Args) -> None:
    """Learn and print how it goes."""
    train(args)


if __name__ == "__main__":
    torch.set_num_threads(1)  # more are slower for networks of this size
    try:
        main(
            tyro.cli(
                Args, prog="python -m experiments.examples.ppo_cleanrl", description=(__doc__ or "").split("\n")[0]
            )
        )
    except (ValueError, OSError) as error:
        raise SystemExit(f"error: {error}") from None
