"""Every agent: legal, repeatable, blind to what its seat cannot know; specs and their errors."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from agents import rollouts
from agents.leaf_values import no_leaf_value
from agents.networks.config import NetworkConfig
from agents.networks.network import PolicyValueNet, new_network
from agents.networks.network_files import load_network, save_network
from agents.networks.warm_start import warm_start
from agents.registry import make_agent
from agents.search import puct as search
from agents.search.mcts import MCTSAgent, MCTSConfig
from agents.search.tree import init_node, new_trees, select
from experiments.evaluation.matches import estimate, one_against_others, wilson
from samurai_env import GameBatch, game_names, make_variant
from samurai_env.core.batch import batch_kernels

SPECS = [
    "random",
    "greedy",
    "mcts:30",
    "mcts:20,prior_temperature=inf,rollout_depth=-1",
    "flat_mc:20,rollout_depth=0",
    "mcts:20,determinizations=4",
    "flat_mc:8,c_puct=0.5",
    "rollout:2,potential_weight=1",
    "untrained",
    "ppo:NET",
    "puct:20,net=NET,batch_size=3,fpu=0.2",
    "puct:20,net=NET,rollout_weight=0.5,rollout_depth=4",
    "puct:40,net=NET,rollout_weight=0.5,rollout_depth=4,net_visits=3",
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Puts the path of a small network for the variant in place of NET."""

    def spec_of(spec, variant):
        path = tmp_path_factory.getbasetemp() / f"{variant.game.name}-{variant.num_players}.safetensors"
        if not path.exists():
            torch.manual_seed(1)
            form = NetworkConfig(variant.spec, variant.encoding_name(None), (16,), heuristic_prior=True)
            save_network(PolicyValueNet(form), path, {})
        return spec.replace("NET", str(path))

    return spec_of


def variants():
    for game in game_names():
        players = make_variant(game).game.players
        for n in sorted({players[0], players[-1]}):
            yield make_variant(game, n)


def positions(variant, count, seed):
    """States after some random decisions, none over."""
    kernels = batch_kernels(variant.game)
    states = variant.new(count)
    kernels.reset_all(states, np.arange(seed, seed + count, dtype=np.uint64))
    rng, words = np.array([seed], np.uint64), np.zeros(variant.num_words, np.uint64)
    for i in range(count):
        kernels.play_random(states[i : i + 1], rng, 3 + 9 * i, words)
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
    kernels, words = batch_kernels(variant.game), np.zeros(variant.num_words, np.uint64)
    assert kernels.first_illegal(states, actions, np.zeros(12, np.bool_), words) == -1
    # The choice depends on the state and the key alone, not on the other games.
    again = make_agent(spec, variant)
    assert [int(again.act(states[i : i + 1], keys[i : i + 1])[0]) for i in reversed(range(12))][
        ::-1
    ] == actions.tolist()
    # Nor on anything hidden.
    for i in range(12):
        kernels.determinize_one(states, i, int(states["seat"][i]), np.array([99 + i], np.uint64))
    assert agent.act(states, keys).tolist() == actions.tolist()


@pytest.mark.parametrize("variant", list(variants()), ids=lambda v: f"{v.game.name}-{v.num_players}")
def test_search_with_a_network_counts_its_simulations(variant, saved):
    states = positions(variant, 4, 7)
    agent = make_agent(saved("puct:50,net=NET", variant), variant)
    actions, counts, values = agent.search(states, np.arange(4, dtype=np.uint64))
    assert (counts.sum(1) == 49).all()  # the first asks the network about the root
    assert (counts[np.arange(4), actions] == counts.max(1)).all()
    assert np.abs(values).max() <= 1.0
    masks = np.zeros((4, variant.num_actions), np.int8)
    words = np.zeros(variant.num_words, np.uint64)
    for i in range(4):
        batch_kernels(variant.game).write_legal(states, i, words, masks[i])
    assert not counts[masks == 0].any()


@pytest.mark.parametrize("variant", list(variants()), ids=lambda v: f"{v.game.name}-{v.num_players}")
def test_search_asks_the_network_about_every_action_that_it_tries(variant, saved, monkeypatch):
    kept = []

    def keep(*arguments):
        kept.append(new_trees(*arguments))
        return kept[-1]

    monkeypatch.setattr(search, "new_trees", keep)
    agent = make_agent(saved("puct:300,net=NET", variant), variant)
    found = agent.search(positions(variant, 1, 7), np.arange(1, dtype=np.uint64))
    nodes, waiting, children = kept[0][0], [0], 0
    while waiting:
        node = nodes[waiting.pop()]
        child, below = int(node["child"]), 0
        while child >= 0:
            assert node["prior"][nodes[child]["action"]] > 0
            below += int(nodes[child]["visits"])
            waiting.append(child)
            child, children = int(nodes[child]["sibling"]), children + 1
        assert node["visits"] >= below  # the rest asked the network
        assert node["in_flight"] == 0
    assert children > 20
    assert nodes[0]["visits"] == 300
    assert found.visits.sum() == 299


@pytest.mark.parametrize("variant", list(variants()), ids=lambda v: f"{v.game.name}-{v.num_players}")
def test_rollouts_are_mixed_into_what_a_network_expects(variant, saved):
    states, keys = positions(variant, 4, 7), np.arange(4, dtype=np.uint64)

    def root(spec):
        found = make_agent(saved(spec, variant), variant).search(states, keys)
        assert not found.visits.any()
        assert kernels.first_illegal(states, found.actions, no_skip, words) == -1  # the likeliest by the network
        return found.values

    kernels, no_skip, words = batch_kernels(variant.game), np.zeros(4, np.bool_), np.zeros(variant.num_words, np.uint64)
    ends, played = states.copy(), np.zeros((4, variant.num_players))
    for i in range(4):
        rng = keys[i : i + 1].copy()
        kernels.determinize_one(ends, i, ends["seat"][i], rng)
        scores = np.zeros(variant.num_actions)
        rollouts.bound(variant.game)(ends[i], 5, 1.0, words, scores, played[i], rng, no_leaf_value())
    network = root("puct:1,net=NET")
    assert np.allclose(root("puct:1,net=NET,rollout_weight=1,rollout_depth=5"), played, atol=1e-6)
    assert np.allclose(
        root("puct:1,net=NET,rollout_weight=0.25,rollout_depth=5"), 0.75 * network + 0.25 * played, atol=1e-6
    )
    assert not np.allclose(network, played, atol=1e-3)


@pytest.mark.parametrize("variant", list(variants()), ids=lambda v: f"{v.game.name}-{v.num_players}")
def test_the_network_is_asked_about_nodes_with_enough_visits(variant, saved):
    states, keys = positions(variant, 1, 7), np.zeros(1, np.uint64)

    def asked(net_visits, weight=0.5, simulations=400):
        settings = f"rollout_weight={weight},rollout_depth=5,net_visits={net_visits},batch_size=20"
        agent = make_agent(saved(f"puct:{simulations},net=NET,{settings}", variant), variant)
        evaluate, rows = agent._evaluator.evaluate, []
        agent._evaluator.evaluate = lambda leaves: (rows.append(len(leaves)), evaluate(leaves))[1]
        found = agent.search(states, keys)
        assert found.visits.sum() == simulations - 1
        return sum(rows), found.values[0], evaluate(states)[1][0].clip(-1, 1)

    everywhere, some, root_alone = asked(1)[0], asked(8)[0], asked(10**6)
    assert root_alone[0] == 1 < some < everywhere / 3
    # With hardly any weight for rollouts, the value is what the network says of the root, if no game ends.
    count, value, expected = asked(10**6, 1e-9, 20)
    seats = (states["seat"][0] + np.arange(variant.num_players)) % variant.num_players
    assert count == 1
    assert np.allclose(value[seats], expected, atol=1e-6)


@pytest.mark.parametrize("variant", list(variants()), ids=lambda v: f"{v.game.name}-{v.num_players}")
def test_search_counts_its_simulations(variant):
    states = positions(variant, 4, 7)
    actions, counts, _ = MCTSAgent(variant, MCTSConfig(50)).search(states, np.arange(4, dtype=np.uint64))
    assert counts.sum(1).tolist() == [50] * 4
    assert (counts.argmax(1) == actions).all() or (counts.max(1) == counts[np.arange(4), actions]).all()


@pytest.mark.parametrize("variant", list(variants()), ids=lambda v: f"{v.game.name}-{v.num_players}")
@pytest.mark.parametrize(
    "spec",
    [
        "mcts:700",
        "mcts:700,prior_temperature=inf",
        "mcts:700,determinizations=1",
        "puct:400,net=NET",
        "puct:400,net=NET,rollout_weight=0.5,rollout_depth=4,net_visits=3",
    ],
)
def test_a_search_that_ends_early_chooses_alike(variant, spec, saved, monkeypatch):
    agent, spent = make_agent(saved(spec, variant), variant), []
    states, keys = positions(variant, 12, 20), np.arange(12, dtype=np.uint64)
    find = agent._find
    monkeypatch.setattr(agent, "_find", lambda *args, **kwargs: spent.append(find(*args, **kwargs)) or spent[-1])
    for i in range(len(states)):  # one by one: a network's results depend, by rounding, on how many rows it reads
        one = slice(i, i + 1)
        assert agent.act(states[one], keys[one]) == agent.search(states[one], keys[one]).actions
    spent.clear()
    agent.act(states, keys)
    agent.search(states, keys)
    early, full = (found.visits.sum(1) for found in spent)
    assert (early <= full).all()
    assert early.sum() < full.sum() or "inf" in spec  # which may spread visits evenly


@pytest.mark.parametrize("variant", list(variants()), ids=lambda v: f"{v.game.name}-{v.num_players}")
def test_flat_search_tries_every_action(variant):
    states = positions(variant, 4, 7)
    _, counts, _ = make_agent("flat_mc:80,rollout_greedy=0", variant).search(states, np.arange(4, dtype=np.uint64))
    masks = np.zeros((4, variant.num_actions), np.int8)
    for i in range(4):
        batch_kernels(variant.game).write_legal(states, i, np.zeros(variant.num_words, np.uint64), masks[i])
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
        ("gredy", "there is no agent 'gredy' (did you mean 'greedy'?); the agents are "),
        ("alphazero", "random, greedy, greedy_tuned, lookahead, rollout:"),
        ("nowhere.Agent", "there is no agent 'nowhere.Agent': No module named 'nowhere'"),
        ("agents.baselines.greedy.Nobody", "has no attribute 'Nobody'"),
        ("agents.settings.LARGEST", "it cannot be called"),
        ("greedy:3", "takes no argument"),
        ("mcts", "takes a number of simulations"),
        ("mcts:many", "takes a number of simulations"),
        ("mcts:0", "simulations of a search must be from 1 to 2147483647, not 0"),
        ("mcts:10,depht=2", "no setting 'depht'"),
        ("mcts:10,tree_depth=0", "tree_depth of a search must be 1 or more, or -1 for no limit, not 0"),
        ("mcts:10,determinizations=11", "determinizations must be at most the simulations, not 11"),
        ("flat_mc", "flat_mc takes a number of simulations"),
        ("flat_mc:0", "simulations of a search must be from 1"),
        ("flat_mc:10,depht=2", "flat_mc has no setting 'depht'"),
        ("mcts:10,c_puct=x", "must be a number"),
        ("mcts:10,prior_temperature=0", "prior_temperature of a search must be at least 0.01, not 0"),
        ("mcts:10,c_puct=nan", "c_puct of a search must be from 0 to 1000000000, not nan"),
        ("mcts:10,rollout_greedy=3", "rollout_greedy of a search must be from 0 to 1, not 3"),
        ("mcts:10,rollout_depth=-2", "rollout_depth of a search must be from -1 to 2147483647, not -2"),
        ("mcts:10,tree_depth=-9", "tree_depth of a search must be from -1 to 2147483647, not -9"),
        ("mcts:10,cheating=1,determinizations=2", "cheating=1 searches the true state: determinizations must be 0"),
        ("mcts:10,paranoid=7", "paranoid of a search must be from 0 to 1, not 7"),
        ("mcts:10,rollout_greedy=1", "rollout_greedy has no effect here: it needs a rollout_depth other than 0"),
        ("mcts:10,tree_depth=1" + "0" * 400, "from -1 to 2147483647, not a number of more than 30 digits"),
        ("puct:9,net=weights/samurai-2,rollout_depth=8", "rollout_depth has no effect here: it needs a rollout_weight"),
        ("mcts:99999999999", "simulations of a search must be from 1 to 2147483647, not 99999999999"),
        ("ppo", "ppo takes the path of a network"),
        ("ppo:weights/samurai-2,temp=1", "ppo has no setting 'temp'; it has temperature"),
        ("ppo:weights/samurai-2,temperature=-1", "temperature of ppo must be from 0 to 100, not -1"),
        ("untrained:1", "takes no argument"),
        ("puct:200", "puct needs the path of a network, as in puct:200,net=runs/first"),
        ("mcts:10,c_puct=1,c_puct=2", "setting c_puct is given twice"),
        ("counsel", "'counsel' is an old spelling; write 'lookahead'"),
        ("search:a/b:20,mix=1", "'search:a/b:20,mix=1' is an old spelling; write 'puct:20,net=a/b,rollout_weight=1'"),
        ("mcts:10,depth=16,greedy=1", "write 'mcts:10,rollout_depth=16,rollout_greedy=1'"),
        ("playouts:3,margin=1", "write 'rollout:3,potential_weight=1'"),
        ("flat:20", "write 'flat_mc:20'"),
    ],
)
def test_bad_specs(spec, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make_agent(spec, make_variant("samurai", 2))


@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_a_policy_that_draws_follows_its_probabilities(temperature):
    variant = make_variant("samurai", 2)
    agent = make_agent(f"ppo:weights/samurai-2,temperature={temperature}", variant)
    state = np.repeat(positions(variant, 1, 30), 20_000)
    keys = np.random.default_rng(1).integers(2**63, size=len(state)).astype(np.uint64)
    actions = agent.act(state, keys)
    powers = np.exp(agent.evaluate(state[:1])[0][0].astype(float) / temperature)
    wanted = powers / powers.sum()
    found = np.bincount(actions, minlength=len(wanted)) / len(actions)
    assert (wanted > 0.05).sum() > 1  # otherwise this shows nothing
    assert np.abs(found - wanted).max() < 4 * 0.5 / len(state) ** 0.5
    assert GameBatch(variant).legal_masks(state[:1])[0][np.unique(actions)].all()
    assert np.array_equal(agent.act(state[70:75], keys[70:75]), actions[70:75])  # whatever else is in the batch


def test_a_policy_that_hardly_draws_takes_the_most_probable_action():
    variant = make_variant("samurai", 2)
    states, keys = positions(variant, 50, 30), np.arange(50, dtype=np.uint64)
    most_probable = make_agent("ppo:weights/samurai-2", variant).act(states, keys)
    for temperature in (0, 1e-3, 1e-300):
        drawn = make_agent(f"ppo:weights/samurai-2,temperature={temperature}", variant).act(states, keys)
        assert np.array_equal(drawn, most_probable)


def test_network_files_that_are_missing_damaged_or_foreign(tmp_path):
    variant = make_variant("samurai", 2)
    path = tmp_path / "net.safetensors"
    with pytest.raises(FileNotFoundError, match="no network at"):
        make_agent(f"ppo:{path}", variant)
    save_network(PolicyValueNet(NetworkConfig(variant.spec, "flat", (16,))), path, {})
    agent = make_agent(f"ppo:{path}", variant)
    states = positions(variant, 5, 3)
    assert len(agent.act(states, np.zeros(5, np.uint64))) == 5
    for spec in (f"ppo:{path}", f"puct:10,net={path}"):
        with pytest.raises(ValueError, match="it cannot play samurai players=3"):
            make_agent(spec, make_variant("samurai", 3))
    for settings, message in [
        ("many", "takes a number of simulations"),
        ("0", "simulations of a search must be from 1"),
        ("5,prior_temperature=0", "prior_temperature of a search must be from 0.01 to 1000000000, not 0"),
        ("5,fpu=-0.1", "fpu of a search must be from 0"),
        ("5,batch_size=-1", "batch_size of a search must be from 0"),
        ("5,c_puct=nan", "c_puct of a search must be from 0 to 1000000000, not nan"),
        ("5,rollout_depth=-7", "not -7"),
        ("5,determinizations=1", "no setting 'determinizations'"),
        ("5,rollout_weight=2", "rollout_weight of a search must be from 0 to 1"),
        ("5,net_visits=0,rollout_weight=1", "net_visits of a search must be from 1"),
        ("5,net_visits=2", "net_visits above 1 needs a rollout_weight above 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            make_agent(f"puct:{settings},net={path}", variant)
    net = PolicyValueNet(NetworkConfig(variant.spec, "flat", (16,)))
    torch.nn.init.constant_(net.value.bias, np.nan)
    save_network(net, path.with_name("nan.safetensors"), {})
    with pytest.raises(ValueError, match="holds numbers that are not finite"):
        make_agent(f"ppo:{path.with_name('nan.safetensors')}", variant)
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
        ({k: v for k, v in good.items() if k != "variant"}, "missing required field `variant`"),
        ({**good, "variant": "chess"}, r"net\.json describes no network: .*chess"),
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


def test_things_of_an_encoding() -> None:
    variant = make_variant("samurai_card")
    encoding = variant.encoding("flat")
    where = encoding.entity_rows()
    assert where.shape == (44, 1628 // 44)
    assert len(np.unique(where)) == where.size
    slices = encoding.slices()
    assert where[3, 0] == slices["laid"].start + 3
    assert list(where[3, 1:3]) == [slices["place"].start + 6, slices["place"].start + 7]
    assert variant.action_names[encoding.entities.action + 4 * 3] == "v3N"
    with pytest.raises(ValueError, match="no entities"):
        make_variant("samurai").encoding("flat").entity_rows()


def test_entities_share_weights() -> None:
    """Two villages that change places change what is seen of them and the scores of their actions, and nothing else."""
    torch.manual_seed(0)
    variant = make_variant("samurai_card")
    net = PolicyValueNet(NetworkConfig(variant.spec, "flat", (16,), heuristic_prior=True, entity_width=8))
    inputs, gaps = torch.randn(2, variant.encoding("flat").shape[0]), torch.rand(2, variant.num_actions)
    order = torch.arange(44)
    order[[3, 9]] = order[[9, 3]]
    swapped, swapped_gaps = inputs.clone(), gaps.clone()
    swapped[:, net.entities.rows] = inputs[:, net.entities.rows[order]]
    actions = torch.arange(variant.num_actions)[net.entities.actions].view(44, 4)
    swapped_gaps[:, actions] = gaps[:, actions[order]]
    seen, seen_swapped = net.entities.embed(inputs, gaps), net.entities.embed(swapped, swapped_gaps)
    assert torch.allclose(seen_swapped, seen[:, order])
    hidden = torch.randn(2, 16)
    scores = net.entities.logits(seen, hidden).view(2, 44, 4)
    assert torch.allclose(net.entities.logits(seen_swapped, hidden).view(2, 44, 4), scores[:, order])
    assert not torch.allclose(scores[:, 3], scores[:, 9])


def test_a_network_with_shared_layers_is_saved_and_trained_alike(tmp_path) -> None:
    variant = make_variant("samurai_card")
    net = PolicyValueNet(NetworkConfig(variant.spec, "flat", (16,), heuristic_prior=True, entity_width=8))
    observations = torch.from_numpy(np.random.default_rng(0).integers(0, 3, (50, 1714), np.int8))
    net.standardize(observations)
    rows = ((observations.float() - net.mean) * net.scale)[:, net.entities.rows].flatten(0, 1)
    assert torch.allclose(rows.mean(0), torch.zeros(rows.shape[1]), atol=1e-4)
    save_network(net, tmp_path / "net.safetensors", {})
    again = load_network(tmp_path / "net.safetensors")
    masks, features = torch.ones(50, variant.num_actions, dtype=torch.int8), torch.rand(50, variant.num_actions, 1)
    with torch.no_grad():
        for one, other in zip(net(observations, masks, features), again(observations, masks, features), strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize("variant", list(variants()), ids=lambda v: f"{v.game.name}-{v.num_players}")
def test_the_rollout_agent_plays_games_of_the_heuristic_policy(variant):
    states, key = positions(variant, 3, 11)[2:], np.array([5], np.uint64)
    batched, kernels = batch_kernels(variant.game), variant.game.kernels
    words, scores = np.zeros((2, variant.num_words), np.uint64), np.zeros(variant.num_actions)
    mask, out, seat = np.zeros(variant.num_actions, np.int8), np.zeros(variant.num_players), int(states["seat"][0])
    batched.write_legal(states, 0, words[0], mask)
    expected, rng = np.where(mask > 0, 0.0, -np.inf), key.copy()
    for _ in range(2):
        dealt = states.copy()
        batched.determinize_one(dealt, 0, seat, rng)
        for action in np.flatnonzero(mask):
            end = dealt.copy()
            batched.step_all(end, np.array([action]))
            rollouts.bound(variant.game)(end[0], -1, 1.0, words[1], scores, out, rng.copy(), no_leaf_value())
            expected[action] += out[seat] / 2
            kernels.potential(end[0], out)
            others = (out.sum() - out[seat]) / max(1, variant.num_players - 1)
            expected[action] += 3.0 * (out[seat] - others) / 2
    found = make_agent("rollout:2,potential_weight=3", variant).action_values(states, key)
    np.testing.assert_allclose(found[0], expected, atol=1e-12)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("rollout:0", "games of a rollout agent must be from 1"),
        ("rollout:3,potential_weight=-1", "potential_weight of a rollout agent must be from 0"),
        ("rollout:", "rollout takes a number of games, as in rollout:1000"),
    ],
)
def test_bad_rollout_specs(spec, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        make_agent(spec, make_variant("samurai_card"))


def action_net(players=2, width=8):
    torch.manual_seed(3)
    form = NetworkConfig(
        make_variant("samurai_card", players).spec, "flat", (16,), heuristic_prior=True, action_width=width
    )
    net = PolicyValueNet(form)
    torch.nn.init.normal_(net.actions.context.weight)
    torch.nn.init.normal_(net.actions.score.weight)
    return net


def test_action_layers_share_weights(tmp_path):
    net = action_net()
    features, masks, hidden = torch.randn(5, 190, 23), torch.zeros(5, 190, dtype=torch.int8), torch.randn(5, 16)
    for position in range(5):
        masks[position, 7 * position : 7 * position + 4 + position] = 1
    scores = net.actions(features, masks, hidden)
    assert not scores[masks == 0].any()
    assert len(scores[masks == 1].unique()) == int(masks.sum())
    order = torch.randperm(190)
    assert torch.allclose(net.actions(features[:, order], masks[:, order], hidden), scores[:, order], atol=1e-6)
    for position in range(5):  # one position at a time
        one = slice(position, position + 1)
        assert torch.allclose(net.actions(features[one], masks[one], hidden[one]), scores[one], atol=1e-6)
    net.standardize(torch.randint(0, 3, (50, 1714), dtype=torch.int8), features.flatten(0, 1) * 4.0)
    assert torch.allclose(net.actions.scale, torch.full((23,), 0.25), atol=0.03)
    save_network(net, tmp_path / "net.safetensors", {})
    observations = torch.randint(0, 3, (5, 1714), dtype=torch.int8)
    again = load_network(tmp_path / "net.safetensors")
    with torch.no_grad():
        for one, other in zip(net(observations, masks, features), again(observations, masks, features), strict=True):
            assert torch.equal(one, other)


def test_warm_start_with_action_layers():
    small = action_net()
    form = NetworkConfig(make_variant("samurai_card", 3).spec, "flat", (16,), heuristic_prior=True, action_width=8)
    large = warm_start(small, form)
    assert torch.equal(large.actions.first.weight, small.actions.first.weight)
    with pytest.raises(ValueError, match="only the number of players differs"):
        warm_start(small, replace(form, action_width=4))


@pytest.mark.parametrize(
    "spec",
    [
        "random",
        "greedy",
        "mcts:20",
        "rollout:2",
        "flat_mc:20",
        "ppo:weights/samurai-2",
        "mcts:10,belief=weights/beliefs/samurai-2.safetensors",
        "puct:10,net=weights/samurai-2",
    ],
)
def test_no_games_no_actions(spec: str) -> None:
    variant = make_variant("samurai", 2)
    agent = make_agent(spec, variant)
    assert agent.act(variant.new(0), np.zeros(0, np.uint64)).shape == (0,)


def test_sharpest_priors_are_still_priors() -> None:
    """At 1e-320 their softmax was 0 / 0, and the search stepped what lay outside its tree."""
    variant = make_variant("samurai", 2)
    found = make_agent("mcts:50,prior_temperature=0.01", variant).search(
        positions(variant, 2, 3), np.zeros(2, np.uint64)
    )
    assert np.isfinite(found.values).all()


def test_layers_for_actions_need_the_heuristic_policy() -> None:
    config = NetworkConfig("samurai_card players=2", "flat", (16,), action_width=8)
    with pytest.raises(ValueError, match="it needs heuristic_prior"):
        new_network(config)


def test_untrained_leaves_the_generators_of_a_gpu(monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "manual_seed_all", lambda seed: pytest.fail("seeded"))
    before = torch.get_rng_state()
    make_agent("untrained", make_variant("samurai", 2))
    assert torch.equal(torch.get_rng_state(), before)


def test_paranoid_search() -> None:
    """With two players max-n and paranoid are one; in a cooperative game there is nobody to fear."""
    variant = make_variant("samurai")
    states, keys = positions(variant, 3, 5), np.arange(3, dtype=np.uint64)
    plain, fearful = (make_agent(f"mcts:200{end}", variant) for end in ("", ",paranoid=1"))
    assert np.array_equal(plain.search(states, keys).visits, fearful.search(states, keys).visits)
    variant = make_variant("samurai", 3)
    states = positions(variant, 8, 5)
    found = make_agent("mcts:200,paranoid=1", variant).search(states, np.arange(8, dtype=np.uint64))
    for seat, values in zip(states["seat"], found.values, strict=True):
        assert np.allclose(np.delete(values, seat), -values[seat] / 2)
    with pytest.raises(ValueError, match="nobody plays against anybody"):
        make_agent("mcts:200,paranoid=1", make_variant("samurai_spirit", 3))


def test_cheating_search() -> None:
    """It sees what is hidden: another deal of the same position changes what it finds, unlike an honest search's."""
    variant = make_variant("samurai_spirit", 4)
    states, keys = positions(variant, 8, 5), np.arange(8, dtype=np.uint64)
    others = states.copy()
    GameBatch(variant).determinize(others, keys)
    honest, cheat = (make_agent(f"mcts:200{end}", variant) for end in ("", ",cheating=1"))
    assert np.array_equal(honest.search(states, keys).visits, honest.search(others, keys).visits)
    assert not np.array_equal(cheat.search(states, keys).visits, cheat.search(others, keys).visits)


def test_visits_of_determinizations_add_up() -> None:
    variant = make_variant("samurai_card")
    states, keys = positions(variant, 2, 5), np.arange(2, dtype=np.uint64)
    found = make_agent("mcts:43,determinizations=8", variant).search(states, keys)
    assert found.visits.sum(1).tolist() == [43, 43]
    assert (found.visits.argmax(1) == found.actions).all()


@pytest.mark.parametrize("spec", ["mcts:8", "puct:8,net=weights/samurai-2.safetensors"])
def test_one_game_is_analysed_at_a_time(spec: str) -> None:
    variant = make_variant("samurai")
    agent = make_agent(spec, variant)
    states = variant.new(2)
    batch_kernels(variant.game).reset_all(states, np.arange(2, dtype=np.uint64))
    for games in (0, 2):
        with pytest.raises(ValueError, match=r"of shape \(1,\), not"):
            agent.analyse(states[:games], np.zeros(games, np.uint64))


def test_first_play_urgency_holds_back_actions_not_yet_tried():
    nodes = new_trees(1, 2, make_variant("samurai", 2))[0]
    for node, action in ((0, -1), (1, 3)):
        init_node(nodes[node], action, -1)
    nodes["child"][0], nodes["visits"][:2] = 1, (10, 9)
    nodes["prior"][0, [3, 5]] = 0.5

    def chosen(fpu):
        return select(nodes, 0, np.array([1 << 3 | 1 << 5, 0, 0], np.uint64), 0, 1.0, 0.0, False, fpu)

    assert chosen(0.0) == (1, 5)
    assert chosen(5.0) == (1, -1), "its urge of 1.6 is less than 5 below the other's 0.2"
