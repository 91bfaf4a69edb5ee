"""Other players in training: an expert that the network imitates, and opponents in the other seats."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch

from agents.networks.agent import NetworkAgent
from agents.networks.network import PolicyValueNet, snapshot
from agents.old_names import current_spec
from agents.registry import make_agent
from agents.search.mcts import MCTSAgent
from agents.search.puct import PUCTAgent, PUCTConfig, read_config
from agents.settings import Range
from agents.spec import parse_agent_spec
from experiments.common.ranges import Share
from samurai_env.agent_api import Agent, decision_keys
from samurai_env.core.game import Variant

PAST = "past"  # spec of an opponent: the network as it was before
PAST_SELVES = 20  # that a run keeps, beside the first; more if it is made longer on the way


@dataclass
class OpponentSettings:
    """Imitation of an expert, and opponents in the other seats."""

    expert: str = "greedy"
    """Agent whose decisions the network imitates at first; puct:100,net=self searches with the network itself."""
    imitation_steps: Annotated[int, Range(0, 10**12)] = 0
    """Decisions, of the total, in which the network learns from the expert; 0 for self-play from the start."""
    opponents: tuple[str, ...] = ()
    """Agents that play all seats but one in a share of the games; past: the network as it was before."""
    opponent_share: Share = 0.25
    """That share."""


def check_opponents(settings: OpponentSettings, num_envs: int, variant: Variant) -> None:
    """Make each agent once, and check that each opponent has a game of the `num_envs`.

    Raises:
        FileNotFoundError: a file that a spec names does not exist.
        ValueError: names the flag or the spec.
    """
    if settings.expert == PAST:
        raise ValueError(f"{PAST} is an opponent (--opponents), not an expert")
    if settings.expert != OpponentSettings.expert and not settings.imitation_steps:
        raise ValueError(f"--expert {settings.expert} needs --imitation-steps, in which the network learns from it")
    if not self_search(settings.expert):
        make_agent(settings.expert, variant)
    for spec in settings.opponents:
        if spec.startswith(PAST + ":"):
            raise ValueError(f"the opponent {PAST} takes no argument, not {spec!r}: one of all past selves is drawn")
        if spec != PAST:
            make_agent(spec, variant)
    if not settings.opponents:
        if settings.opponent_share != OpponentSettings.opponent_share:
            raise ValueError(f"--opponent-share {settings.opponent_share:g} has no effect without --opponents")
    elif (games := round(settings.opponent_share * num_envs)) < len(settings.opponents):
        raise ValueError(
            f"--opponent-share {settings.opponent_share:g} of --num-envs {num_envs} are {games} games, "
            f"too few for {len(settings.opponents)} --opponents"
        )


def self_search(spec: str) -> PUCTConfig | None:
    """Settings of a search with the network in training, such as `puct:100,net=self`; None for any other agent.

    Raises:
        ValueError: no number of simulations, an unknown setting, a device, or a value out of its range.
    """
    parsed = parse_agent_spec(spec)
    if parsed.name == "self":
        raise ValueError(f"--expert {spec[:60]} is now {current_spec(spec)[:80]}")
    if parsed.name != "puct" or parsed.settings.get("net") != "self":
        return None
    if "device" in parsed.settings:
        raise ValueError(f"--expert {spec[:60]}: net=self is evaluated where --device says")
    return read_config(parsed)


class Expert:
    """An agent to imitate, by the probability with which it takes each action.

    A search gives its visit counts (expert iteration, Anthony et al., 2017), squared, since it visits every action a
    little; a network its probabilities; any other agent, such as a network that draws, its choice.

    Attributes:
        steps: decisions of the run in which it is imitated.
    """

    def __init__(self, settings: OpponentSettings, variant: Variant, net: PolicyValueNet, threads: int) -> None:
        """Make the expert once for each thread; `net=self` searches with `net` as it then is."""
        self.steps = settings.imitation_steps
        self.num_actions = variant.num_actions
        search = self_search(settings.expert)
        self.agents: list[Agent] = [
            PUCTAgent(variant, net, search) if search else make_agent(settings.expert, variant) for _ in range(threads)
        ]
        self.pool = ThreadPoolExecutor(threads)

    def decide(self, states: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Choose in every game.

        Returns:
            Actions, int64 (games,), and probabilities, float32 (games, actions).
        """
        rows = np.array_split(np.arange(len(states)), len(self.agents))
        jobs = [
            self.pool.submit(self._probabilities, agent, states[part], keys[part])
            for agent, part in zip(self.agents, rows, strict=True)
            if len(part)
        ]
        actions, probs = zip(*(job.result() for job in jobs), strict=True)
        return np.concatenate(actions), np.concatenate(probs)

    def _probabilities(self, agent: Agent, states: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(agent, NetworkAgent) and not agent.temperature:
            probs = np.exp(agent.evaluate(states)[0])
            return probs.argmax(1), probs
        if not isinstance(agent, (MCTSAgent, PUCTAgent)):
            actions = agent.act(states, keys)
            return actions, np.eye(self.num_actions, dtype=np.float32)[actions]
        found = agent.search(states, keys)
        squares = np.square(found.visits / np.maximum(1, found.visits.max(1, keepdims=True)))
        unvisited = squares.sum(1) == 0  # a single simulation visits the root alone
        squares[unvisited, found.actions[unvisited]] = 1.0
        return found.actions, (squares / squares.sum(1, keepdims=True)).astype(np.float32)


class Opponents:
    """Agents that play all seats but one in the first games of the vector; they take turns by game.

    Args:
        settings: which agents, and in which share of the games.
        variant: of the games.
        net: the network in training, which `past` copies.
        seed: of the drawing of past selves.
    """

    def __init__(self, settings: OpponentSettings, variant: Variant, net: PolicyValueNet, seed: int) -> None:
        self.share, self.seed = settings.opponent_share, seed
        self.num_players = variant.num_players
        self.past = PastSelves(variant, net) if PAST in settings.opponents else None
        self._part: int | None = None  # of the run, in which the last update was
        self.agents: list[Agent] = [
            self.past if self.past and spec == PAST else make_agent(spec, variant) for spec in settings.opponents
        ]

    def start_rollout(self, number: int, done: int, total: int) -> None:
        """Draw the past self that plays in this rollout, before which `done` of the `total` of the run is over."""
        if self.past:
            self.past.draw(self.seed, number)
        if self._part is None:  # resumed in the part it was stopped in, or new: a first evaluation may have taken time
            self._part = done * PAST_SELVES // total if number else 0

    def decides(self, states: np.ndarray) -> np.ndarray:
        """Whether an opponent decides, bool (games,), in states (games,); the network's seat follows from the deal."""
        home = (states["seed"] % np.uint64(self.num_players)).astype(np.int64)
        return (np.arange(len(states)) < round(self.share * len(states))) & (states["seat"] != home)

    def play(self, states: np.ndarray, actions: np.ndarray) -> None:
        """Write the opponents' decisions in states (games,) into `actions`, int64 (games,)."""
        theirs, turn = self.decides(states), np.arange(len(states)) % len(self.agents)
        for number, agent in enumerate(self.agents):
            rows = np.flatnonzero(theirs & (turn == number))
            if len(rows):
                now = states[rows]
                actions[rows] = agent.act(now, decision_keys(now["seed"], now["steps"], 1 + number))

    def end_update(self, net: PolicyValueNet, done: int, total: int) -> None:
        """Keep a copy of the network whenever another part of the run is over."""
        part = done * PAST_SELVES // total
        if self.past and self._part is not None and part > self._part:
            self.past.remember(net)
        self._part = part


class PastSelves:
    """An opponent: one of the networks that the one in training has been, drawn for each rollout.

    Playing against the mean of one's past is fictitious play (Heinrich and Silver, 2016). A past self takes the action
    it finds most probable, as the network does when it is evaluated.
    """

    def __init__(self, variant: Variant, net: PolicyValueNet) -> None:
        self.nets: list[dict[str, torch.Tensor]] = []
        self._net = PolicyValueNet(net.config).eval()
        self._player = NetworkAgent(variant, self._net)
        self.remember(net)

    def remember(self, net: PolicyValueNet) -> None:
        """Keep the network as it is now."""
        self.nets.append({name: tensor.detach().cpu().clone() for name, tensor in net.state_dict().items()})

    def draw(self, seed: int, number: int) -> int:
        """Draw the past self that plays in rollout `number` of the run with this seed; its index."""
        drawn = int(np.random.default_rng((seed, number)).integers(len(self.nets)))
        self._net.load_state_dict(self.nets[drawn])
        self._player.net = snapshot(self._net)
        return drawn

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `samurai_env.agent_api.Agent.act`."""
        return self._player.act(states, keys)
