"""Alpha-rank: where an evolving population of agents spends its time (Omidshafiei et al., 2019).

Ratings put agents on one line and so hide cycles; alpha-rank shows them. In a population of one agent now and then a
copy of another appears and takes over or dies out, more probably the better it does at a common table. The share of
time that the population consists of an agent is its mass: all of it for an agent that beats every other, a third each
for rock, paper and scissors.

`shortest_cycle` names a cycle, if there is one.
"""

from collections.abc import Mapping, Sequence

import numpy as np

POPULATION = 50  # the paper's
INTENSITY = 10.0  # alpha: an advantage of one point of win share already decides


def fixation(alone: float, resident: float) -> float:
    """The chance that one invader's kind takes over a population (Fermi process; Traulsen, Nowak and Pacheco, 2006).

    An invader and a resident compare their win shares at a common table whose other seats are filled at random. The
    invader's advantage lies between `alone` and `resident`, by the part of the population that it has. With two
    players both are the same and this is the paper's formula; with three it is exact as well; with four, tables of
    two against two are taken to lie half way between those that are played.

    Args:
        alone: win share of the invader less that of a resident, when it is the only invader at the table.
        resident: the same when one resident is left among invaders.
    """
    part = np.arange(POPULATION - 1) / (POPULATION - 2)
    climbed = np.cumsum(INTENSITY * (alone + (resident - alone) * part))
    return float(1.0 / (1.0 + np.exp(-climbed).sum()))


def stationary(chain: np.ndarray) -> np.ndarray:
    """The stationary distribution of a Markov chain, by Grassmann, Taksar and Heyman's elimination (1985).

    It only adds, multiplies and divides what is positive, so that probabilities of very different size do no harm.

    Args:
        chain: (n, n) probabilities of going from row to column; the diagonal is not read.
    """
    work = np.array(chain, float)
    size = len(work)
    for last in range(size - 1, 0, -1):
        work[:last, last] /= work[last, :last].sum()
        work[:last, :last] += np.outer(work[:last, last], work[last, :last])
    mass = np.ones(size)
    for i in range(1, size):
        mass[i] = mass[:i] @ work[:i, i]
    return mass / mass.sum()


def alpha_rank(shares: np.ndarray, players: int) -> np.ndarray:
    """The mass of each agent, in a population that plays a symmetric constant-sum game.

    Args:
        shares: (agents, agents): win share of one of the row among copies of the column; the diagonal is not read.
        players: at a table.

    Returns:
        (agents,), sum 1.
    """
    agents = len(shares)
    advantage = (players * shares - 1.0) / (players - 1.0)  # of the one over each of the others
    chain = np.zeros((agents, agents))
    for old in range(agents):
        for new in range(agents):
            if new != old:
                chain[old, new] = fixation(advantage[new, old], -advantage[old, new])
    return stationary(chain)


def shortest_cycle(beats: Mapping[str, Sequence[str]]) -> list[str]:
    """The shortest cycle of agents that each beat the next, and the last the first; empty if there is none.

    Args:
        beats: by agent: those that it beats.
    """
    cycles = []
    for first in beats:
        paths = {first: [first]}  # the shortest to each agent that it reaches
        for agent in (queue := [first]):
            if first in beats[agent]:
                cycles.append(paths[agent])
                break
            for beaten in beats[agent]:
                if beaten not in paths:
                    paths[beaten] = [*paths[agent], beaten]
                    queue.append(beaten)
    return min(cycles, key=len, default=[])
