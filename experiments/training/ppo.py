"""PPO (Schulman et al., 2017) by self-play, in reading order: settings, rollout, advantages, loss, update.

One network plays every seat of many games at once. It sees seat-relative observations and predicts the return of every
seat, so values, rewards and advantages are vectors over seats, for any number of players and for cooperation. Actions
are masked. Most names are CleanRL's (Huang et al., 2022).
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import torch
from torch.optim.swa_utils import AveragedModel

from agents.networks.agent import Network
from agents.networks.config import prior_features, supports_bfloat16
from agents.networks.network import PolicyValueNet, snapshot
from agents.networks.sampling import sample
from agents.settings import Range
from experiments.common.ranges import Count, Seed, Share, Weight
from experiments.training.opponents import Expert, Opponents, OpponentSettings
from samurai_env.agent_api import decision_keys
from samurai_env.envs.vector import GameVectorEnv

PRIOR_WEIGHT_LR = 30.0  # times the learning rate: one number, which at the pace of the others would hardly move
CACHE_ROWS = 512  # decisions that a CPU's cache holds with all that the layers of a network make of them
LEAST_LOG_PROB = -50.0  # in the loss; the exponential of what would be denormal is slow

# ---------------------------------------------------------------- settings


@dataclass
class PPOSettings:
    """Settings of the algorithm."""

    total_timesteps: Annotated[int, Range(1, 10**12)] = 3_000_000
    """Decisions in all games, those of opponents included; the last update may go beyond."""
    num_envs: Count = 256
    """Games played at once."""
    num_steps: Count = 128
    """Decisions in each game between two updates."""
    minibatch_size: Count = 4096
    """Decisions in a gradient step."""
    update_epochs: Count = 2
    """Passes over the rollout in an update."""
    learning_rate: Annotated[float, Range(0, 1)] = 1e-3
    """Adam's step size at the start; it falls linearly to a tenth."""
    gae_lambda: Share = 0.95
    """Lambda of generalised advantage estimation; returns are not discounted."""
    clip_coef: Annotated[float, Range(0, 1e6, above=True)] = 0.2
    """Clipping of the probability ratio."""
    ent_coef: Weight = 0.03
    """Weight of the entropy bonus at the start; it falls linearly to a fifth."""
    vf_coef: Weight = 0.5
    """Weight of the value loss."""
    max_grad_norm: Annotated[float, Range(0, 1e6, above=True)] = 0.5
    """Gradients are scaled down to this norm."""
    ema_decay: Annotated[float, Range(0, 0.9999999)] = 0.998
    """Decay of the moving average of the weights, which is what is evaluated and saved; 0 for none."""
    seed: Seed = 1
    """Seed of games, network and sampling: same seed, same network."""
    precision: str = field(default_factory=lambda: "bfloat16" if supports_bfloat16() else "float32")
    """Number format of matrix products: "bfloat16", the default on processors that have it, or "float32"; a network
    with --graph-width plays in float32 all the same."""
    device: str = field(default_factory=lambda: "cuda" if torch.cuda.is_available() else "cpu")
    """Where the network learns."""


# ---------------------------------------------------------------- rollout


@dataclass
class Batch:
    """A rollout: T decisions in each of N games. Of decisions that are an opponent's, only the outcome is entered."""

    obs: torch.Tensor  # int8 (T, N, ...)
    action_masks: torch.Tensor  # int8 (T, N, actions)
    action_features: torch.Tensor | None  # float32 (T, N, actions, features), for a network with a heuristic prior
    actions: torch.Tensor  # int64 (T, N)
    expert_probs: torch.Tensor | None  # bfloat16 (T, N, actions), if an expert is imitated in the run
    log_probs: torch.Tensor  # float32 (T, N)
    values: torch.Tensor  # float32 (T + 1, N, players), by seat
    rewards: torch.Tensor  # float32 (T, N, players), by seat
    dones: torch.Tensor  # bool (T, N)
    seats: torch.Tensor  # int64 (T, N)
    own: torch.Tensor  # bool (T + 1, N): the network or its expert decides, no opponent
    imitating: bool = False  # the actions are the expert's


class PPO:
    """The network in training with its moving average, optimiser and games.

    Attributes:
        net: the network that learns.
        player: as it was when the rollout began, to play.
        mean_net: the moving average of its weights (Polyak and Juditsky, 1992).
        batch: the last rollout.
        next_obs, next_seats: what the seats to move observe, and which these are.
        steps, updates, games: decisions, updates and finished games so far.
    """

    def __init__(
        self, settings: PPOSettings, others: OpponentSettings, env: GameVectorEnv, net: PolicyValueNet
    ) -> None:
        self.settings, self.env, self.variant = settings, env, env.variant
        self.net = net.to(settings.device)
        self.ema = AveragedModel(self.net, multi_avg_fn=warmed_up_ema(settings.ema_decay))
        self.ema.update_parameters(self.net)  # the first call copies
        mean_net = self.ema.module.eval()
        assert isinstance(mean_net, PolicyValueNet)
        self.mean_net = mean_net
        self.player: Network = self.net
        imitates, threads = others.imitation_steps > 0, torch.get_num_threads()
        # A thread takes a piece of a minibatch: torch's own threads share one product, and small ones not at all.
        self._threads = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
        self.expert = Expert(others, self.variant, self.mean_net, threads) if imitates else None
        self.opponents = Opponents(others, self.variant, self.mean_net, settings.seed) if others.opponents else None
        trained = {name: p for name, p in net.named_parameters() if p.requires_grad}
        prior_weight = [trained.pop("prior_weight")] if "prior_weight" in trained else []
        groups = [{"params": [*trained.values()], "lr_scale": 1.0}]
        if prior_weight:
            groups.append({"params": prior_weight, "lr_scale": PRIOR_WEIGHT_LR})
        self.optimizer = torch.optim.Adam(groups, lr=settings.learning_rate, eps=1e-5, fused=True)
        self.rng = np.array([settings.seed], np.uint64)
        self.shuffler = torch.Generator().manual_seed(settings.seed)
        self.steps = self.updates = self.games = 0
        self._features = prior_features(net.config, self.variant)
        self._num_features = len(self.variant.game.action_features) if net.config.action_width else 1
        # Games at all stages from the start: else a rollout has openings alone, the next one middles.
        observed, info = env.reset(seed=settings.seed, options={"desynchronize": True})
        self.next_obs, self.next_seats = observed, info["seat"]
        self.batch = self._new_batch()

    def rounding(self) -> torch.autocast:
        """A context in which matrix products are of the run's precision."""
        device, rounded = torch.device(self.settings.device).type, self.settings.precision == "bfloat16"
        return torch.autocast(device, torch.bfloat16, rounded)

    def _new_batch(self) -> Batch:
        size, players = (self.settings.num_steps, self.settings.num_envs), self.variant.num_players
        num_actions, shape = self.variant.num_actions, self.variant.encoding(self.env.encoding).shape
        with torch.device(self.settings.device):
            return Batch(
                obs=torch.zeros((*size, *shape), dtype=torch.int8),
                action_masks=torch.zeros((*size, num_actions), dtype=torch.int8),
                action_features=torch.zeros((*size, num_actions, self._num_features)) if self._features else None,
                actions=torch.zeros(size, dtype=torch.int64),
                expert_probs=torch.zeros((*size, num_actions), dtype=torch.bfloat16) if self.expert else None,
                log_probs=torch.zeros(size),
                values=torch.zeros((size[0] + 1, size[1], players)),
                rewards=torch.zeros((*size, players)),
                dones=torch.zeros(size, dtype=torch.bool),
                seats=torch.zeros(size, dtype=torch.int64),
                own=torch.ones((size[0] + 1, size[1]), dtype=torch.bool),
            )

    @property
    def imitating(self) -> bool:
        """Whether the network still learns from the expert."""
        return self.expert is not None and self.steps < self.expert.steps

    @torch.no_grad()
    def collect(self) -> None:
        """Play `num_steps` decisions in every game with the network as it is.

        While an expert is imitated, the batch holds the expert's choices. It also makes half of the moves, so the
        network learns what to do in the positions of both (DAgger, Ross et al., 2011).
        """
        batch, env = self.batch, self.env
        batch.imitating, self.player = self.imitating, snapshot(self.net)
        if self.opponents:
            self.opponents.start_rollout(self.updates, *self.length())
        for t in range(self.settings.num_steps):
            self.next_obs, _, terminated, truncated, info = env.step(self._decide(t))
            dones = terminated | truncated  # after either the observation is of another game
            self.next_seats = info["seat"]
            batch.rewards[t] = torch.from_numpy(info["rewards"])
            batch.dones[t] = torch.from_numpy(dones)
            self.games += int(dones.sum())
        end = self.settings.num_steps
        rows = self._own_rows(end)
        if batch.own[end].any():
            self._predict(end, rows)  # values after the last decision
        self.steps += self.settings.num_steps * self.settings.num_envs

    def _own_rows(self, t: int) -> np.ndarray | slice:
        """Note whose decision `t` is; the games in which it is the network's."""
        if not self.opponents:
            return slice(None)
        own = ~self.opponents.decides(self.env.states)
        self.batch.own[t] = torch.from_numpy(own)
        return np.flatnonzero(own)

    def _decide(self, t: int) -> np.ndarray:
        """Decide in every game and enter the network's decisions; the actions to play, int64 (N,)."""
        batch, states = self.batch, self.env.states
        played = np.empty(self.env.num_envs, np.int64)
        rows = self._own_rows(t)
        if self.opponents:
            self.opponents.play(states, played)
        if not batch.own[t].any():
            return played
        log_probs = self._predict(t, rows)
        probs, actions = np.exp(log_probs), np.empty(len(log_probs), np.int64)
        if not np.isfinite(probs).all():
            raise self.diverged()
        sample(probs, self.rng, actions)
        if not self.next_obs["action_mask"][rows][np.arange(len(actions)), actions].all():
            raise self.diverged()  # the logits of legal actions have sunk below those of illegal ones
        played[rows] = actions
        if batch.imitating:
            assert self.expert is not None
            assert batch.expert_probs is not None
            ours = states[rows]
            keys = decision_keys(ours["seed"], ours["steps"], 0)
            theirs, probs = self.expert.decide(ours, keys)
            batch.expert_probs[t, rows] = torch.from_numpy(probs).to(batch.expert_probs)
            played[rows] = np.where(keys & np.uint64(1), actions, theirs)
            actions = theirs
        batch.actions[t, rows] = torch.from_numpy(actions).to(batch.actions)
        batch.log_probs[t, rows] = torch.from_numpy(log_probs[np.arange(len(actions)), actions]).to(batch.log_probs)
        return played

    def diverged(self) -> ValueError:
        """The error that the network has become useless."""
        return ValueError(f"training has diverged after {self.steps:,} steps; try a lower --learning-rate")

    def _predict(self, t: int, rows: np.ndarray | slice) -> np.ndarray:
        """Enter the network's inputs and values at decision `t` of these games; its log-probabilities (N, actions)."""
        batch = self.batch
        arrays = {
            "obs": self.next_obs["observation"][rows],
            "action_masks": self.next_obs["action_mask"][rows],
        }
        if self._features:
            arrays["action_features"] = self._features.compute(self.env.states[rows])[:, :, : self._num_features]
        with self.rounding():
            log_probs, values = self.player.evaluate(*arrays.values())
        seats = torch.from_numpy(self.next_seats[rows]).to(batch.seats)
        batch.values[t, rows] = turn_seats(torch.from_numpy(values).to(batch.values), seats, -1)
        if t < self.settings.num_steps:
            batch.seats[t, rows] = seats
            for name, array in arrays.items():
                kept = getattr(batch, name)
                kept[t, rows] = torch.from_numpy(array).to(kept)
        return log_probs

    # ---------------------------------------------------------------- advantages

    def advantages(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Estimate generalised advantages (GAE: Schulman et al., 2016), undiscounted, of the network's own decisions.

        delta_t = r_t + V(s_t+1) - V(s_t) and A_t = delta_t + lambda * A_t+1; nothing follows the end of a game. To the
        network opponents are part of the game: their decisions are no steps, and it does not value what they see. So
        where the rollout ends before an opponent's decision, the network's last one has no target; it bootstraps those
        before it.

        Returns:
            Advantages of the seats to move, float32 (T, N); returns, float32 (T, N, players), seat to move first; which
            decisions have them, bool (T, N).
        """
        batch, gae_lambda = self.batch, self.settings.gae_lambda
        advantages, valid = torch.zeros_like(batch.rewards), batch.own[:-1].clone()
        value, last, unknown = batch.values[-1], torch.zeros_like(batch.rewards[0]), ~batch.own[-1]
        for t in reversed(range(len(advantages))):
            own, nonterminal = batch.own[t], (~batch.dones[t]).float()[:, None]
            unknown = unknown & ~batch.dones[t]
            valid[t] &= ~unknown
            ahead, last = batch.rewards[t] + nonterminal * value, nonterminal * last
            advantages[t] = ahead - batch.values[t] + gae_lambda * last
            last = torch.where(valid[t][:, None], advantages[t], last)
            value = torch.where(own[:, None], batch.values[t], ahead)
            unknown &= ~own
        own_advantages = advantages.gather(2, batch.seats[..., None])[..., 0]
        return own_advantages, turn_seats(advantages + batch.values[:-1], batch.seats, 1), valid

    # ---------------------------------------------------------------- loss

    def loss(self, part: dict[str, torch.Tensor], ent_coef: float) -> tuple[torch.Tensor, dict[str, float]]:
        """Compute PPO's loss of a minibatch, or that of imitation; also of some of its rows.

        Args:
            part: rows of the rollout by name: obs, action_masks, actions, log_probs, advantages (normalised) and
                returns, also action_features for a network with a heuristic prior, and expert_probs while an expert is
                imitated.
            ent_coef: weight of the entropy bonus.

        Returns:
            The loss, a scalar with gradients, and the metrics by name.
        """
        clip_coef = self.settings.clip_coef
        with self.rounding():
            log_probs, values = self.net(part["obs"], part["action_masks"], part.get("action_features"))
            value_loss = (values - part["returns"]).pow(2).mean()
        logratio = log_probs.gather(1, part["actions"][:, None])[:, 0] - part["log_probs"]
        ratio = logratio.exp()
        bounded = log_probs.clamp_min(LEAST_LOG_PROB)
        if "expert_probs" in part:  # cross-entropy, without a bonus
            policy_loss, ent_coef = -(part["expert_probs"] * bounded).sum(1).mean(), 0.0
        else:
            advantages = part["advantages"]
            clipped = ratio.clamp(1 - clip_coef, 1 + clip_coef)
            policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
        entropy = -(bounded.exp() * bounded).sum(1).mean()  # illegal actions have no share in it
        loss = policy_loss + self.settings.vf_coef * value_loss - ent_coef * entropy
        return loss, {
            "policy_loss": policy_loss.item(),
            "value_loss": value_loss.item(),
            "entropy": entropy.item(),
            "approx_kl": ((ratio - 1) - logratio).mean().item(),
            "clipfrac": ((ratio - 1).abs() > clip_coef).float().mean().item(),
        }

    def backward(self, part: dict[str, torch.Tensor], ent_coef: float) -> dict[str, float]:
        """Compute the gradient of a minibatch, and the metrics.

        On a CPU it is the sum over a few rows at a time: what the layers make of thousands does not stay in its cache.

        Args:
            part: as for `loss`, with advantages that are not normalised yet.
            ent_coef: weight of the entropy bonus.
        """
        advantages, rows = part["advantages"], len(part["advantages"])
        deviation = advantages.std() if rows > 1 else 0.0
        part = part | {"advantages": (advantages - advantages.mean()) / (deviation + 1e-8)}
        pieces = -(-rows // CACHE_ROWS) if self.settings.device == "cpu" else 1
        split = {name: tensor.tensor_split(pieces) for name, tensor in part.items()}
        trained = [parameter for parameter in self.net.parameters() if parameter.requires_grad]

        def compute(piece: int) -> tuple[float, tuple[torch.Tensor, ...], dict[str, float]]:
            loss, metrics = self.loss({name: tensors[piece] for name, tensors in split.items()}, ent_coef)
            share = len(split["advantages"][piece]) / rows
            return share, torch.autograd.grad(share * loss, trained, allow_unused=True), metrics

        means: dict[str, float] = {}
        for share, gradients, metrics in self._threads.map(compute, range(pieces)) if pieces > 1 else [compute(0)]:
            for parameter, gradient in zip(trained, gradients, strict=True):
                if gradient is not None:  # Adam's fused form reads gradients as they lie in memory
                    own = gradient.contiguous()
                    parameter.grad = own if parameter.grad is None else parameter.grad.add_(own)
            for name, value in metrics.items():
                means[name] = means.get(name, 0.0) + share * value
        return means

    # ---------------------------------------------------------------- update

    def length(self) -> tuple[int, int]:
        """Decisions so far and in all; the learning rate and the entropy bonus fall with their ratio."""
        return self.steps, self.settings.total_timesteps

    def update(self) -> dict[str, float]:
        """Learn from the rollout; the means of the metrics.

        Raises:
            ValueError: opponents made all decisions but the last one of each game that has not ended.
        """
        settings, batch = self.settings, self.batch
        done, total = self.length()
        fraction = min(1.0, done / total)
        for group in self.optimizer.param_groups:
            group["lr"] = group["lr_scale"] * settings.learning_rate * (1.0 - 0.9 * fraction)
        ent_coef = settings.ent_coef * (1.0 - 0.8 * fraction)
        advantages, returns, valid = self.advantages()
        flat = {name: getattr(batch, name).flatten(0, 1) for name in ("obs", "action_masks", "actions", "log_probs")}
        flat |= {"advantages": advantages.flatten(), "returns": returns.flatten(0, 1)}
        if batch.action_features is not None:
            flat["action_features"] = batch.action_features.flatten(0, 1)
        if batch.imitating and batch.expert_probs is not None:
            flat["expert_probs"] = batch.expert_probs.flatten(0, 1)
        found: list[dict[str, float]] = []
        for rows in self._minibatches(valid):
            self.optimizer.zero_grad(set_to_none=True)
            metrics = self.backward({name: tensor[rows] for name, tensor in flat.items()}, ent_coef)
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), settings.max_grad_norm)
            self.optimizer.step()
            self.ema.update_parameters(self.net)
            found.append(metrics)
        self.updates += 1
        if self.opponents:
            self.opponents.end_update(self.mean_net, *self.length())
        means = {name: sum(metrics[name] for metrics in found) / len(found) for name in found[0]}
        returns, predicted = returns[valid], turn_seats(batch.values[:-1], batch.seats, 1)[valid]
        means["explained_variance"] = float(
            1.0 - (returns - predicted).var(correction=0) / returns.var(correction=0).clamp_min(1e-8)
        )
        if self.net.config.heuristic_prior:
            means["prior_weight"] = self.net.prior_weight.item()
        return means

    def _minibatches(self, valid: torch.Tensor) -> Iterator[torch.Tensor]:
        """Shuffled rows of the flattened batch, in each epoch all that are valid."""
        rows = valid.flatten().nonzero()[:, 0]
        if not len(rows):
            raise ValueError(
                f"in {self.settings.num_steps} steps of a game no decision of the network has a result: use a larger "
                "--num-steps or a smaller --opponent-share"
            )
        # Of about equal size, and of two rows or more: one has no deviation.
        parts = max(1, min(round(len(rows) / self.settings.minibatch_size), len(rows) // 2))
        for _ in range(self.settings.update_epochs):
            order = torch.randperm(len(rows), generator=self.shuffler).to(rows.device)
            yield from rows[order].tensor_split(parts)

    @property
    def gradient_steps(self) -> int:
        """Gradient steps so far."""
        return int(self.ema.n_averaged) - 1


Tensors = tuple[torch.Tensor, ...] | list[torch.Tensor]


def warmed_up_ema(decay: float) -> Callable[[Tensors, Tensors, torch.Tensor | int], None]:
    """Averaging for `AveragedModel`: torch's EMA has no warm-up; here step n decays by at most n / (n + 10)."""

    def average(averaged: Tensors, current: Tensors, step: torch.Tensor | int) -> None:
        torch._foreach_lerp_(averaged, current, 1.0 - min(decay, int(step) / (int(step) + 10.0)))

    return average


def turn_seats(values: torch.Tensor, seats: torch.Tensor, sign: int) -> torch.Tensor:
    """Turn vectors relative to the seat to move into vectors by seat (sign -1), or back (sign 1).

    Args:
        values: float (..., players).
        seats: int64 (...), the seat to move.
        sign: -1 or 1.
    """
    players = values.shape[-1]
    return values.gather(-1, (torch.arange(players, device=values.device) + sign * seats[..., None]) % players)
