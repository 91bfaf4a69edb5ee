"""Self-play at scale: actors on Ray play with the newest network and feed one learner.

Each of A actors plays a share of the games, `num_envs / A`, and a rollout of the learner is put together from the first
A that arrive. An actor goes on at once with the newest weights, so it plays while the learner learns: its rollouts are
an update old, as in IMPALA (Espeholt et al., 2018), and PPO's ratio corrects for that. What is older than `max_lag`
updates is dropped. An expert that searches (`--expert puct:100,net=self`) searches in the actors.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from experiments.training.learner import Learner
from experiments.training.ppo import Batch

if TYPE_CHECKING:
    from experiments.training.config import Config

LOOK = 0.2  # seconds in which a wait takes no notice of Ctrl-C


class Rollout(NamedTuple):
    """The rollout of an actor."""

    arrays: dict[str, np.ndarray]
    """The tensors of a `Batch` of its games, by name; bfloat16 as int16."""
    imitating: bool
    games: int
    """Games that ended."""


class Actor:
    """Plays a share of the games with the weights that it is given."""

    def __init__(self, program: Any, config: "Config") -> None:
        self.program, self.config = program, config

    @cached_property
    def learner(self) -> Learner:
        """What plays; made in the first call, whose error reaches the learner as it is."""
        from experiments.common.ray_tasks import follow

        follow(self.program)
        torch.set_num_threads(1)
        return Learner(self.config)

    def play(self, weights: Mapping[str, np.ndarray], steps: int) -> Rollout:
        """Play a rollout; `weights` are those of the network and of its moving average, `steps` the learner's."""
        learner = self.learner
        for part, net in (("net.", learner.net), ("mean.", learner.mean_net)):
            own = {name.removeprefix(part): array for name, array in weights.items() if name.startswith(part)}
            net.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in own.items()})
        learner.steps, learner.games = steps, 0
        learner.collect()
        found = {field.name: getattr(learner.batch, field.name) for field in fields(Batch)}
        arrays = {name: as_array(tensor) for name, tensor in found.items() if isinstance(tensor, torch.Tensor)}
        return Rollout(arrays, learner.batch.imitating, learner.games)


def as_array(tensor: torch.Tensor) -> np.ndarray:
    """A tensor as an array of the same shape and dtype, bfloat16 as its bits in int16: NumPy has no such dtype."""
    tensor = tensor.detach().cpu()
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


class ActorLearner(Learner):
    """A learner whose rollouts come from actors.

    Attributes:
        lags: of the last rollout's parts: updates between the weights that played and those that learn.
        dropped: parts that were too old, so far.

    Raises:
        ConnectionError: there is no Ray cluster at RAY_ADDRESS.
    """

    def __init__(self, config: "Config", resumes: bool = False) -> None:
        from experiments.common.ray_tasks import start

        start(config.actors)  # first: a wrong address is known before games are compiled and the network is evaluated
        super().__init__(config, resumes)
        self.lags: list[int] = []
        self.dropped = 0
        self._playing: dict[Any, tuple[Any, int]] = {}  # by what comes: the actor, and the updates at its start
        self._sent: tuple[int, Any] | None = None  # the updates of the weights in the object store, and where

    def _start(self) -> None:
        import ray

        from experiments.common.ray_tasks import RETRIES, this_program

        config = self.config
        kind = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=RETRIES)(Actor)
        share = replace(
            config, num_envs=config.num_envs // config.actors, actors=0, device="cpu", init_from=None, values_only=False
        )
        for number in range(config.actors):
            # Game i of an actor begins with its seed + i; a run that resumes plays other games.
            seed = config.seed + self.steps + 1 + number * share.num_envs
            self._play(kind.remote(this_program(), replace(share, seed=seed)))

    def _play(self, actor: Any) -> None:
        """Let an actor play with the newest weights."""
        import ray

        if self._sent is None or self._sent[0] != self.updates:
            nets = {"net": self.net.state_dict(), "mean": self.mean_net.state_dict()}
            self._sent = (
                self.updates,
                ray.put(
                    {f"{part}.{name}": as_array(tensor) for part, net in nets.items() for name, tensor in net.items()}
                ),
            )
        self._playing[actor.play.remote(self._sent[1], self.steps)] = actor, self.updates

    def collect(self) -> None:
        """Put a rollout together from those of the actors, as they come.

        Raises:
            ChildProcessError: an actor is killed again and again.
            Exception: what an actor raises.
        """
        import ray

        from experiments.common.ray_tasks import result_of

        if not self._playing:
            self._start()
        self.batch.imitating, self.lags = self.imitating, []
        while len(self.lags) < self.config.actors:
            for done in ray.wait([*self._playing], timeout=LOOK)[0]:
                part: Rollout = result_of(done, "an actor")
                actor, begun = self._playing.pop(done)  # only now: `close` ends those that failed, too
                self._play(actor)
                if self.updates - begun > self.config.max_lag or part.imitating != self.batch.imitating:
                    self.dropped += 1
                    continue
                self._enter(part.arrays, len(self.lags))
                self.lags.append(self.updates - begun)
                self.games += part.games
        self.steps += self.settings.num_steps * self.settings.num_envs

    def _enter(self, arrays: Mapping[str, np.ndarray], place: int) -> None:
        """Put an actor's games at their place among all of the rollout."""
        games = self.config.num_envs // self.config.actors
        for name, array in arrays.items():
            tensor = torch.from_numpy(array.copy())
            into = getattr(self.batch, name)[:, place * games : (place + 1) * games]
            into.copy_(tensor.view(torch.bfloat16) if into.dtype == torch.bfloat16 else tensor)

    def close(self) -> None:
        """End the actors; their CPUs are free again."""
        import ray

        for actor, _ in self._playing.values():
            ray.kill(actor)
        self._playing.clear()

    def update(self) -> dict[str, float]:
        """See `PPO.update`; also the mean lag, and how many rollouts of actors were dropped so far."""
        lag = sum(self.lags) / len(self.lags)
        return super().update() | {"lag": lag, "dropped": float(self.dropped)}


def new_learner(config: "Config", resumes: bool = False) -> Learner:
    """The learner of a run, with its actors if it has any."""
    return ActorLearner(config, resumes) if config.actors else Learner(config, resumes)
