"""The PettingZoo environment of every game: PettingZoo's own tests, masks, rewards, copies, errors."""

import copy
import inspect
import pickle
import pydoc
import warnings
from importlib import import_module
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.test.state_test import test_state as pettingzoo_test_state
from pettingzoo.test.state_test import test_state_space as pettingzoo_test_state_space
from pettingzoo.utils import OrderEnforcingWrapper
from pettingzoo.utils.env_logger import EnvLogger

from samurai_env.core.game import Variant, find_game, game_names
from samurai_env.core.rng import next_seed
from samurai_env.envs.aec import GameAEC, wrapped
from samurai_env.games import GAMES
from samurai_env.position import IllegalActionError, Position
from tests.common.variants import all_variants, every_variant, label, some_variants

EVERY, SOME = every_variant(), some_variants()
SMALLEST = [find_game(name).variant() for name in game_names()]
ENCODED = [(variant, name) for variant in SMALLEST for name in variant.game.encodings]
CUT_OFF = ["samurai_spirit"]  # games that end at their limit of decisions

each = pytest.mark.parametrize("variant", EVERY, ids=label)
some = pytest.mark.parametrize("variant", SOME, ids=label)
smallest = pytest.mark.parametrize("variant", SMALLEST, ids=label)


def raw(variant: Variant, **kwargs) -> GameAEC:
    return GameAEC(variant.game.name, variant.num_players, **variant.options, **kwargs)


def wrapped_env(variant: Variant, **kwargs) -> OrderEnforcingWrapper:
    return wrapped(variant.game.name, num_players=variant.num_players, **variant.options, **kwargs)


def choose(env, rng: np.random.Generator) -> int:
    """A random legal action of the agent to act."""
    return int(rng.choice(np.flatnonzero(env.infos[env.agent_selection]["action_mask"])))


def over(env) -> bool:
    return any(env.terminations.values()) or any(env.truncations.values())


def advance(env, seed: int, steps: int = 10**9) -> list[str]:
    """Make random decisions, to the end or so many; the agents that made them."""
    rng, agents = np.random.default_rng(seed), []
    while not over(env) and len(agents) < steps:
        agents.append(env.agent_selection)
        env.step(choose(env, rng))
    return agents


def halfway(variant: Variant, seed: int = 5, **kwargs) -> GameAEC:
    """An environment in the middle of a game."""
    env = raw(variant, **kwargs)
    env.reset(seed=seed)
    length = len(advance(env, seed))
    env.reset(seed=seed)
    advance(env, seed, length // 2)
    assert not over(env)
    return env


def snapshot(env: GameAEC) -> tuple:
    """All that a caller can see."""
    observed = [(agent, *(array.tobytes() for array in env.observe(agent).values())) for agent in env.possible_agents]
    infos = {agent: {key: np.array(value).tolist() for key, value in info.items()} for agent, info in env.infos.items()}
    return (
        env.position.hash(),
        env.agent_selection,
        env.agents[:],
        dict(env.rewards),
        dict(env._cumulative_rewards),
        dict(env.terminations),
        dict(env.truncations),
        infos,
        observed,
    )


# ---------------------------------------------------------------- PettingZoo's own tests

# What PettingZoo says of every environment with a dict of observation and mask, its own chess among them.
EXPECTED_WARNINGS = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Action mask numpy array is all zeros (no legal actions).",  # after the end of the game
}


def checked_by_pettingzoo(env) -> set[str]:
    """What `api_test` has to say, in words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(env, num_cycles=500)
    return {str(warning.message) for warning in caught}


@each
def test_pettingzoo_api(variant) -> None:
    assert checked_by_pettingzoo(wrapped_env(variant)) <= EXPECTED_WARNINGS


@pytest.mark.parametrize(("variant", "encoding"), ENCODED, ids=lambda x: x if isinstance(x, str) else label(x))
def test_pettingzoo_api_of_every_encoding(variant, encoding) -> None:
    # An encoding may have negative entries; PettingZoo takes any array with two axes for a picture.
    picture = "The observation contains negative numbers and is in the shape of a graphical observation."
    found = checked_by_pettingzoo(wrapped_env(variant, encoding=encoding, reward="shaped"))
    assert {text for text in found if not text.startswith(picture)} <= EXPECTED_WARNINGS


@each
def test_pettingzoo_seeds(variant) -> None:
    seed_test(lambda: wrapped_env(variant), num_cycles=50)


@pytest.mark.parametrize("name", game_names())
def test_the_module_and_the_registered_id(name) -> None:
    module = import_module(f"samurai_env.{name}_v0")
    players = find_game(name).players[-1]
    assert isinstance(module.raw_env(num_players=players), GameAEC)
    env, made = module.env(num_players=players), pettingzoo.make("aec", GAMES[name][1], num_players=players)
    assert str(env) == str(made) == env.metadata["name"] == f"{name}_v0"
    for one in (env, made):
        assert isinstance(one, OrderEnforcingWrapper)
        one.reset(seed=3)
        assert one.num_agents == one.max_num_agents == players
    assert env.unwrapped.position.hash() == made.unwrapped.position.hash() == Position(env.variant, 3).hash()


@pytest.mark.parametrize("name", game_names())
def test_the_functions_of_a_module_explain_themselves(name) -> None:
    module = import_module(f"samurai_env.{name}_v0")
    takes = list(inspect.signature(GameAEC).parameters)[1:]  # without the game
    for function, title in ((module.env, "env(num_players"), (module.raw_env, "raw_env(num_players")):
        assert list(inspect.signature(function).parameters) == takes
        assert title in pydoc.plain(pydoc.render_doc(function))
        assert pickle.loads(pickle.dumps(function)) is function
    assert all(f"{argument}: " in module.env.__doc__ for argument in takes)


@pytest.mark.parametrize("name", game_names())
def test_the_functions_of_a_module_hand_on_their_arguments(name) -> None:
    module = import_module(f"samurai_env.{name}_v0")
    players = find_game(name).players[-1]
    settings = {"encoding": "tokens", "reward": "shaped", "render_mode": "ansi", "viewer": 1}
    for one in (module.env(players, **settings).unwrapped, module.raw_env(players, **settings)):
        assert one.variant == find_game(name).variant(players)
        assert (one.encoding, one.render_mode, one.viewer, one._shaped) == ("tokens", "ansi", 1, True)


# ---------------------------------------------------------------- a whole game


@each
def test_a_game_in_every_variant(variant) -> None:
    """Who acts, what each agent sees, masks in both places, types, rewards: at every decision of one game."""
    env = raw(variant)
    env.reset(seed=11)
    position, rng = Position(variant, 11), np.random.default_rng(11)
    while not over(env):
        agent, action = env.agent_selection, choose(env, rng)
        assert env.agents == env.possible_agents
        assert agent == f"player_{position.seat}"
        assert env.position.hash() == position.hash()
        mask = position.legal_mask()
        assert mask.any()
        for seat, other in enumerate(env.agents):
            seen = env.observe(other)
            assert seen in env.observation_space(other)
            assert np.array_equal(seen["observation"], position.observe(seat))
            assert seen["action_mask"].dtype == np.int8
            assert np.array_equal(seen["action_mask"], mask if other == agent else np.zeros_like(mask))
            assert set(env.infos[other]) == ({"action_mask"} if other == agent else set())
        assert np.array_equal(env.infos[agent]["action_mask"], mask)
        assert env.infos[agent]["action_mask"].dtype == np.int8
        env.infos[agent]["action_mask"][:] = 0  # the caller's own
        assert np.array_equal(env.observe(agent)["action_mask"], mask)
        assert set(env.rewards.values()) == {0.0}
        env.step(action)
        position.step(action)
    returns = position.returns()
    assert [env.rewards[agent] for agent in env.possible_agents] == returns.tolist()
    if variant.game.cooperative:
        assert len(set(returns)) == 1
    else:
        assert sum(returns) == pytest.approx(0, abs=1e-12)
        assert max(returns) > 0 or not returns.any()  # somebody wins, or all share
    details = variant.game.describe_result(position.state)
    for agent in env.agents:
        assert env.terminations[agent] is True
        assert env.truncations[agent] is False
        assert not env.observe(agent)["action_mask"].any()
        assert not env.infos[agent]["action_mask"].any()
        assert np.array_equal(env.infos[agent]["returns"], returns)
        assert {key: env.infos[agent][key] for key in details} == details


@some
def test_an_agent_may_act_several_times_in_a_row(variant) -> None:
    env, pairs = raw(variant), []
    for seed in range(3):
        env.reset(seed=seed)
        agents = advance(env, seed)
        pairs += pairwise(agents)
    assert any(a == b for a, b in pairs)
    assert variant.num_players == 1 or any(a != b for a, b in pairs)


@some
def test_shaped_rewards(variant) -> None:
    """They add up to the returns and the growth of potential; `last` gives what has come since one's last decision."""
    env, rewarded = raw(variant, reward="shaped"), 0
    for seed in range(6):
        env.reset(seed=seed)
        start, rng = env.position.potential(), np.random.default_rng(seed)
        total, waiting = dict.fromkeys(env.agents, 0.0), dict.fromkeys(env.agents, 0.0)
        while not over(env):
            agent = env.agent_selection
            assert env.last(observe=False)[1] == pytest.approx(waiting[agent], abs=1e-12)
            waiting[agent] = 0.0
            env.step(choose(env, rng))
            rewarded += any(env.rewards.values())
            for other, reward in env.rewards.items():
                total[other] += reward
                waiting[other] += reward
        growth = env.position.returns() + env.position.potential() - start
        assert list(total.values()) == pytest.approx(growth.tolist(), abs=1e-9)
        while env.agents:
            agent = env.agent_selection
            assert env.last(observe=False)[1] == pytest.approx(waiting[agent], abs=1e-12)
            env.step(None)
    assert rewarded > 6  # not at the ends of games alone


@some
def test_last(variant) -> None:
    env = halfway(variant)
    observed, reward, terminated, truncated, info = env.last()
    agent = env.agent_selection
    expected = env.observe(agent)
    assert all(np.array_equal(observed[key], expected[key]) for key in ("observation", "action_mask"))
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert np.array_equal(info["action_mask"], observed["action_mask"])
    assert env.last(observe=False)[0] is None


@some
def test_agents_leave_after_the_end(variant) -> None:
    env = wrapped_env(variant)
    env.reset(seed=4)
    advance(env, 4)
    returns = dict(zip(env.possible_agents, env.unwrapped.position.returns(), strict=True))
    left, hashed = [], env.unwrapped.position.hash()
    for agent in env.agent_iter():
        observed, reward, terminated, _, info = env.last()
        assert terminated
        assert reward == returns[agent]
        assert not observed["action_mask"].any()
        assert info["returns"].tolist() == list(returns.values())
        with pytest.raises(ValueError, match="only valid action is None"):
            env.step(0)
        env.step(None)
        left.append(agent)
        remaining = set(env.possible_agents) - set(left)
        assert set(env.agents) == set(env.rewards) == set(env.terminations) == set(env.infos) == remaining
    assert sorted(left) == sorted(env.possible_agents)
    EnvLogger.flush()
    env.step(None)  # PettingZoo only warns of this
    assert "step() called after all agents" in EnvLogger.mqueue[-1]
    assert env.unwrapped.position.hash() == hashed
    env.reset(seed=4)
    assert env.agents == env.possible_agents
    assert env.agent_selection in env.agents


@some
def test_arrays_belong_to_the_caller(variant) -> None:
    """Whatever is done to an observation, the environment does not notice; and it never changes one it gave away."""
    env = halfway(variant)
    agent = env.agent_selection
    before, kept = snapshot(env), env.observe(agent)
    copies = copy.deepcopy(kept)
    for array in env.observe(agent).values():
        array[:] = 1
    assert snapshot(env) == before
    advance(env, 1, 4)
    assert all(np.array_equal(kept[key], copies[key]) for key in kept)


# ---------------------------------------------------------------- seeds


@some
def test_the_seed_decides_the_game(variant) -> None:
    a, b = raw(variant), raw(variant)
    a.reset(seed=7)
    b.reset(seed=np.int64(7))
    assert snapshot(a) == snapshot(b)
    advance(a, 1)
    advance(b, 1)
    assert snapshot(a) == snapshot(b)
    a.reset()
    assert a.position.seed == next_seed(7)
    b.reset(seed=8)
    assert a.position.hash() != b.position.hash()


@smallest
def test_without_a_seed_the_first_game_is_random(variant) -> None:
    seeds = set()
    for _ in range(3):
        env = raw(variant)
        env.reset()
        seeds.add(env.position.seed)
    assert len(seeds) == 3


@smallest
@pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), (2**63, ValueError), (1.5, TypeError), ("1", TypeError)])
def test_impossible_seeds(variant, seed, error) -> None:
    env = halfway(variant)
    before, follower = snapshot(env), next_seed(env.position.seed)
    with pytest.raises(
        error, match=f"^a seed must be an integer .*not {seed!r}$|^a seed must be an integer, not {seed!r}$"
    ):
        env.reset(seed=seed)
    assert snapshot(env) == before
    env.reset()
    assert env.position.seed == follower


# ---------------------------------------------------------------- copies and given positions


@some
@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, copy.copy, lambda env: pickle.loads(pickle.dumps(env))],
    ids=["deepcopy", "copy", "pickle"],
)
@pytest.mark.parametrize("make", [raw, wrapped_env], ids=["raw_env", "env"])
def test_a_copy_plays_on_identically(variant, copied, make) -> None:
    env = make(variant, reward="shaped")
    env.reset(seed=3)
    advance(env, 3, 5)
    for agent in env.agents:
        env.action_space(agent).seed(9)
    other, before = copied(env), snapshot(env.unwrapped)
    assert snapshot(other.unwrapped) == before
    advance(other, 4)
    assert over(other)
    assert snapshot(env.unwrapped) == before
    advance(env, 4)
    assert snapshot(env.unwrapped) == snapshot(other.unwrapped)
    assert [env.action_space(a).sample() for a in env.agents] == [other.action_space(a).sample() for a in env.agents]
    env.reset()
    other.reset()
    assert snapshot(env.unwrapped) == snapshot(other.unwrapped)


@some
def test_reset_to_a_position_continues_from_it(variant) -> None:
    env = halfway(variant, reward="shaped")
    position = env.position.clone()
    other = raw(variant, reward="shaped")
    other.reset(options={"position": position})
    assert other.agent_selection == env.agent_selection
    assert set(other.rewards.values()) == {0.0}
    advance(env, 6)
    advance(other, 6)
    assert snapshot(env)[0] == snapshot(other)[0]
    assert env.rewards == other.rewards
    assert position.hash() != other.position.hash()  # the environment plays on a copy
    assert not position.over


@some
def test_reset_to_a_finished_position(variant) -> None:
    env, other = raw(variant), raw(variant)
    env.reset(seed=1)
    advance(env, 1)
    other.reset(options={"position": env.position})
    assert all(other.terminations.values())
    assert set(other.rewards.values()) == {0.0}
    for _ in other.possible_agents:
        other.step(None)
    assert other.agents == []


@smallest
def test_reset_refuses_a_position_that_does_not_fit(variant) -> None:
    env = halfway(variant)
    before = snapshot(env)
    other = next(v for v in all_variants(variant.game) if v != variant)
    with pytest.raises(ValueError, match=r"the position is of .* this environment of"):
        env.reset(options={"position": Position(other, 0)})
    with pytest.raises(ValueError, match=r"^reset takes a seed or a position, not both$"):
        env.reset(seed=1, options={"position": Position(variant, 0)})
    with pytest.raises(TypeError, match=r"^options\['position'\] must be a Position, not "):
        env.reset(options={"position": Position(variant, 0).save()})
    assert snapshot(env) == before


@smallest
def test_reset_to_a_position_satisfies_the_order_check(variant) -> None:
    """The wrapper of `env()` counts it as a reset, and keys that it does not know are ignored."""
    env = wrapped_env(variant)
    env.reset(options={"position": Position(variant, 3), "other": 1})
    observation = env.last()[0]
    env.step(int(observation["action_mask"].argmax()))
    assert env.unwrapped.position.steps == 1


@pytest.mark.parametrize("name", CUT_OFF)
def test_a_game_that_is_cut_off_is_truncated(name) -> None:
    for variant in all_variants(find_game(name)):
        position = halfway(variant).position.clone()
        position.states["steps"] = variant.max_steps - 1
        env = raw(variant)
        env.reset(options={"position": position})
        env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
        if env.infos[env.agents[0]]["result"] == "truncated":
            break
    assert set(env.truncations.values()) == {True}
    assert set(env.terminations.values()) == {False}
    while env.agents:
        assert env.last()[2:4] == (False, True)
        env.step(None)


# ---------------------------------------------------------------- errors


@some
def test_an_illegal_action_changes_nothing(variant) -> None:
    env = halfway(variant, reward="shaped", render_mode="ansi")
    before, mask = snapshot(env), env.position.legal_mask()
    assert not mask.all()
    for action in [-1, variant.num_actions, *np.flatnonzero(mask == 0)]:
        with pytest.raises(IllegalActionError, match=rf"action {action}\b"):
            env.step(action)
    with pytest.raises(IllegalActionError, match=f"{env.agent_selection} is to act"):
        env.step(None)
    for action in (1.0, "0", [0], np.array([0])):
        with pytest.raises(TypeError, match=r"^an action must be an integer, not "):
            env.step(action)
    assert snapshot(env) == before
    for kind in (np.int8, np.int64, np.array):
        copy.deepcopy(env).step(kind(mask.argmax()))


@smallest
def test_env_survives_illegal_actions(variant) -> None:
    """As PettingZoo's classic games: the game ends, its agent gets -1, the others nothing."""
    env = wrapped_env(variant)
    env.reset(seed=3)
    advance(env, 3, 4)
    loser, action = env.agent_selection, int((env.last()[4]["action_mask"] == 0).argmax())
    for wrong, error in ((-1, IllegalActionError), (variant.num_actions, IllegalActionError), ("0", TypeError)):
        with pytest.raises(error):
            env.step(wrong)
    assert not over(env)
    env.step(action)
    assert "Illegal move made" in EnvLogger.mqueue[-1]
    left = []
    for agent in env.agent_iter():
        observed, reward, terminated, truncated, info = env.last()
        assert (terminated, truncated) == (True, True)
        assert reward == info["returns"][env.possible_agents.index(agent)] == (-1.0 if agent == loser else 0.0)
        assert not observed["action_mask"].any()
        env.step(None)
        left.append(agent)
    assert sorted(left) == env.possible_agents
    env.reset(seed=3)
    assert not over(env)


@smallest
def test_unmasked_samples_are_legal_for_the_agent_to_act(variant) -> None:
    env = wrapped_env(variant)
    for one in (env, copy.deepcopy(env)):
        one.reset(seed=3)
        for agent in one.agent_iter():
            if over(one):
                break
            action = one.action_space(agent).sample()
            assert one.infos[agent]["action_mask"][action]
            one.step(action)
        assert one.action_space("player_0").sample() in one.action_space("player_0")
        if not any(one.truncations.values()):
            assert one.infos["player_0"]["returns"].tolist() == one.unwrapped.position.returns().tolist()


@smallest
def test_pettingzoo_state(variant) -> None:
    """PettingZoo's test; what all seats see, and nothing that none of them sees."""
    for encoding in variant.game.encodings:
        env = wrapped_env(variant, encoding=encoding)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "more than 3 dimensions", and limits that are equal
            pettingzoo_test_state_space(env)
            pettingzoo_test_state(env, 20)
        env.reset(seed=1)
        advance(env, 1, 9)
        state = env.state()
        assert state.dtype == np.int8
        for row, agent in zip(state, env.possible_agents, strict=True):
            assert np.array_equal(row, env.observe(agent)["observation"])
    with pytest.raises(AttributeError, match="before reset"):
        raw(variant).state()


@smallest
def test_the_observation_alone(variant) -> None:
    plain, boxed = raw(variant), raw(variant, observation="box")
    plain.reset(seed=1)
    boxed.reset(seed=1)
    for env in (plain, boxed):
        advance(env, 1, 5)
    for agent in plain.agents:
        seen = boxed.observe(agent)
        assert seen in boxed.observation_space(agent)
        assert np.array_equal(seen, plain.observe(agent)["observation"])
    agent = plain.agent_selection
    assert np.array_equal(boxed.infos[agent]["action_mask"], plain.infos[agent]["action_mask"])
    found = checked_by_pettingzoo(wrapped_env(variant, observation="box"))
    assert not {text for text in found if "mask" in text}


@smallest
def test_calls_before_reset(variant) -> None:
    env = wrapped_env(variant)
    for call in (lambda: env.step(0), lambda: env.observe("player_0"), env.render, env.agent_iter):
        with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before"):
            call()
    for name in ("agents", "rewards", "agent_selection", "position"):
        with pytest.raises(AttributeError, match="cannot be accessed before reset"):
            getattr(env, name)
    for call in (lambda: raw(variant).observe("player_0"), raw(variant).state):
        with pytest.raises(AttributeError, match=r"^position cannot be accessed before reset$"):
            call()
    env.close()


@smallest
def test_an_agent_that_does_not_exist(variant) -> None:
    env = halfway(variant)
    for call in (env.observe, env.action_space, env.observation_space):
        with pytest.raises(KeyError, match="player_99"):
            call("player_99")


@smallest
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_players": 99}, "players, not 99"),
        ({"encoding": "pixels"}, "has no encoding 'pixels'; it has"),
        ({"reward": "gold"}, "reward must be one of result, shaped, not 'gold'"),
        ({"reward": None}, "reward must be one of result, shaped, not None"),
        ({"observation": "text"}, "observation must be one of dict, box, not 'text'"),
        ({"render_mode": "glasses"}, "render_mode must be one of ansi, svg, rgb_array, human, not 'glasses'"),
        ({"viewer": 9}, "viewer must be a seat from 0 to .* not 9"),
        ({"viewer": "me"}, "viewer must be a seat from 0 to .* not 'me'"),
    ],
)
def test_wrong_arguments(variant, arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        GameAEC(variant.game.name, **arguments)


@smallest
def test_an_unknown_keyword(variant) -> None:
    """Python's own words, which learners that probe for keywords look for, and the keywords that there are."""
    for make in (GameAEC, wrapped, import_module(f"samurai_env.{variant.game.name}_v0").env):
        with pytest.raises(
            TypeError, match="got an unexpected keyword argument 'frameskip'; it takes num_players"
        ) as e:
            make(*() if "env" in make.__name__ else (variant.game.name,), frameskip=4)
        assert all(name in str(e.value) for name in ("viewer", "observation", *variant.game.options))
        assert len(str(e.value)) < 300


def test_a_game_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="there is no game 'go'; the games are samurai"):
        GameAEC("go")


# ---------------------------------------------------------------- pictures


@smallest
def test_pettingzoo_render(variant) -> None:
    """PettingZoo's test of every mode; it first asks for "human", which there is not."""

    def make(render_mode):
        return wrapped_env(variant, render_mode=None if render_mode == "human" else render_mode)

    render_test(make, {"svg": lambda text: ElementTree.fromstring(text).tag.endswith("svg")})


@some
def test_pictures_show_the_position(variant) -> None:
    """A picture is a function of the position, differs from another's, and changes nothing."""
    pictures = {}
    for mode in ("ansi", "svg"):
        env = halfway(variant, render_mode=mode)
        before, first = snapshot(env), env.render()
        assert snapshot(env) == before
        assert env.render() == first
        advance(env, 8, 6)
        pictures[mode] = first, env.render()
        assert pictures[mode][0] != pictures[mode][1]
    assert raw(variant).render() is None


@smallest
def test_a_viewer_does_not_see_what_is_hidden(variant) -> None:
    """Pictures for a seat are the same for all positions that it cannot tell apart."""
    env = halfway(variant, render_mode="ansi", viewer=0)
    first, rng = env.render(), np.array([3], np.uint64)
    hashes = set()
    for _ in range(5):
        env.reset(options={"position": env.position.determinized(0, rng)})
        hashes.add(env.position.hash())
        assert env.render() == first
    assert len(hashes) > 1
