"""Tree search with a network: PUCT over redetermined states, leaves evaluated in batches.

As in `agents.mcts` there is one tree for the seat to move, and every simulation draws a fresh redetermination of the
root. The network gives the priors of a node's actions and the returns to expect there; a few simulations descend
before it is asked. What it expects may be mixed with how the game goes on if all follow the built-in advice (Silver et
al., 2016). Where it is slow it may be asked only about nodes that have been visited some times; until then a node's
priors and worth are those of `agents.mcts`, from advice and roll-outs.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from agents import descent
from agents.advice import usual_temperature
from agents.base import read_settings
from agents.networks import PolicyValueNet, check_fits, load_network, multiplies_bfloat16
from agents.ppo import PPOAgent
from agents.tree import Findings, begin, new_findings, new_trees, read_roots
from samurai_env.core.game import Variant

TREES = 1 << 16  # nodes held at once, over all games searched together
ROUNDED = 32  # from so many leaves at a time on it pays to round numbers to bfloat16


@dataclass(frozen=True)
class Settings:
    """How to search with a network. experiments/LOG.md has what was measured around the defaults.

    Attributes:
        simulations: simulations a decision.
        exploration: weight of the prior in PUCT.
        temperature: of the priors: above 1 it makes them more alike, below 1 less.
        fpu: by how much less than its node an action not yet tried counts, but for the root (first-play urgency).
        together: simulations that descend before the network is asked; 0 for a thirty-second of all, from 8 to 64.
        mix: share of a roll-out in the value of a leaf, the rest being the network's; 0 for no roll-outs.
        after: visits of a node after which the network is asked about it; but about the root it is asked at once.
        depth: advised decisions of a roll-out before the game's evaluation is asked; -1 plays to the end.
    """

    simulations: int = 200
    exploration: float = 2.0
    temperature: float = 2.0
    fpu: float = 0.0
    together: int = 0
    mix: float = 0.0
    after: int = 0
    depth: int = 16

    def __post_init__(self) -> None:
        """Refuse impossible settings.

        Raises:
            ValueError: names the setting.
        """
        if self.simulations < 1:
            raise ValueError(f"a search needs at least 1 simulation a decision, not {self.simulations}")
        if not 0 < self.temperature < np.inf:
            raise ValueError(f"the temperature of the priors is above 0, not {self.temperature}")
        if not 0 <= self.fpu < np.inf:
            raise ValueError(f"fpu is taken off the worth of an action not yet tried: 0 or more, not {self.fpu}")
        if self.together < 0:
            raise ValueError(f"simulations that descend together are 1 or more, or 0 for some, not {self.together}")
        if not 0 <= self.mix <= 1:
            raise ValueError(f"mix is a share from 0 to 1, not {self.mix}")
        if self.after < 0:
            raise ValueError(f"the network is asked after 0 visits or more, not {self.after}")


NUMBERS = {
    "exploration": float,
    "temperature": float,
    "fpu": float,
    "together": int,
    "mix": float,
    "after": int,
    "depth": int,
}


class SearchAgent:
    """Searches anew for every decision, led by a network."""

    def __init__(self, variant: Variant, net: PolicyValueNet, settings: Settings) -> None:
        if variant.game.compiled.evaluate is None:
            settings = replace(settings, depth=-1)
        self.settings = settings
        self.variant = variant
        self._player = PPOAgent(variant, net)
        self._together = settings.together or min(64, max(8, settings.simulations // 32))
        pays = self._together >= ROUNDED and multiplies_bfloat16()
        self._precision = torch.autocast(net.mean.device.type, torch.bfloat16, pays)
        self._descend, self._play_on = descent.bound(variant.game)
        own = {name: getattr(settings, name) for name in descent.Method._fields if name != "advice"}
        self._method = descent.Method(
            **own, advice=usual_temperature(variant, quick=True) if settings.after else np.inf
        )

    def visits(self, states: np.ndarray, keys: np.ndarray) -> Findings:
        """What the search finds; the arguments are those of `act`."""
        found = new_findings(len(states), self.variant)
        group = max(1, TREES // self.settings.simulations)
        for first in range(0, len(states), group):
            rows = slice(first, first + group)
            with self._precision:  # for a whole search, so that the weights are rounded once
                self._search(states[rows], keys[rows], Findings(*(part[rows] for part in found)))
        return found

    def _search(self, roots: np.ndarray, keys: np.ndarray, found: Findings) -> None:
        games, s = len(roots), self.settings
        room = descent.Room(
            trees=new_trees(games, s.simulations, self.variant),
            used=np.ones(games, np.int64),
            left=np.full(games, s.simulations),
            rngs=keys.reshape(-1, 1).copy(),
            words=np.zeros(self.variant.num_words, np.uint64),
            scores=np.zeros(self.variant.num_actions),
            out=np.zeros(self.variant.num_players),
        )
        begin(room.trees)
        together = 1
        while room.left.any():
            leaves = np.empty((games, together), roots.dtype)
            paths = np.empty((games, together, self.variant.max_steps + 2), np.int32)
            depths = np.empty((games, together), np.int32)
            self._descend(roots, self._method, room, leaves, paths, depths)
            waiting = leaves[depths >= 0]
            if len(waiting):
                log_probs, told = self._player.evaluate(waiting)
                expected = told.numpy().clip(-1.0, 1.0)  # a search finds where the network goes beyond what can be
                values = expected.copy()
                if s.mix > 0:
                    which = (depths >= 0).nonzero()[0]
                    self._play_on(waiting, which, self._method, room, values)
                descent.learn(self._method, room, leaves, paths, depths, log_probs.numpy(), expected, values)
            together = self._together
        read_roots(room.trees, *found)

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `agents.base.Agent.act`."""
        return self.visits(states, keys).actions


def make(variant: Variant, argument: str) -> SearchAgent:
    """From a spec: `search:PATH:SIMULATIONS`, or with settings: `search:runs/first:200,exploration=4`.

    Raises:
        ValueError: no path, no number, fewer than 1 simulation, or an unknown setting.
        FileNotFoundError: no network is there.
    """
    path, _, rest = argument.rpartition(":")
    if not path:
        raise ValueError("search needs the path of a network and a number, as in search:runs/first:200")
    net = load_network(Path(path))
    check_fits(net, variant, Path(path))
    return SearchAgent(variant, net, Settings(**read_settings("search", rest, NUMBERS)))
