"""Train a network by self-play with PPO (Schulman et al., 2017) and action masks.

    python -m experiments.train_ppo --game samurai --num-players 2 --total-steps 3000000 --run runs/first

One network plays every seat of many games at once. It sees seat-relative observations and predicts the
return of every seat, so advantages are vectors and the learner works for any number of players and for
cooperation. Ctrl-C ends the update, saves and stops; --resume goes on exactly from there.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from safetensors.torch import load_file, save_file
from torch.utils.tensorboard import SummaryWriter

from agents.arena import decision_keys
from agents.base import make_agent
from agents.networks import NetworkForm, PolicyValueNet, load_network, sample, save_network, write_atomically
from agents.ppo import PPOAgent
from experiments.common import Interrupt, at_least, parse_options, progress_bar, run_program
from experiments.curve import caption, draw_curve
from experiments.match import team_win_rate, win_share_against
from samurai_env import make_variant
from samurai_env.core.bits import pick_legal
from samurai_env.core.game import Variant
from samurai_env.envs.vector import GameVectorEnv


@dataclass
class Config:
    """Settings of a training run."""

    run: Path = Path("runs/ppo")
    """Folder for the network, checkpoints, curve and tensorboard files."""
    game: str = "samurai"
    """Name of the game."""
    num_players: int | None = None
    """Number of players; the game's smallest if not given."""
    options: tuple[str, ...] = ()
    """The game's options as name=value."""
    encoding: str | None = None
    """Encoding of observations; the game's default if not given."""
    reward: str = "result"
    """What a step pays: "result" or "shaped", as the environments have it; evaluations look at results alone."""
    hidden: tuple[int, ...] = (256, 256)
    """Widths of the hidden layers."""
    total_steps: int = 3_000_000
    """Decisions to learn from, over all games."""
    num_envs: int = 256
    """Games played at once."""
    num_steps: int = 128
    """Decisions in each game between two updates."""
    minibatch: int = 4096
    """Decisions in a gradient step."""
    epochs: int = 2
    """How often each decision is learned from."""
    learning_rate: float = 1e-3
    """Adam's step size at the start; it falls linearly to a tenth."""
    entropy: float = 0.03
    """Weight of the entropy bonus at the start; it falls linearly to a fifth."""
    gae_lambda: float = 0.95
    """Lambda of generalised advantage estimation; returns are not discounted."""
    clip: float = 0.2
    """How far the probability ratio may move."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    max_grad_norm: float = 0.5
    """Gradients are scaled down to this norm."""
    teacher: str = "greedy"
    """Agent whose decisions the network imitates at first."""
    teacher_steps: int = 0
    """Decisions, of the total, in which the network learns from the teacher; 0 for pure self-play."""
    seed: int = 1
    """Seed of games, network and sampling: same seed, same network."""
    evaluate_every: int = 10
    """Updates between two evaluations; 0 for none."""
    opponents: tuple[str, ...] = ("random", "greedy")
    """Whom the network plays in an evaluation; in a cooperative game it plays in every seat instead."""
    evaluate_deals: int = 100
    """Deals of such an evaluation, each played from every seat (cooperative: once)."""
    checkpoint_every: int = 20
    """Updates between two checkpoints."""
    resume: bool = False
    """Go on from the checkpoint in `run`."""
    device: str = field(default_factory=lambda: "cuda" if torch.cuda.is_available() else "cpu")
    """Where the network learns."""


@dataclass
class Batch:
    """What an update learns from; time first, then games."""

    observations: torch.Tensor  # int8 (T, N, ...)
    masks: torch.Tensor  # int8 (T, N, actions)
    actions: torch.Tensor  # int64 (T, N)
    log_probs: torch.Tensor  # float32 (T, N)
    values: torch.Tensor  # float32 (T, N, players), by seat
    rewards: torch.Tensor  # float32 (T, N, players), by seat
    dones: torch.Tensor  # bool (T, N)
    seats: torch.Tensor  # int64 (T, N)


class Learner:
    """Network, optimiser and games of a run."""

    def __init__(self, config: Config) -> None:
        self.config = config
        torch.manual_seed(config.seed)
        self.variant = make_variant(config.game, config.num_players, **parse_options(config.game, config.options))
        self.encoding = self.variant.encoding_name(config.encoding)
        form = NetworkForm(self.variant.spec, self.encoding, tuple(config.hidden))
        self.net = PolicyValueNet(form).to(config.device)
        self.net.standardise(random_play(self.variant, self.encoding, config.seed))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=config.learning_rate, eps=1e-5)
        self.env = GameVectorEnv(
            config.game, config.num_envs, self.variant.num_players, self.encoding, config.reward, **self.variant.options
        )
        self.generator = torch.Generator(config.device).manual_seed(config.seed)
        self.shuffler = torch.Generator().manual_seed(config.seed)
        self.teacher = make_agent(config.teacher, self.variant)
        self.steps = 0
        self.updates = 0
        self.seconds = 0.0
        self.games = 0
        self.curve: list[dict[str, float]] = []
        observations, info = self.env.reset(seed=config.seed)
        self._now = (observations, info["seat"])
        self.batch = self._new_batch()

    def _new_batch(self) -> Batch:
        steps, games, players = self.config.num_steps, self.config.num_envs, self.variant.num_players
        shape = self.variant.encoding(self.encoding).shape
        return Batch(
            torch.zeros((steps, games, *shape), dtype=torch.int8),
            torch.zeros((steps, games, self.variant.num_actions), dtype=torch.int8),
            torch.zeros((steps, games), dtype=torch.int64),
            torch.zeros((steps, games)),
            torch.zeros((steps + 1, games, players)),
            torch.zeros((steps, games, players)),
            torch.zeros((steps, games), dtype=torch.bool),
            torch.zeros((steps, games), dtype=torch.int64),
        )

    def _by_seat(self, values: torch.Tensor, seats: torch.Tensor, sign: int) -> torch.Tensor:
        """Turn player-relative vectors into vectors by seat (sign -1), or back (sign 1); last axis players."""
        players = self.variant.num_players
        index = (torch.arange(players) + sign * seats[..., None]) % players
        return values.gather(-1, index)

    @property
    def imitating(self) -> bool:
        """Whether the network still learns from the teacher."""
        return self.steps < self.config.teacher_steps

    @torch.no_grad()
    def collect(self) -> None:
        """Play `num_steps` decisions in every game with the present network.

        While it imitates, the batch holds what the teacher would do, who also makes half of the moves: so the
        network learns what to do both where the teacher comes to and where it comes to itself (as in DAgger, Ross
        et al., 2011).
        """
        batch, device = self.batch, self.config.device
        observed, seats = self._now
        for t in range(self.config.num_steps + 1):
            observations = torch.from_numpy(observed["observation"])
            masks = torch.from_numpy(observed["action_mask"])
            where = torch.from_numpy(seats).long()
            log_probs, values = self.net(observations.to(device), masks.to(device))
            batch.values[t] = self._by_seat(values.cpu(), where, -1)
            if t == self.config.num_steps:
                break
            actions = sample(log_probs, self.generator)
            played = actions
            if self.imitating:
                keys = decision_keys(self.env.states["seed"], self.env.states["steps"], 0)
                actions = torch.from_numpy(self.teacher.act(self.env.states, keys)).to(device)
                coin = torch.rand(len(actions), generator=self.generator, device=device) < 0.5
                played = torch.where(coin, played, actions)
            batch.observations[t], batch.masks[t], batch.seats[t] = observations, masks, where
            batch.actions[t] = actions.cpu()
            batch.log_probs[t] = log_probs.gather(1, actions[:, None])[:, 0].cpu()
            observed, _, done, _, info = self.env.step(played.cpu().numpy())
            seats = info["seat"]
            batch.rewards[t] = torch.from_numpy(info["rewards"])
            batch.dones[t] = torch.from_numpy(done)
            self.games += int(done.sum())
        self._now = (observed, seats)
        self.steps += self.config.num_steps * self.config.num_envs

    def advantages(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Generalised advantages of the deciding seats (T, N) and value targets by player (T, N, players)."""
        batch, lam = self.batch, self.config.gae_lambda
        advantage = torch.zeros_like(batch.rewards)
        following = torch.zeros_like(batch.rewards[0])
        for t in reversed(range(self.config.num_steps)):
            goes_on = (~batch.dones[t]).float()[:, None]
            error = batch.rewards[t] + goes_on * batch.values[t + 1] - batch.values[t]
            following = error + lam * goes_on * following
            advantage[t] = following
        own = advantage.gather(2, batch.seats[..., None])[..., 0]
        return own, self._by_seat(advantage + batch.values[:-1], batch.seats, 1)

    def update(self) -> dict[str, float]:
        """One PPO update from the batch; the means of what it measured."""
        config, batch = self.config, self.batch
        fraction = min(1.0, self.steps / config.total_steps)
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * (1.0 - 0.9 * fraction)
        entropy_weight = config.entropy * (1.0 - 0.8 * fraction)
        own, targets = self.advantages()
        imitating = self.steps <= config.teacher_steps
        flat = {
            "observations": batch.observations.flatten(0, 1),
            "masks": batch.masks.flatten(0, 1),
            "actions": batch.actions.flatten(),
            "log_probs": batch.log_probs.flatten(),
            "advantages": own.flatten(),
            "targets": targets.flatten(0, 1),
        }
        sums: dict[str, float] = {}
        count = 0
        for rows in self._minibatches(len(flat["actions"])):
            part = {name: tensor[rows].to(config.device) for name, tensor in flat.items()}
            for name, value in self._gradient_step(part, entropy_weight, imitating).items():
                sums[name] = sums.get(name, 0.0) + value
            count += 1
        self.updates += 1
        seen = {name: value / count for name, value in sums.items()}
        seen["explained_variance"] = float(1.0 - (targets - self._predicted()).var() / targets.var().clamp_min(1e-8))
        return seen

    def _predicted(self) -> torch.Tensor:
        return self._by_seat(self.batch.values[:-1], self.batch.seats, 1)

    def _minibatches(self, size: int) -> Iterator[torch.Tensor]:
        for _ in range(self.config.epochs):
            order = torch.randperm(size, generator=self.shuffler)
            yield from order.split(self.config.minibatch)

    def _gradient_step(self, part: dict[str, torch.Tensor], entropy_weight: float, imitating: bool) -> dict[str, float]:
        config = self.config
        log_probs, values = self.net(part["observations"], part["masks"])
        chosen = log_probs.gather(1, part["actions"][:, None])[:, 0]
        log_ratio = chosen - part["log_probs"]
        ratio = log_ratio.exp()
        advantage = part["advantages"]
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        policy_loss = -torch.min(ratio * advantage, ratio.clamp(1 - config.clip, 1 + config.clip) * advantage).mean()
        if imitating:
            policy_loss, entropy_weight = -chosen.mean(), 0.0
        value_loss = (values - part["targets"]).pow(2).mean()
        entropy = -(log_probs.exp() * log_probs).sum(1).mean()  # illegal actions have probability 0
        loss = policy_loss + config.value_weight * value_loss - entropy_weight * entropy
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), config.max_grad_norm)
        self.optimizer.step()
        return {
            "policy_loss": policy_loss.item(),
            "value_loss": value_loss.item(),
            "entropy": entropy.item(),
            "kl": ((ratio - 1) - log_ratio).mean().item(),
            "clipped": ((ratio - 1).abs() > config.clip).float().mean().item(),
        }

    # --- files ---

    def notes(self) -> dict[str, Any]:
        """What the network's card says of its making."""
        settings = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(self.config).items()}
        return {
            "steps": self.steps,
            "updates": self.updates,
            "games": self.games,
            "seconds": round(self.seconds, 1),
            "curve": self.curve,
            "config": settings,
        }

    def save(self) -> None:
        """Write the network and all that resuming needs."""
        run = self.config.run
        save_network(self.net, run / "model.safetensors", self.notes())
        tensors = {
            "games": torch.from_numpy(self.env.states.view(np.uint8).copy()),
            "generator": self.generator.get_state(),
            "shuffler": self.shuffler.get_state(),
        }
        for index, state in self.optimizer.state_dict()["state"].items():
            for name, value in state.items():
                tensors[f"adam.{index}.{name}"] = value
        write_atomically(run / "checkpoint.safetensors", lambda path: save_file(tensors, path))

    def load(self) -> None:
        """Go on from the files that `save` wrote.

        Raises:
            FileNotFoundError: there are none.
            ValueError: they are damaged, or of a run with other settings.
        """
        run = self.config.run
        net = load_network(run / "model.safetensors")
        if net.form != self.net.form:
            raise ValueError(f"the network in {run} is {net.form}, this run asks for {self.net.form}")
        notes = json.loads((run / "model.json").read_text(encoding="utf-8"))["notes"]
        self.net.load_state_dict(net.state_dict())
        try:
            tensors = load_file(run / "checkpoint.safetensors")
        except Exception as error:
            raise ValueError(f"{run / 'checkpoint.safetensors'} is damaged: {error}") from None
        missing = {"games", "generator", "shuffler"} - set(tensors)
        if missing:
            raise ValueError(
                f"{run / 'checkpoint.safetensors'} is not a checkpoint: it lacks {', '.join(sorted(missing))}"
            )
        games = tensors["games"].numpy().view(self.variant.dtype)
        if len(games) != self.config.num_envs:
            raise ValueError(f"the checkpoint has {len(games)} games, this run asks for {self.config.num_envs}")
        observations, info = self.env.restore(games)
        self._now = (observations, info["seat"])
        self.generator.set_state(tensors["generator"])
        self.shuffler.set_state(tensors["shuffler"])
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith("adam."):
                _, index, key = name.split(".")
                state.setdefault(int(index), {})[key] = value
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": state})
        self.steps, self.updates, self.games = notes["steps"], notes["updates"], notes["games"]
        self.seconds, self.curve = notes["seconds"], notes["curve"]


def random_play(variant: Variant, encoding: str, seed: int) -> torch.Tensor:
    """Observations of random games at all stages, int8 (12,800, ...): what inputs look like."""
    env = GameVectorEnv(variant.game.name, 256, variant.num_players, encoding, **variant.options)
    observations, _ = env.reset(seed=seed)
    rng, actions, rows = np.array([seed], np.uint64), np.zeros(env.num_envs, np.int64), []
    for step in range(250):
        pick_legal(observations["action_mask"], rng, actions)
        env.step(actions)
        if step % 5 == 0:
            rows.append(observations["observation"].copy())
    return torch.from_numpy(np.concatenate(rows))


def check(config: Config) -> None:
    """Refuse impossible settings before anything is written.

    Raises:
        ValueError: names the option.
    """
    at_least(
        config, 1, "total_steps", "num_envs", "num_steps", "minibatch", "epochs", "checkpoint_every", "evaluate_deals"
    )
    at_least(config, 0, "evaluate_every", "teacher_steps", "seed", "entropy", "clip", "learning_rate", "max_grad_norm")
    at_least(config, 0, "value_weight", "gae_lambda")
    if min(config.hidden, default=1) < 1:
        raise ValueError(f"--hidden are widths of at least 1, not {config.hidden}")
    variant = make_variant(config.game, config.num_players, **parse_options(config.game, config.options))
    for spec in (config.teacher, *config.opponents):
        make_agent(spec, variant)
    try:
        torch.zeros(1, device=config.device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"--device {config.device} cannot be used: {str(error).splitlines()[0]}") from None


def train(config: Config, console: Console) -> Learner:
    """Run the training that `config` describes; Ctrl-C saves and ends it."""
    check(config)
    torch.set_num_threads(max(1, min(torch.get_num_threads(), 4)))
    learner = Learner(config)
    if config.resume:
        learner.load()
        console.print(f"going on from {learner.steps:,} steps in {config.run}")
    elif (config.run / "checkpoint.safetensors").exists():
        raise SystemExit(f"{config.run} already holds a run: add --resume to go on, or choose another --run")
    writer = SummaryWriter(config.run, purge_step=learner.steps)
    with Interrupt() as interrupt, progress_bar(console, "training", config.total_steps, learner.steps) as bar:
        while learner.steps < config.total_steps and not interrupt.asked:
            started = time.perf_counter()
            learner.collect()
            seen = learner.update()
            if not all(np.isfinite(value) for value in seen.values()):
                raise ValueError(
                    f"training has diverged after {learner.steps:,} steps ({seen}); try a lower --learning-rate"
                )
            spent = time.perf_counter() - started
            learner.seconds += spent
            seen["steps_per_second"] = config.num_steps * config.num_envs / spent
            last = learner.steps >= config.total_steps or interrupt.asked
            if config.evaluate_every and (learner.updates % config.evaluate_every == 0 or last):
                seen |= evaluate(learner)
            for name, value in seen.items():
                writer.add_scalar(name, value, learner.steps)
            bar(learner.steps, describe(learner, seen))
            if any(name.startswith("win_") for name in seen) and not console.is_terminal:
                console.print(f"{learner.steps:,} steps: {describe(learner, seen)}")
            if learner.updates % config.checkpoint_every == 0 or last:
                learner.save()
    writer.close()
    if interrupt.asked:
        console.print(f"stopped at {learner.steps:,} steps; the same command with --resume goes on from here")
    draw_curve(learner.curve, f"{config.run.name}: {learner.variant.spec}", config.run / "curve.png")
    return learner


def evaluate(learner: Learner) -> dict[str, float]:
    """How often the network's most probable actions win, against each opponent or together; a point of the curve."""
    net, point = PPOAgent(learner.variant, learner.net), {}
    cooperative = learner.variant.game.cooperative
    if cooperative:
        point["win_rate"] = team_win_rate(learner.variant, net, learner.config.evaluate_deals)
    for spec in () if cooperative else learner.config.opponents:
        agents = [net, make_agent(spec, learner.variant)]
        point[f"win_share_{spec}"] = win_share_against(learner.variant, agents, learner.config.evaluate_deals)
    learner.curve.append({"steps": learner.steps, "seconds": round(learner.seconds, 1), **point})
    return point


def describe(learner: Learner, seen: dict[str, float]) -> str:
    """One line for the progress bar."""
    last = learner.curve[-1] if learner.curve else {}
    shares = [f"{caption(name)} {last[name]:.0%}" for name in last if name.startswith("win_")]
    beaten = f", wins {', '.join(shares)}" if shares else ""
    return f"{seen['steps_per_second']:,.0f} steps/s, entropy {seen['entropy']:.2f}{beaten}"


if __name__ == "__main__":
    run_program("experiments.train_ppo", Config, lambda config: train(config, Console()), __doc__)
