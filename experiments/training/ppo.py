"""The PPO learner (Schulman et al., 2017): one network in the seats of many games at once.

It sees seat-relative observations and predicts the return of every seat, so advantages are vectors and the
learner works for any number of players and for cooperation.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import nn

from agents.arena import decision_keys
from agents.heuristics import ActionFeatures
from agents.networks.files import load_network, read_card
from agents.networks.network import NetworkConfig, PolicyValueNet, new_network
from agents.networks.sampling import sample
from agents.networks.warm_start import warm_start
from agents.registry import make_agent
from experiments.common.cli import parse_options
from experiments.training.config import Config
from experiments.training.heads import Extras
from experiments.training.opponents import KEPT, PAST, PastSelves, Teacher
from experiments.training.rollout import Batch, advantages, by_seat
from samurai_env import make_variant, parse_variant
from samurai_env.core.batch import batch_kernels
from samurai_env.core.bits import pick_legal
from samurai_env.core.game import Variant
from samurai_env.envs.vector import GameVectorEnv

TRUST_PACE = 30.0  # how much faster than the weights the trust in the advice moves


class Learner:
    """Network, the running mean of its weights (Polyak and Juditsky, 1992), optimiser and games of a run."""

    def __init__(self, config: Config) -> None:
        self.config = config
        torch.manual_seed(config.seed)
        self.variant = make_variant(config.game, config.num_players, **parse_options(config.game, config.options))
        self.encoding = self.variant.encoding_name(config.encoding)
        layers = {"entity_width": config.shared, "action_width": config.outlook, "spatial_width": config.spatial}
        form = NetworkConfig(self.variant.spec, self.encoding, tuple(config.hidden), config.advised, **layers)
        self.advice = ActionFeatures(self.variant) if config.advised else None
        self.columns = len(self.variant.game.action_features) if config.outlook else 1
        self.net = first_network(config, form, self.variant).to(config.device)
        self.mean_net = deepcopy(self.net).eval()
        self.extras = Extras(self.net, self.variant.num_players, config.privileged, config.auxiliary > 0)
        self.extras.to(config.device)
        if config.values_only:
            keep_choices(self.net, config)
        # The trust in the advice is one number: at the pace of the weights it would never come to where it should be.
        weights = [p for name, p in self.net.named_parameters() if name != "prior_weight" and p.requires_grad]
        groups = [{"params": [*weights, *self.extras.parameters()], "pace": 1.0}]
        if config.advised and not config.values_only:
            groups.append({"params": [self.net.prior_weight], "pace": TRUST_PACE})
        self.optimizer = torch.optim.Adam(groups, lr=config.learning_rate, eps=1e-5)
        self.shaped = config.reward == "shaped" or config.auxiliary > 0  # whether the games tell of progress
        self.env = GameVectorEnv(
            config.game,
            config.num_envs,
            self.variant.num_players,
            self.encoding,
            "shaped" if self.shaped else "result",
            **self.variant.options,
        )
        self._observing = batch_kernels(self.variant.game).by_encoding[self.encoding]
        self.rng = np.array([config.seed], np.uint64)
        self.precision = torch.autocast(
            torch.device(config.device).type, torch.bfloat16, config.precision == "bfloat16"
        )
        self.shuffler = torch.Generator().manual_seed(config.seed)
        self.teacher = Teacher(self.variant, config.teacher, self.mean_net, torch.get_num_threads())
        self.past = PastSelves(self.variant, self.mean_net) if PAST in config.rivals else None
        self.rivals = [
            self.past if self.past and spec == PAST else make_agent(spec, self.variant) for spec in config.rivals
        ]
        self.steps = 0
        self.updates = 0
        self.gradient_steps = 0
        self.seconds = 0.0
        self.games = 0
        self.curve: list[dict[str, float]] = []
        # From which step with what command; settings such as the learning rate may change when a run goes on.
        self.commands: list[tuple[int, str]] = [(0, config.command)]
        self.origin = read_card(config.initial).notes if config.initial else None  # how it was made
        observations, info = self.env.reset(seed=config.seed)
        self._now = (observations, info["seat"])
        self.batch = self._new_batch()

    def _new_batch(self) -> Batch:
        config, players, actions = self.config, self.variant.num_players, self.variant.num_actions
        room, shape = (config.num_steps, config.num_envs), self.variant.encoding(self.encoding).shape
        more = (config.num_steps + 1, config.num_envs, players)
        return Batch(
            observations=torch.zeros((*room, *shape), dtype=torch.int8),
            masks=torch.zeros((*room, actions), dtype=torch.int8),
            looks=torch.zeros((*room, actions, self.columns)) if self.advice else None,
            together=torch.zeros((*room, players, *shape), dtype=torch.int8) if config.privileged else None,
            actions=torch.zeros(room, dtype=torch.int64),
            wanted=torch.zeros((*room, actions), dtype=torch.bfloat16) if config.teacher_steps else None,
            log_probs=torch.zeros(room),
            values=torch.zeros(more),
            rewards=torch.zeros((*room, players)),
            growths=torch.zeros((*room, players)),
            forecasts=torch.zeros(more),
            dones=torch.zeros(room, dtype=torch.bool),
            seats=torch.zeros(room, dtype=torch.int64),
            learned=torch.ones(room, dtype=torch.bool),
        )

    @property
    def imitating(self) -> bool:
        """Whether the network still learns from the teacher."""
        return self.steps < self.config.teacher_steps

    def _let_rivals_play(self, played: np.ndarray) -> np.ndarray:
        """Put the rivals' decisions into `played`, int64 (N,); bool (N,): which these are.

        The first games are played with rivals, taking turns; the network's seat in them follows from the deal.
        """
        states, games = self.env.states, np.arange(self.config.num_envs)
        home = (states["seed"] % np.uint64(self.variant.num_players)).astype(np.int64)
        theirs = (games < round(self.config.rival_share * len(games))) & (states["seat"] != home)
        for number, rival in enumerate(self.rivals):
            rows = np.flatnonzero(theirs & (games % len(self.rivals) == number))
            if len(rows):
                now = states[rows]
                played[rows] = rival.act(now, decision_keys(now["seed"], now["steps"], 1 + number))
        return theirs

    @torch.no_grad()
    def collect(self) -> None:
        """Play `num_steps` decisions in every game with the present network.

        While it imitates, the batch holds what the teacher would do, who also makes half of the moves: so the
        network learns what to do both where the teacher comes to and where it comes to itself (as in DAgger, Ross
        et al., 2011).
        """
        batch = self.batch
        batch.imitated = self.imitating
        if self.past:
            self.past.draw(self.config.seed, self.updates)
        observed, seats = self._now
        for t in range(self.config.num_steps + 1):
            log_probs = self._look(t, observed, torch.from_numpy(seats).long())
            if t == self.config.num_steps:
                break
            actions = np.empty(len(log_probs), np.int64)
            sample(log_probs.exp().numpy(), self.rng, actions)
            moves = actions
            if batch.imitated:
                assert batch.wanted is not None
                keys = decision_keys(self.env.states["seed"], self.env.states["steps"], 0)
                actions, wanted = self.teacher.decide(self.env.states, keys)
                batch.wanted[t] = torch.from_numpy(wanted)
                moves = np.where(keys & np.uint64(1), moves, actions)
            batch.actions[t] = torch.from_numpy(actions)
            batch.log_probs[t] = log_probs.gather(1, batch.actions[t][:, None])[:, 0]
            if self.rivals:
                batch.learned[t] = torch.from_numpy(~self._let_rivals_play(moves))
            observed, _, done, _, info = self.env.step(moves)
            seats = info["seat"]
            self._enter_rewards(t, info)
            batch.dones[t] = torch.from_numpy(done)
            self.games += int(done.sum())
        self._now = (observed, seats)
        self.steps += self.config.num_steps * self.config.num_envs

    def _look(self, t: int, observed: dict[str, np.ndarray], seats: torch.Tensor) -> torch.Tensor:
        """Enter what is seen and expected before decision `t`; the log-probabilities, float32 (N, actions)."""
        batch, device = self.batch, self.config.device
        seen = {
            "observations": torch.from_numpy(observed["observation"]),
            "masks": torch.from_numpy(observed["action_mask"]),
        }
        if self.advice:
            seen["looks"] = torch.from_numpy(self.advice.compute(self.env.states)[:, :, : self.columns])
        with self.precision:
            log_probs, values, hidden = self.net.forward_hidden(
                **{name: tensor.to(device) for name, tensor in seen.items()}
            )
            if self.extras.auxiliary:
                batch.forecasts[t] = by_seat(self.extras.forecast(hidden).float().cpu(), seats, -1)
            if self.extras.privileged:
                together = np.zeros((len(seats), self.variant.num_players, *observed["observation"].shape[1:]), np.int8)
                self._observing.batch_observe_all(self.env.states, together)
                seen["together"] = torch.from_numpy(together)
                values = self.extras.judge(seen["together"].to(device))
        batch.values[t] = by_seat(values.cpu(), seats, -1)
        if t < self.config.num_steps:
            batch.seats[t] = seats
            for name, tensor in seen.items():
                getattr(batch, name)[t] = tensor
        return log_probs.cpu()

    def _enter_rewards(self, t: int, info: dict[str, Any]) -> None:
        """Enter what decision `t` brought: results, and apart from them the growth of progress."""
        paid = torch.from_numpy(info["rewards"])
        self.batch.rewards[t] = paid
        if self.shaped:
            told = info.get("final_info")
            returns = torch.from_numpy(told["returns"]) if told else torch.zeros_like(paid)
            self.batch.growths[t] = paid - returns
            if self.config.reward == "result":
                self.batch.rewards[t] = returns

    def advantages(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Generalised advantages of the deciding seats (T, N) and value targets by player (T, N, players)."""
        batch = self.batch
        advantage = advantages(batch.rewards, batch.values, batch.dones, self.config.gae_lambda)
        own = advantage.gather(2, batch.seats[..., None])[..., 0]
        return own, by_seat(advantage + batch.values[:-1], batch.seats, 1)

    def update(self) -> dict[str, float]:
        """One PPO update from the batch; the means of what it measured."""
        config, batch = self.config, self.batch
        fraction = min(1.0, self.steps / config.total_steps)
        for group in self.optimizer.param_groups:
            group["lr"] = group["pace"] * config.learning_rate * (1.0 - 0.9 * fraction)
        entropy_weight = config.entropy * (1.0 - 0.8 * fraction)
        own, targets = self.advantages()
        flat = {
            "observations": batch.observations.flatten(0, 1),
            "masks": batch.masks.flatten(0, 1),
            "actions": batch.actions.flatten(),
            "log_probs": batch.log_probs.flatten(),
            "advantages": own.flatten(),
            "targets": targets.flatten(0, 1),
        }
        if batch.looks is not None:
            flat["looks"] = batch.looks.flatten(0, 1)
        if batch.together is not None:
            flat["together"] = batch.together.flatten(0, 1)
        if batch.imitated and batch.wanted is not None:
            flat["wanted"] = batch.wanted.flatten(0, 1)
        if self.extras.auxiliary:
            to_come = advantages(batch.growths, batch.forecasts, batch.dones, config.gae_lambda) + batch.forecasts[:-1]
            flat["forecasts"] = by_seat(to_come, batch.seats, 1).flatten(0, 1)
        sums: dict[str, float] = {}
        count = 0
        for rows in self._minibatches():
            part = {name: tensor[rows].to(config.device) for name, tensor in flat.items()}
            for name, value in self._gradient_step(part, entropy_weight).items():
                sums[name] = sums.get(name, 0.0) + value
            count += 1
        self.updates += 1
        if self.past and self.steps * KEPT >= config.total_steps * len(self.past.nets):
            self.past.remember(self.mean_net)
        seen = {name: value / count for name, value in sums.items()}
        seen["explained_variance"] = float(1.0 - (targets - self._predicted()).var() / targets.var().clamp_min(1e-8))
        if config.advised:
            seen["trust"] = self.net.prior_weight.item()
        return seen

    def _predicted(self) -> torch.Tensor:
        return by_seat(self.batch.values[:-1], self.batch.seats, 1)

    def _minibatches(self) -> Iterator[torch.Tensor]:
        rows = self.batch.learned.flatten().nonzero()[:, 0]
        parts = max(1, round(len(rows) / self.config.minibatch))  # of about equal size: one row has no deviation
        for _ in range(self.config.epochs):
            yield from rows[torch.randperm(len(rows), generator=self.shuffler)].tensor_split(parts)

    def _gradient_step(self, part: dict[str, torch.Tensor], entropy_weight: float) -> dict[str, float]:
        config = self.config
        with self.precision:
            log_probs, values, hidden = self.net.forward_hidden(part["observations"], part["masks"], part.get("looks"))
            value_loss = (values - part["targets"]).pow(2).mean()
            beside = {}
            if "together" in part:
                beside["critic_loss"] = (self.extras.judge(part["together"]) - part["targets"]).pow(2).mean()
            if "forecasts" in part:
                missed = (self.extras.forecast(hidden).float() - part["forecasts"]).pow(2).mean()
                beside["auxiliary_loss"] = config.auxiliary * missed
        chosen = log_probs.gather(1, part["actions"][:, None])[:, 0]
        log_ratio = chosen - part["log_probs"]
        ratio = log_ratio.exp()
        advantage = part["advantages"]
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        policy_loss = -torch.min(ratio * advantage, ratio.clamp(1 - config.clip, 1 + config.clip) * advantage).mean()
        if "wanted" in part:
            policy_loss, entropy_weight = -(part["wanted"] * log_probs.clamp_min(-50.0)).sum(1).mean(), 0.0
        entropy = -(log_probs.exp() * log_probs).sum(1).mean()  # illegal actions have probability 0
        losses_of_values = sum(beside.values(), value_loss)
        loss = policy_loss + config.value_weight * losses_of_values - entropy_weight * entropy
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*self.net.parameters(), *self.extras.parameters()], config.max_grad_norm)
        self.optimizer.step()
        self.gradient_steps += 1
        follow = 1.0 - min(config.averaging, self.gradient_steps / (self.gradient_steps + 10.0))
        with torch.no_grad():
            for kept, now in zip(self.mean_net.parameters(), self.net.parameters(), strict=True):
                kept.lerp_(now, follow)
        return {
            "policy_loss": policy_loss.item(),
            "value_loss": value_loss.item(),
            "entropy": entropy.item(),
            "kl": ((ratio - 1) - log_ratio).mean().item(),
            "clipped": ((ratio - 1).abs() > config.clip).float().mean().item(),
            **{name: part_loss.item() for name, part_loss in beside.items()},
        }


def first_network(config: Config, form: NetworkConfig, variant: Variant) -> PolicyValueNet:
    """The network that `config.initial` names, grown where it is for fewer players; or a new one.

    New inputs are fitted to the look of random play.

    Raises:
        FileNotFoundError: there is none of that name.
        ValueError: it is damaged or of another form.
    """
    if config.initial:
        net = load_network(config.initial)
        if parse_variant(net.config.variant).num_players < variant.num_players:
            net = warm_start(net, form)
            net.standardize(*random_play(variant, form, config.seed))
        if net.config != form:
            raise ValueError(f"the network in {config.initial} does not fit this run: {net.config.differences(form)}")
        return net.train()
    net = new_network(form)
    if form.heuristic_prior:
        nn.init.constant_(net.prior_weight, config.trust)
    net.standardize(*random_play(variant, form, config.seed))
    return net


def keep_choices(net: PolicyValueNet, config: Config) -> None:
    """Let nothing learn that a network chooses by.

    Raises:
        ValueError: it chooses by its hidden layers, which its values cannot do without.
    """
    reading = [net.policy.weight, *([net.actions.context.weight] if net.config.action_width else [])]
    if any(bool(tensor.any()) for tensor in reading):
        raise ValueError(
            f"--values-only: the network in {config.initial} chooses by its hidden layers, which would change"
        )
    for name, tensor in net.named_parameters():
        tensor.requires_grad_(name.startswith(("body.", "value.")))


def random_play(variant: Variant, form: NetworkConfig, seed: int) -> tuple[torch.Tensor, torch.Tensor | None]:
    """What inputs of such a network look like: observations and outlooks of random games at all stages.

    Returns:
        int8 (12,800, ...), and float32 (legal actions, columns) if the form has layers for outlooks.
    """
    env = GameVectorEnv(variant.game.name, 256, variant.num_players, form.encoding, **variant.options)
    advice = ActionFeatures(variant) if form.action_width else None
    observations, _ = env.reset(seed=seed)
    rng, actions, rows, looks = np.array([seed], np.uint64), np.zeros(env.num_envs, np.int64), [], []
    for step in range(250):
        pick_legal(observations["action_mask"], rng, actions)
        env.step(actions)
        if step % 5 == 0:
            rows.append(observations["observation"].copy())
            if advice:
                looks.append(advice.compute(env.states)[observations["action_mask"] > 0])
    return torch.from_numpy(np.concatenate(rows)), torch.from_numpy(np.concatenate(looks)) if looks else None
