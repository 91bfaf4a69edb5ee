"""A PPO learner made from the settings of a run, with what the run's card reports."""

import torch

from agents.networks.network import snapshot
from experiments.common.memory import keep_freed_memory
from experiments.common.provenance import commit, cpu_name
from experiments.training.config import Config
from experiments.training.init_network import init_network, origin_of
from experiments.training.ppo import PPO
from samurai_env import parse_variant
from samurai_env.envs.vector import GameVectorEnv


class Learner(PPO):
    """PPO on the game of a run.

    Attributes:
        config: settings of the run.
        seconds: spent learning.
        eval_seconds: spent on evaluations.
        curve: results of evaluations.
        commits, machines: with which code and where it learned: several if the run was resumed elsewhere.
        commands: from which step with what command; settings such as the learning rate may change on the way.
        origin: the notes on the network that the run started from.
    """

    def __init__(self, config: Config, resumes: bool = False) -> None:
        keep_freed_memory()
        torch.manual_seed(config.seed)
        variant = parse_variant(config.game)
        net = init_network(config, variant, config.seed, resumes)
        game, players = variant.game.name, variant.num_players
        env = GameVectorEnv(
            game,
            config.num_envs,
            players,
            encoding=net.config.encoding,
            reward=config.reward,
            autoreset_mode="SameStep",
            **variant.options,
        )
        super().__init__(config, config, env, net)
        self.config = config
        self.commits = [commit()]
        self.machines = [f"{cpu_name()}, {torch.get_num_threads()} threads"]
        self.seconds = self.eval_seconds = 0.0
        self.curve: list[dict[str, float]] = []
        self.commands: list[tuple[int, str]] = [(0, config.command)]
        self.origin = origin_of(config.init_from) if config.init_from and not resumes else None
        if net.config.graph_width:
            self._compile()

    def _compile(self) -> None:
        """Compile what the network calls, before the run's clock starts."""
        names = ("obs", "action_masks", "actions", "log_probs", "action_features")
        tensors = {name: getattr(self.batch, name) for name in names}
        part = {name: tensor.flatten(0, 1)[:1] for name, tensor in tensors.items() if tensor is not None}
        zeros = {"advantages": part["log_probs"], "returns": self.batch.rewards.flatten(0, 1)[:1]}
        self.loss(part | zeros, 0.0)[0].backward()
        self.net.zero_grad()
        inputs = (part[name].cpu().numpy() for name in ("obs", "action_masks", "action_features") if name in part)
        snapshot(self.net).evaluate(*inputs)

    def close(self) -> None:
        """End what plays for the learner elsewhere: nothing here."""

    def length(self) -> tuple[int, int]:
        """See `PPO.length`; in milliseconds if the run has its length by the clock."""
        if self.config.minutes is None:
            return super().length()
        return round(1000 * (self.seconds + self.eval_seconds)), max(1, round(60_000 * self.config.minutes))
