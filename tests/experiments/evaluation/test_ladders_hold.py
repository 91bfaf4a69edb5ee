"""The agents still choose as they did when the leaderboard was played.

A change of rules or observations may leave a network with positions that it was not trained on. Every deal has its
seeds, so the deals of a table come out as they did; another processor may round another way, which turns few of them.
"""

import pytest

from experiments.common.provenance import RESULTS
from experiments.evaluation.ladders import read_ladders
from experiments.evaluation.matches import one_against_others, warm_agent
from experiments.evaluation.matchups import Results
from samurai_env import parse_variant

DEALS = {"ppo": 20, "mcts": 4, "random": 20}


def cells():
    found = []
    for ladder in read_ladders()[0]:
        path = RESULTS / ladder.name / "results.json"
        if not ladder.name.startswith("ladder") or not path.exists():
            continue
        for pair in Results(path).matchups:
            kinds = {spec.split(":")[0] for spec in pair} - {"greedy"}
            deals = DEALS.get(kinds.pop(), 0) if "greedy" in pair and len(kinds) == 1 else 0
            if deals and "mcts:10000" not in pair:
                found.append(pytest.param(path, pair, deals, id=f"{ladder.name}-{pair[0]}-{pair[1]}"))
    return found


@pytest.mark.parametrize(("path", "pair", "deals"), cells())
def test_a_cell_comes_out_as_it_did(path, pair, deals):
    kept = Results(path)
    before = kept.matchups[pair].shares(deals)
    now = one_against_others(
        parse_variant(kept.variant), [warm_agent(spec, kept.variant) for spec in pair], 0, len(before)
    )
    assert (before == now).all(1).mean() >= 0.9
