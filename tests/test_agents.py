"""Every agent: legal, repeatable, blind to what its seat cannot know; specs and their errors."""

import json
import re

import numpy as np
import pytest
import torch

from agents.base import make_agent
from agents.mcts import MCTSAgent, Settings
from agents.networks import NetworkForm, PolicyValueNet, save_network
from experiments.match import estimate, one_against_others, wilson
from samurai_env import game_names, make_variant
from samurai_env.core.loops import loops_of

SPECS = [
    "random",
    "greedy",
    "mcts:30",
    "mcts:20,temperature=inf,depth=-1",
    "flat:8,exploration=0.5",
    "untrained",
    "ppo:NET",
    "search:NET:20,together=3",
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Puts the path of a small network for the variant in place of NET."""

    def spec_of(spec, variant):
        path = tmp_path_factory.getbasetemp() / f"{variant.game.name}-{variant.num_players}.safetensors"
        if not path.exists():
            torch.manual_seed(1)
            form = NetworkForm(variant.spec, variant.encoding_name(None), (16,), advised=True)
            save_network(PolicyValueNet(form), path, {})
        return spec.replace("NET", str(path))

    return spec_of


def variants():
    for game in game_names():
        players = make_variant(game).game.players
        for n in sorted({players[0], players[-1]}):
            yield make_variant(game, n)


def positions(variant, count, seed):
    """Records after some random decisions, none over."""
    loops = loops_of(variant.game)
    states = variant.new(count)
    loops.begin(states, np.arange(seed, seed + count, dtype=np.uint64))
    rng, words = np.array([seed], np.uint64), np.zeros(variant.num_words, np.uint64)
    for i in range(count):
        loops.play_random(states[i : i + 1], rng, 3 + 9 * i, words)
    assert not states["over"].any()
    return states


@pytest.mark.parametrize("variant", list(variants()), ids=lambda v: f"{v.game.name}-{v.num_players}")
@pytest.mark.parametrize("spec", SPECS)
def test_legal_repeatable_and_blind(variant, spec, saved):
    spec = saved(spec, variant)
    states, keys = positions(variant, 12, 5), np.arange(12, dtype=np.uint64)
    before = states.tobytes()
    agent = make_agent(spec, variant)
    actions = agent.act(states, keys)
    assert states.tobytes() == before
    loops, words = loops_of(variant.game), np.zeros(variant.num_words, np.uint64)
    assert loops.first_illegal(states, actions, np.zeros(12, np.bool_), words) == -1
    # The choice hangs on the record and the key alone, not on the company.
    again = make_agent(spec, variant)
    assert [int(again.act(states[i : i + 1], keys[i : i + 1])[0]) for i in reversed(range(12))][
        ::-1
    ] == actions.tolist()
    # Nor on anything hidden.
    for i in range(12):
        loops.resample(states, i, states["seat"][i], np.array([99 + i], np.uint64))
    assert agent.act(states, keys).tolist() == actions.tolist()


@pytest.mark.parametrize("variant", list(variants()), ids=lambda v: f"{v.game.name}-{v.num_players}")
def test_search_with_a_network_counts_its_simulations(variant, saved):
    states = positions(variant, 4, 7)
    agent = make_agent(saved("search:NET:50", variant), variant)
    actions, counts, values = agent.visits(states, np.arange(4, dtype=np.uint64))
    assert (counts.sum(1) == 49).all()  # the first asks the network about the root
    assert (counts[np.arange(4), actions] == counts.max(1)).all()
    assert np.abs(values).max() <= 1.0
    masks = np.zeros((4, variant.num_actions), np.int8)
    words = np.zeros(variant.num_words, np.uint64)
    for i in range(4):
        loops_of(variant.game).write_legal(states, i, words, masks[i])
    assert not counts[masks == 0].any()


@pytest.mark.parametrize("variant", list(variants()), ids=lambda v: f"{v.game.name}-{v.num_players}")
def test_search_counts_its_simulations(variant):
    states = positions(variant, 4, 7)
    actions, counts, _ = MCTSAgent(variant, Settings(50)).visits(states, np.arange(4, dtype=np.uint64))
    assert counts.sum(1).tolist() == [50] * 4
    assert (counts.argmax(1) == actions).all() or (counts.max(1) == counts[np.arange(4), actions]).all()


@pytest.mark.parametrize("variant", list(variants()), ids=lambda v: f"{v.game.name}-{v.num_players}")
def test_flat_search_tries_every_action(variant):
    states = positions(variant, 4, 7)
    _, counts, _ = make_agent("flat:80,greedy=0", variant).visits(states, np.arange(4, dtype=np.uint64))
    masks = np.zeros((4, variant.num_actions), np.int8)
    for i in range(4):
        loops_of(variant.game).write_legal(states, i, np.zeros(variant.num_words, np.uint64), masks[i])
    assert counts.sum(1).tolist() == [80] * 4
    few = masks.sum(1) <= 80
    assert few.any()
    assert (counts[few] > 0).tolist() == (masks[few] == 1).tolist()


def test_greedy_beats_random():
    variant = make_variant("samurai", 2)
    shares = one_against_others(variant, [make_agent("greedy", variant), make_agent("random", variant)], 0, 100)
    assert estimate(shares).low > 0.9


def test_mirror_match_is_par():
    variant = make_variant("samurai", 3)
    agent = make_agent("greedy", variant)
    shares = one_against_others(variant, [agent, agent], 0, 150)
    result = estimate(shares)
    assert result.low < 1 / 3 < result.high


def test_wilson_interval_of_a_textbook_case():
    # 8 of 10: Newcombe (1998) style figures, 0.490 to 0.943
    low, high = wilson(0.8, 10)
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)


def test_estimate_is_not_narrower_than_wilson():
    shares = np.ones((50, 2))
    assert estimate(shares).low == pytest.approx(wilson(1.0, 100)[0])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gredy", "there is no agent 'gredy' (did you mean 'greedy'?); the agents are random, greedy, mcts:"),
        ("alphazero", "there is no agent 'alphazero'; the agents are random, greedy, mcts:"),
        ("greedy:3", "takes no argument"),
        ("mcts", "takes a number of simulations"),
        ("mcts:many", "takes a number of simulations"),
        ("mcts:0", "at least 1 simulation"),
        ("mcts:10,depht=2", "no setting 'depht'"),
        ("flat", "flat takes a number of simulations"),
        ("flat:0", "at least 1 simulation"),
        ("flat:10,depht=2", "flat has no setting 'depht'"),
        ("mcts:10,exploration=x", "is a number"),
        ("mcts:10,temperature=0", "temperature of a search is above 0"),
        ("ppo", "needs the path"),
        ("untrained:1", "takes no argument"),
        ("search:200", "needs the path of a network and a number"),
    ],
)
def test_bad_specs(spec, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make_agent(spec, make_variant("samurai", 2))


def test_network_files_that_are_missing_damaged_or_foreign(tmp_path):
    variant = make_variant("samurai", 2)
    path = tmp_path / "net.safetensors"
    with pytest.raises(FileNotFoundError, match="no network at"):
        make_agent(f"ppo:{path}", variant)
    save_network(PolicyValueNet(NetworkForm(variant.spec, "flat", (16,))), path, {})
    agent = make_agent(f"ppo:{path}", variant)
    states = positions(variant, 5, 3)
    assert len(agent.act(states, np.zeros(5, np.uint64))) == 5
    for spec in (f"ppo:{path}", f"search:{path}:10"):
        with pytest.raises(ValueError, match="it cannot play samurai players=3"):
            make_agent(spec, make_variant("samurai", 3))
    for settings, message in [
        ("many", "takes a number of simulations"),
        ("0", "at least 1 simulation"),
        ("5,together=0", "at least 1 simulation"),
        ("5,depth=1", "no setting 'depth'"),
    ]:
        with pytest.raises(ValueError, match=message):
            make_agent(f"search:{path}:{settings}", variant)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.raises(ValueError, match="damaged or does not fit"):
        make_agent(f"ppo:{path}", variant)
    path.write_bytes(whole)
    card = path.with_suffix(".json")
    good = json.loads(card.read_text())
    for change, message in [
        ({**good, "format": "other"}, "not the card of a network"),
        ({**good, "hidden": [32]}, "damaged or does not fit"),
        ({k: v for k, v in good.items() if k != "variant"}, "lacks or misstates 'variant'"),
    ]:
        card.write_text(json.dumps(change))
        with pytest.raises(ValueError, match=message):
            make_agent(f"ppo:{path}", variant)
    card.write_text("{")
    with pytest.raises(ValueError, match="is damaged"):
        make_agent(f"ppo:{path}", variant)
    card.unlink()
    with pytest.raises(FileNotFoundError, match="needs its card"):
        make_agent(f"ppo:{path}", variant)
