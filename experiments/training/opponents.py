"""Who else decides in the games of a training run: the teacher, and the network as it was before."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from agents.api import Agent, make_agent, read_settings
from agents.networks.agent import PPOAgent
from agents.networks.network import PolicyValueNet
from agents.search.puct import NUMBERS, SearchAgent, Settings
from samurai_env.core.game import Variant

SELF = "self"  # spec of a teacher that searches with the network in training: `self:100`
PAST = "past"  # spec of a rival: the network as it was before
KEPT = 20  # past selves that a whole run keeps, beside the first


def own_search(spec: str) -> Settings | None:
    """How a teacher such as `self:100` searches; None for one that is an agent of its own.

    Raises:
        ValueError: settings that no search has.
    """
    name, _, argument = spec.partition(":")
    return Settings(**read_settings(SELF, argument, NUMBERS)) if name == SELF else None


class Teacher:
    """An agent, made once for each thread, that says with which probability it would take each action.

    A search says so by how often it tried each (as in Expert Iteration, Anthony et al., 2017), squared, since it tries
    all a little; a network knows it; others take one action.
    """

    def __init__(self, variant: Variant, spec: str, net: PolicyValueNet, threads: int) -> None:
        """The teacher that `spec` names; `self:100` searches with `net`, whatever its weights then are."""
        self.actions = variant.num_actions
        own = own_search(spec)
        self.agents: list[Agent] = [
            SearchAgent(variant, net, own) if own else make_agent(spec, variant) for _ in range(threads)
        ]
        self.pool = ThreadPoolExecutor(threads)

    def decide(self, states: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Its choice, int64 (games,), and the probabilities, float32 (games, actions)."""
        rows = np.array_split(np.arange(len(states)), len(self.agents))
        jobs = [
            self.pool.submit(self._share, agent, states[part], keys[part])
            for agent, part in zip(self.agents, rows, strict=True)
            if len(part)
        ]
        actions, wanted = zip(*(job.result() for job in jobs), strict=True)
        return np.concatenate(actions), np.concatenate(wanted)

    def _share(self, agent: Agent, states: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(agent, PPOAgent):
            probabilities = agent.evaluate(states)[0].exp().numpy()
            return probabilities.argmax(1), probabilities
        visits = getattr(agent, "visits", None)
        if visits is None:
            actions = agent.act(states, keys)
            return actions, np.eye(self.actions, dtype=np.float32)[actions]
        found = visits(states, keys)
        tries = np.square(found.counts / np.maximum(1, found.counts.max(1, keepdims=True)))
        untried = tries.sum(1) == 0  # a single simulation looks at the root alone
        tries[untried, found.actions[untried]] = 1.0
        return found.actions, (tries / tries.sum(1, keepdims=True)).astype(np.float32)


class PastSelves:
    """A rival: one of the networks that the one in training has been, drawn anew for each batch.

    To play against the mean of one's past is fictitious play (Heinrich and Silver, 2016). Like the network when it is
    evaluated, a past self takes the action that it finds most probable.
    """

    def __init__(self, variant: Variant, net: PolicyValueNet) -> None:
        self.variant = variant
        self.form = net.form
        self.nets: list[dict[str, torch.Tensor]] = []
        self._player = PPOAgent(variant, PolicyValueNet(net.form).eval())
        self.remember(net)

    def remember(self, net: PolicyValueNet) -> None:
        """Keep the network as it is now."""
        self.nets.append({name: tensor.detach().cpu().clone() for name, tensor in net.state_dict().items()})

    def draw(self, seed: int, number: int) -> int:
        """Draw which past self plays in batch `number` of the run with this seed, and play as it; its index."""
        drawn = int(np.random.default_rng((seed, number)).integers(len(self.nets)))
        self._player.net.load_state_dict(self.nets[drawn])
        return drawn

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `agents.api.Agent.act`."""
        return self._player.act(states, keys)
