"""Who else decides in the games of a training run: the teacher, and the network as it was before."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from agents.api import Agent
from agents.networks.agent import NetworkAgent
from agents.networks.network import PolicyValueNet
from agents.registry import make_agent
from agents.search.puct import PUCTAgent, PUCTConfig
from agents.spec import parse_agent_spec, read_settings
from samurai_env.core.game import Variant

SELF = "self"  # the network in training, in the spec of a search that is the expert: `puct:100,net=self`
PAST = "past"  # spec of a rival: the network as it was before
KEPT = 20  # past selves that a whole run keeps, beside the first


def own_search(spec: str) -> PUCTConfig | None:
    """How a teacher such as `puct:100,net=self` searches; None for one that is an agent of its own.

    Raises:
        ValueError: settings that no search has.
    """
    parsed = parse_agent_spec(spec)
    return read_settings(parsed, PUCTConfig) if parsed.name == "puct" and parsed.settings.get("net") == SELF else None


class Teacher:
    """An agent, made once for each thread, that says with which probability it would take each action.

    A search says so by how often it tried each (as in Expert Iteration, Anthony et al., 2017), squared, since it tries
    all a little; a network knows it; others take one action.
    """

    def __init__(self, variant: Variant, spec: str, net: PolicyValueNet, threads: int) -> None:
        """The teacher that `spec` names; `puct:100,net=self` searches with `net`, whatever its weights then are."""
        self.actions = variant.num_actions
        own = own_search(spec)
        self.agents: list[Agent] = [
            PUCTAgent(variant, net, own) if own else make_agent(spec, variant) for _ in range(threads)
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
        if isinstance(agent, NetworkAgent):
            probabilities = agent.evaluate(states)[0].exp().numpy()
            return probabilities.argmax(1), probabilities
        visits = getattr(agent, "visits", None)
        if visits is None:
            actions = agent.act(states, keys)
            return actions, np.eye(self.actions, dtype=np.float32)[actions]
        found = visits(states, keys)
        tries = np.square(found.visits / np.maximum(1, found.visits.max(1, keepdims=True)))
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
        self.form = net.config
        self.nets: list[dict[str, torch.Tensor]] = []
        self._player = NetworkAgent(variant, PolicyValueNet(net.config).eval())
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
