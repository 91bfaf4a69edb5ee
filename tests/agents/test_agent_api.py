"""The keys of decisions: results and games are tied to them."""

from itertools import product

import numpy as np

from samurai_env.agent_api import decision_keys


def keys(seeds, steps, salt=0):
    return decision_keys(np.array(seeds, np.uint64), np.array(steps), salt)


def test_keys_stay_what_they_are():
    found = keys([0, 1, 2**63 - 1], [0, 7, 120], 3)
    assert found.tolist() == [11885086803236760109, 14218993322415108349, 1821963922274710868]
    assert found.dtype == np.uint64


def test_keys_depend_on_seed_step_and_agent():
    assert len({int(keys([seed], [step], agent)[0]) for seed, step, agent in product(range(9), repeat=3)}) == 9**3
