"""The Gymnasium environment for one learner, of every game: Gymnasium's test, opponents, seats, rewards, learning."""

import copy
import pickle
import threading
import warnings
from xml.etree import ElementTree

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from samurai_env.core.batch import batch_kernels
from samurai_env.core.game import Variant, find_game, game_names
from samurai_env.core.rng import next_seed
from samurai_env.envs.aec import GameAEC
from samurai_env.envs.single import GameEnv
from samurai_env.games import GAMES
from samurai_env.position import IllegalActionError, Position
from tests.common.variants import all_variants, every_variant, label, last_values, some_variants

EVERY, SOME = every_variant(), some_variants()
SMALLEST = [find_game(name).variant() for name in game_names()]
THREE = [find_game(name).variant(3) for name in game_names()]
CUT_OFF = ["samurai_spirit"]  # games that end at their limit of decisions

each = pytest.mark.parametrize("variant", EVERY, ids=label)
some = pytest.mark.parametrize("variant", SOME, ids=label)
smallest = pytest.mark.parametrize("variant", SMALLEST, ids=label)
three = pytest.mark.parametrize("variant", THREE, ids=label)


def make(variant: Variant, kind=GameEnv, **kwargs) -> GameEnv:
    return kind(variant.game.name, variant.num_players, **variant.options, **kwargs)


def choose(info: dict, rng: np.random.Generator) -> int:
    """A random legal action."""
    return int(rng.choice(np.flatnonzero(info["action_mask"])))


def play(env: GameEnv, seed: int) -> list[tuple]:
    """One game of random decisions: what `reset` returned, then what each `step` returned."""
    rng = np.random.default_rng(seed)
    trace: list[tuple] = [env.reset(seed=seed)]
    while trace[-1][-1]["action_mask"].any():
        trace.append(env.step(choose(trace[-1][-1], rng)))
    return trace


def plain(x):
    """Nested data with arrays as lists, for comparing."""
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    if isinstance(x, (tuple, list)):
        return [plain(value) for value in x]
    return x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x


def halfway(env: GameEnv, seed: int = 5) -> dict:
    """Play to the middle of a game; the last info."""
    length = len(play(env, seed)) - 1
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    for _ in range(length // 2):
        *_, info = env.step(choose(info, rng))
    assert not env.position.over
    return info


# ---------------------------------------------------------------- Gymnasium's own test


@each
def test_gymnasium_check(variant) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*Not able to test alternative render modes.*")  # see below
        # It draws an action in one game and makes it in another, where the card game may not allow it.
        warnings.filterwarnings("ignore", message=".*it ends the episode with reward -1.*")
        check_env(make(variant), skip_close_check=True)


@pytest.mark.parametrize("name", game_names())
def test_made_by_gymnasium(name) -> None:
    """`make` gives the environment without any wrapper around it, unless asked for one."""
    env_id, game = GAMES[name][1], find_game(name)
    env = gymnasium.make(env_id)
    assert type(env) is GameEnv
    assert env.spec.id == env_id
    assert env.variant == game.variant()
    options = last_values(game, 3)
    env = gymnasium.make(env_id, num_players=3, seat=1, reward="shaped", max_episode_steps=1, **options)
    assert env.unwrapped.variant == game.variant(3, **options)
    observed, info = env.reset(seed=1)
    assert observed in env.observation_space
    assert info["seat"] == 1
    assert env.step(info["action_mask"].argmax())[2:4] == (False, True)


@pytest.mark.parametrize("name", game_names())
def test_gymnasium_check_with_pictures(name) -> None:
    env = gymnasium.make(GAMES[name][1]).unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*it ends the episode with reward -1.*")
        check_env(env)


@pytest.mark.parametrize("kind", ["sync", "async"])
@smallest
def test_gymnasium_makes_a_vector_of_it(variant, kind) -> None:
    """The spaces survive the trip to another process; what comes back is what the environments say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking a process that has threads
        envs = gymnasium.make_vec(GAMES[variant.game.name][1], 2, vectorization_mode=kind, seat="random")
    alone = [make(variant, seat="random") for _ in range(2)]
    try:
        observed, infos = envs.reset(seed=6)
        reported = [env.reset(seed=6 + i) for i, env in enumerate(alone)]
        for _ in range(4):
            assert observed in envs.observation_space
            assert all(np.array_equal(observed[key][i], reported[i][0][key]) for key in observed for i in range(2))
            assert infos["seat"].tolist() == [env.seat for env in alone]
            actions = infos["action_mask"].argmax(1)
            observed, _, ended, _, infos = envs.step(actions)
            assert not ended.any()
            reported = [env.step(action) for env, action in zip(alone, actions, strict=True)]
    finally:
        envs.close()


# ---------------------------------------------------------------- observations, masks, samples


@each
def test_a_game_in_every_variant(variant) -> None:
    """Types, masks, samples, rewards and the last step, in one game."""
    env = make(variant, reward="shaped")
    assert 0 <= env.action_space.sample() < variant.num_actions  # any action: there is no game yet
    env.action_space.seed(1)
    observed, info = env.reset(seed=1)
    start, total, terminated = env.position.potential(), 0.0, False
    while not terminated:
        position = env.position
        mask = position.legal_mask()
        assert position.seat == info["seat"] == env.seat == 0
        assert set(info) == {"action_mask", "seat"}
        assert observed in env.observation_space
        assert np.array_equal(observed["observation"], position.observe(0))
        for found in (observed["action_mask"], info["action_mask"]):
            assert found.dtype == np.int8
            assert np.array_equal(found, mask)
        assert env.action_masks().dtype == bool
        assert np.array_equal(env.action_masks(), mask)
        action = env.action_space.sample()
        assert action in env.action_space
        assert mask[action]
        observed, reward, terminated, truncated, info = env.step(action)
        assert type(reward) is float
        assert type(terminated) is bool
        assert truncated is False
        total += reward
    position = env.position
    assert position.over
    assert observed in env.observation_space
    assert np.array_equal(observed["observation"], position.observe(0))
    assert not observed["action_mask"].any()
    assert not info["action_mask"].any()
    assert not env.action_masks().any()
    assert np.array_equal(info["returns"], position.returns())
    details = variant.game.describe_result(position.state)
    assert {key: info[key] for key in details} == details
    assert total == pytest.approx((position.returns() + position.potential() - start)[0], abs=1e-9)
    assert env.action_space.sample() in env.action_space
    before = position.hash()
    with pytest.raises(IllegalActionError, match="after the end of the game"):
        env.step(0)
    assert env.position.hash() == before


@some
def test_samples_are_spread_over_the_legal_actions(variant) -> None:
    env = make(variant)
    info = halfway(env)
    env.action_space.seed(3)
    legal = set(np.flatnonzero(info["action_mask"]).tolist())
    samples = [int(env.action_space.sample()) for _ in range(25 * len(legal))]
    assert set(samples) == legal
    env.action_space.seed(3)
    assert [int(env.action_space.sample()) for _ in samples] == samples
    some = np.zeros(variant.num_actions, np.int8)
    some[[0, 1]] = 1
    assert {int(env.action_space.sample(some)) for _ in range(60)} == {0, 1}  # a mask of one's own counts


@smallest
def test_the_action_space_is_a_discrete_space(variant) -> None:
    space = make(variant).action_space
    assert isinstance(space, gymnasium.spaces.Discrete)
    assert space == gymnasium.spaces.Discrete(variant.num_actions) == space
    assert space != gymnasium.spaces.Discrete(variant.num_actions + 1)
    copied = pickle.loads(pickle.dumps(space))
    assert copied == space
    assert copied.sample() in space


# ---------------------------------------------------------------- rewards


@some
def test_the_reward_at_the_end(variant) -> None:
    for seed in range(4):
        for seat in range(variant.num_players):
            env = make(variant, seat=seat)
            rewards = [step[1] for step in play(env, seed)[1:]]
            assert set(rewards[:-1]) <= {0.0}
            assert rewards[-1] == env.position.returns()[seat]


@some
def test_shaped_rewards_count_what_opponents_do(variant) -> None:
    grown = 0.0
    for seed in range(6):
        env = make(variant, seat=variant.num_players - 1, reward="shaped")
        env.reset(seed=seed)
        start = env.position.potential()
        rewards = [step[1] for step in play(env, seed)[1:]]
        growth = (env.position.potential() - start)[env.seat]
        assert sum(rewards) == pytest.approx(env.position.returns()[env.seat] + growth, abs=1e-9)
        grown += abs(growth)
    assert grown > 0


@pytest.mark.parametrize("name", CUT_OFF)
def test_a_game_that_is_cut_off_is_truncated(name) -> None:
    for variant in all_variants(find_game(name)):
        env = make(variant, seat="all")
        info = halfway(env)
        env.position.states["steps"] = variant.max_steps - 1
        *_, terminated, truncated, info = env.step(info["action_mask"].argmax())
        if info["result"] == "truncated":
            break
    assert (terminated, truncated) == (False, True)


# ---------------------------------------------------------------- seeds


@some
def test_the_seed_decides_the_game(variant) -> None:
    """Whatever was played before, and however the learner uses the environment's own generator."""
    env, other = make(variant, seat="random"), make(variant, seat="random")
    play(other, 1)
    trace = play(env, 7)
    other.np_random.random(5)
    assert plain(play(other, np.int64(7))) == plain(trace)
    assert plain(play(other, 8)) != plain(trace)
    env.reset()
    assert env.position.seed == next_seed(7)


@smallest
def test_without_a_seed_the_first_game_is_random(variant) -> None:
    seeds = set()
    for _ in range(3):
        env = make(variant)
        env.reset()
        seeds.add(env.position.seed)
    assert len(seeds) == 3


@smallest
@pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), (2**63, ValueError), (1.5, TypeError), ("1", TypeError)])
def test_impossible_seeds(variant, seed, error) -> None:
    env = make(variant)
    halfway(env)
    before, follower = env.position.hash(), next_seed(env.position.seed)
    with pytest.raises(error, match="integer"):
        env.reset(seed=seed)
    assert env.position.hash() == before
    env.reset()
    assert env.position.seed == follower


@some
@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, copy.copy, lambda env: pickle.loads(pickle.dumps(env))],
    ids=["deepcopy", "copy", "pickle"],
)
def test_a_copy_plays_on_identically(variant, copied) -> None:
    env = make(variant, seat="random", reward="shaped")
    halfway(env)
    env.action_space.seed(5)
    other, before = copied(env), env.position.hash()
    traces = []
    for one in (other, env):
        assert one.position.hash() == before
        trace = []
        while not one.position.over:
            trace.append(one.step(one.action_space.sample()))
        traces.append(plain([*trace, one.reset()]))
    assert traces[0] == traces[1]


# ---------------------------------------------------------------- seats and opponents


@some
def test_reset_to_a_position_continues_from_it(variant) -> None:
    env, other = make(variant, seat="all", reward="shaped"), make(variant, seat="all", reward="shaped")
    info = halfway(env)
    position = env.position.clone()
    observation, begun = other.reset(options={"position": position, "other": 1})
    assert plain(begun) == plain(info)
    assert plain(observation["action_mask"]) == plain(info["action_mask"])
    action = int(np.flatnonzero(info["action_mask"])[-1])
    assert plain(other.step(action)) == plain(env.step(action))
    assert position.hash() != other.position.hash()  # the environment plays on a copy
    one = make(variant, opponents="greedy", seat=variant.num_players - 1)
    _, info = one.reset(options={"position": (start := Position(variant, 3))})
    assert info["action_mask"].any()
    assert one.position.seat == variant.num_players - 1
    assert one.position.seed == start.seed


@smallest
def test_reset_refuses_a_position_that_does_not_fit(variant) -> None:
    env = make(variant, seat="all")
    play(env, 1)
    one = make(variant)
    halfway(one)
    before = one.position.hash(), one.seat
    with pytest.raises(ValueError, match=r"^the game of options\['position'\] is over before seat \d decides$"):
        one.reset(options={"position": env.position})
    assert (one.position.hash(), one.seat) == before  # that game goes on
    one.step(one.action_space.sample())
    other = next(v for v in all_variants(variant.game) if v != variant)
    with pytest.raises(ValueError, match=r"the position is of .* this environment of"):
        env.reset(options={"position": Position(other, 0)})
    with pytest.raises(ValueError, match=r"^reset takes a seed or a position, not both$"):
        env.reset(seed=1, options={"position": Position(variant, 0)})
    with pytest.raises(TypeError, match=r"^options\['position'\] must be a Position, not "):
        env.reset(options={"position": Position(variant, 0).save()})


@smallest
def test_only_game_and_players_go_by_place(variant) -> None:
    for kind in (GameEnv, GameAEC):
        with pytest.raises(TypeError, match="positional argument"):
            kind(variant.game.name, variant.num_players, "random")


@some
def test_all_seats_are_the_game_of_the_aec_environment(variant) -> None:
    env = make(variant, seat="all", reward="shaped")
    aec = GameAEC(variant.game.name, variant.num_players, reward="shaped", **variant.options)
    rng = np.random.default_rng(2)
    observed, info = env.reset(seed=2)
    aec.reset(seed=2)
    terminated = False
    while not terminated:
        agent = aec.agent_selection
        expected = aec.observe(agent)
        assert info["seat"] == aec.possible_agents.index(agent)
        assert all(np.array_equal(observed[key], expected[key]) for key in expected)
        action = choose(info, rng)
        observed, reward, terminated, _, info = env.step(action)
        aec.step(action)
        assert reward == aec.rewards[agent]
        assert terminated == aec.terminations[agent]
    assert np.array_equal(info["returns"], aec.infos[agent]["returns"])


@some
def test_a_random_seat(variant) -> None:
    env = make(variant, seat="random")
    seats = []
    for seed in range(40):
        _, info = env.reset(seed=seed)
        seats.append(env.seat)
        assert info["seat"] == env.position.seat == env.seat
    assert set(seats) == set(range(variant.num_players))


@three
def test_opponents_sit_clockwise_from_the_learner(variant) -> None:
    """Each callable sees what its seat sees, with the mask of its legal actions, and is asked for its seat alone."""
    asked: list[tuple[str, int]] = []
    for seat in range(3):
        # The names are the seats' distances from the learner.
        env = make(variant, seat=seat, opponents=[lambda seen: ask("1", seen), lambda seen: ask("2", seen)])

        def ask(name, seen, env=env):
            position = env.position
            asked.append((name, (position.seat - env.seat) % 3))
            assert seen in env.observation_space
            assert np.array_equal(seen["observation"], position.observe(position.seat))
            assert np.array_equal(seen["action_mask"], position.legal_mask())
            return seen["action_mask"].argmax()  # a NumPy integer will do

        play(env, 3)
    assert set(asked) == {("1", 1), ("2", 2)}


@three
def test_one_opponent_for_all_seats(variant) -> None:
    """A name or a callable stands for every other seat; a mixture may be named one by one."""

    def first(seen):
        return int(seen["action_mask"].argmax())

    for one in ("random", "greedy", first):
        assert plain(play(make(variant, opponents=one), 4)) == plain(play(make(variant, opponents=[one, one]), 4))
    mixed = plain(play(make(variant, opponents=["greedy", first]), 4))
    assert mixed != plain(play(make(variant, opponents=[first, "greedy"]), 4))


@some
def test_the_compiled_opponents(variant) -> None:
    """Random ones spread over all legal actions, greedy ones over those that the built-in player scores highest."""
    env = make(variant)
    info = halfway(env)
    legal = np.flatnonzero(info["action_mask"])
    scores = np.zeros(variant.num_actions)
    batch_kernels(variant.game).write_policy(env.position.states, 0, scores)
    best = legal[scores[legal] == scores[legal].max()]
    for name, allowed in (("random", legal), ("greedy", best)):
        assert {env._compiled_choice(name) for _ in range(25 * len(allowed))} == set(allowed.tolist())


@three
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opponents": ["random"]}, "needs 2 opponents, not 1"),
        ({"opponents": []}, "needs 2 opponents, not 0"),
        ({"opponents": ["random"] * 3}, "needs 2 opponents, not 3"),
        ({"opponents": "greddy"}, r"there is no agent 'greddy' \(did you mean 'greedy'\?\)"),
        ({"opponents": ["random", "mcts:many"]}, "mcts takes a number of simulations, as in mcts:1000, not 'many'"),
        ({"opponents": ["random", 7]}, "an opponent is random, greedy, an agent's spec such as .* not 7"),
        ({"opponents": 3.5}, "opponents must be a name, an agent, a callable or a sequence of these, not 3.5"),
        ({"seat": 3}, "seat must be a number from 0 to 2, 'random' or 'all', not 3"),
        ({"seat": -1}, "seat must be a number from 0 to 2"),
        ({"seat": "first"}, "seat must be a number from 0 to 2"),
        ({"reward": "gold"}, "reward must be one of result, shaped, not 'gold'"),
        ({"render_mode": "glasses"}, "render_mode must be one of ansi, svg, rgb_array, human, not 'glasses'"),
        ({"encoding": "pixels"}, "has no encoding 'pixels'; it has"),
        ({"observation": "text"}, "observation must be one of dict, box, not 'text'"),
        ({"illegal_action": "ignore"}, "illegal_action must be one of terminate, raise, not 'ignore'"),
    ],
)
def test_wrong_arguments(variant, arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        make(variant, **arguments)


@smallest
def test_an_unknown_keyword(variant) -> None:
    """Python's own words, as TorchRL's probing for `frameskip` wants them, and the keywords that there are."""
    for make in (GameEnv, lambda game, **kwargs: gymnasium.make(GAMES[game][1], **kwargs)):
        with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'; it takes num_players, opp") as e:
            make(variant.game.name, frameskip=4)
        named = ("illegal_action", *variant.game.options, *(["preset"] if variant.game.presets else []))
        assert all(name in str(e.value) for name in named)
        assert len(str(e.value).split(" was raised from")[0]) < 300  # Gymnasium adds where it was


@smallest
def test_an_illegal_action_ends_the_episode(variant) -> None:
    """With reward -1 and one warning; a checker or learner that knows no masks survives."""
    env = make(variant, reward="shaped")
    for time in range(2):
        mask = halfway(env)["action_mask"]
        seat, action = env.seat, int((mask == 0).argmax())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            observed, reward, terminated, truncated, info = env.step(action)
        assert [f"action {action} " in str(warning.message) for warning in caught] == [True] * (time == 0)
        assert (reward, terminated, truncated) == (-1.0, True, False)
        assert observed in env.observation_space
        assert info["returns"].tolist() == [-1.0 if i == seat else 0.0 for i in range(variant.num_players)]
        assert not (observed["action_mask"].any() or info["action_mask"].any() or env.action_masks().any())
        assert env.action_space.sample() in env.action_space
        with pytest.raises(IllegalActionError, match="after the end of the game"):
            env.step(mask.argmax())


@smallest
def test_the_observation_alone(variant) -> None:
    """The mask is then in the info and in `action_masks()`; callables still get the dict."""
    seen = []
    env = make(variant, observation="box", opponents=lambda given: seen.append(given) or given["action_mask"].argmax())
    twin = make(variant, opponents=lambda given: given["action_mask"].argmax())
    for (alone, *rest), (both, *same) in zip(play(env, 4), play(twin, 4), strict=True):
        assert alone in env.observation_space
        assert np.array_equal(alone, both["observation"])
        assert plain(rest) == plain(same)
    assert isinstance(env.observation_space, gymnasium.spaces.Box)
    assert all(set(given) == {"observation", "action_mask"} for given in seen)
    assert seen or variant.num_players == 1
    check_env(env, skip_render_check=True, skip_close_check=True)


@smallest
def test_agents_as_opponents(variant) -> None:
    """By spec or as objects: an agent gets the states where its seat is to move, and keys; a copy makes its own."""

    class Last:
        def act(self, states, keys):
            assert states["seat"].tolist() == [env.position.seat]
            assert keys.dtype == np.uint64
            states[:] = np.zeros_like(states)  # what it does to them changes nothing
            return [env.position.legal_actions()[-1]]

    env = make(variant, opponents=Last(), seat="random")
    trace = plain(play(env, 3))
    assert plain(play(env, 3)) == trace
    if variant.num_players > 1:
        env = gymnasium.make(GAMES[variant.game.name][1], opponents="mcts:4", **variant.options)
        trace = plain(play(env, 3))
        assert plain(play(pickle.loads(pickle.dumps(env)), 3)) == trace
        assert trace != plain(play(make(variant, opponents="random"), 3))


@some
def test_an_illegal_action_changes_nothing(variant) -> None:
    env = make(variant, reward="shaped", render_mode="ansi", illegal_action="raise")
    mask = halfway(env)["action_mask"]
    before, twin = env.position.hash(), copy.deepcopy(env)
    for action in [-1, variant.num_actions, *np.flatnonzero(mask == 0)]:
        with pytest.raises(IllegalActionError, match=rf"action {action}\b"):
            env.step(action)
    for action in (None, 1.0, "0", [0], np.array([0])):
        with pytest.raises(TypeError, match=r"^an action must be an integer, not "):
            env.step(action)
    assert env.position.hash() == before
    assert plain(env.step(mask.argmax())) == plain(twin.step(int(mask.argmax())))


@three
def test_an_opponent_that_makes_an_illegal_action(variant) -> None:
    env = make(variant, opponents=lambda seen: int((seen["action_mask"] == 0).argmax()))
    with pytest.raises(IllegalActionError, match=r"^opponent <lambda> on seat [12]: action .* illegal for seat [12]"):
        play(env, 1)
    assert env.position.seat != env.seat
    before = env.position.hash()
    with pytest.raises(ResetNeeded, match=r"^an opponent was stopped before seat 0 could decide: call reset"):
        env.step(int(env.position.legal_actions()[0]))
    assert env.position.hash() == before, "the learner decided for an opponent"


@smallest
def test_all_seats_have_no_opponents(variant) -> None:
    with pytest.raises(ValueError, match="leave opponents out"):
        make(variant, seat="all", opponents="random")


@three
def test_an_opponent_that_chooses_no_action(variant) -> None:
    env = make(variant, opponents=lambda seen: None)
    with pytest.raises(TypeError, match=r"^the action of opponent <lambda> on seat [12] must be an integer, not"):
        play(env, 1)


@smallest
def test_calls_before_reset(variant) -> None:
    env = make(variant, render_mode="ansi")
    for call in (lambda: env.step(0), env.render, env.action_masks, lambda: env.position):
        with pytest.raises(ResetNeeded, match="reset"):
            call()
    env.close()


# ---------------------------------------------------------------- pictures


@some
def test_the_picture_is_what_the_learner_may_see(variant) -> None:
    env = make(variant, render_mode="ansi", seat=variant.num_players - 1)
    halfway(env)
    assert env.render() == variant.game.text(env.position.state, variant.num_players - 1)
    env = make(variant, render_mode="ansi", seat="all")
    halfway(env)
    assert env.render() == variant.game.text(env.position.state, None)
    assert make(variant).render() is None


@smallest
def test_every_way_to_draw(variant) -> None:
    for mode, check in {
        "ansi": lambda text: text.strip(),
        "svg": lambda text: ElementTree.fromstring(text).tag.endswith("svg"),
        "rgb_array": lambda image: image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3,
    }.items():
        env = make(variant, render_mode=mode)
        halfway(env)
        before = env.position.hash()
        assert check(env.render())
        assert env.position.hash() == before


# ---------------------------------------------------------------- other people's learners


@smallest
def test_maskable_ppo_learns_unchanged(variant, tmp_path) -> None:
    """sb3-contrib's learner takes the environment as it is, never makes an illegal action, and can be saved."""
    sb3 = pytest.importorskip("sb3_contrib")
    lock = threading.Lock()  # what cannot be pickled: a saved model must not hold the environment's opponents

    def opponent(seen):
        with lock:
            return int(seen["action_mask"].argmax())

    env = make(variant, opponents=opponent, reward="shaped")
    model = sb3.MaskablePPO("MultiInputPolicy", env, n_steps=128, batch_size=64, n_epochs=1, seed=1, device="cpu")
    start = [parameter.clone() for parameter in model.policy.parameters()]
    model.learn(384)
    assert model.num_timesteps == 384
    assert any((a != b).any() for a, b in zip(start, model.policy.parameters(), strict=True))
    model.save(tmp_path / "model")
    again = sb3.MaskablePPO.load(tmp_path / "model", env=make(variant))
    observed, info = env.reset(seed=1)
    for learner in (model, again):
        action, _ = learner.predict(observed, action_masks=info["action_mask"], deterministic=True)
        assert info["action_mask"][action]
