"""The public entry points: each with arguments that are right, of which the campaign replaces some.

A entry point's parameters are those of its signature; what is right for each is made again for every call.
"""

import inspect
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agents.arena import play_games
from agents.heuristics import ActionFeatures
from agents.networks.sampling import sample
from agents.registry import make_agent
from experiments.evaluation.matches import cooperative_win_rate, one_against_others, rotations, win_share_against
from samurai_env import find_game, make_variant, parse_variant
from samurai_env.agent_api import decision_keys
from samurai_env.core.bits import pick_legal
from samurai_env.core.game import Variant
from samurai_env.envs.aec import GameAEC
from samurai_env.envs.common import Seeds
from samurai_env.envs.gae import gae_by_seat
from samurai_env.envs.learner import LearnerVectorEnv
from samurai_env.envs.make_vec import make_vector_env
from samurai_env.envs.single import GameEnv
from samurai_env.envs.vector import GameVectorEnv
from samurai_env.game_batch import GameBatch
from samurai_env.game_record import GameRecord
from samurai_env.language.sessions import GameSessions
from samurai_env.language.text_env import TextEnv
from samurai_env.perft import perft, walk
from samurai_env.position import Position
from samurai_env.state_dict import json_schema
from tests.common.positions import play_random, stream

Right = dict[str, Callable[[], Any]]
PLAYERS = ["random", "greedy", "lookahead", "mcts:4", "flat_mc:2", "rollout:1", "untrained"]
# Objects of the project, not values: whoever hands in something else gets Python's own error.
OBJECTS = ("variant", "position", "agent", "agents", "environment")


@dataclass
class EntryPoint:
    """A public function.

    Attributes:
        name: for reports.
        call: the function.
        right: makes the right value of each parameter.
        check: takes what the call gave and the arguments; raises AssertionError if it is not valid.
        unchanged: what must be equal before and after a refused call.
        counts: parameters that take memory, for which large numbers are right.
    """

    name: str
    call: Callable[..., Any]
    right: Right
    check: Callable[[Any, dict[str, Any]], None] = lambda given, arguments: None
    unchanged: Callable[[], Any] = lambda: None
    counts: tuple[str, ...] = ()
    fuzzed: list[str] = field(init=False)

    def __post_init__(self) -> None:
        named = inspect.signature(self.call).parameters.values()
        takes = [p.name for p in named if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
        more = set(self.right) - set(takes)
        assert not more or any(p.kind is p.VAR_KEYWORD for p in named), f"{self.name} takes no {more}"
        missing = [name for name in takes if name not in self.right]
        assert not missing, f"{self.name}: no right value for {missing}"
        self.fuzzed = [name for name in self.right if name not in OBJECTS]


def all_entry_points(rng: random.Random) -> Iterator[EntryPoint]:
    """The entry points, with objects in random states; over and over for others."""
    for variant in (make_variant("samurai", 2), make_variant("samurai_card", 2), make_variant("samurai_spirit", 3)):
        yield from of_positions(variant, rng)
        yield from of_variants(variant)
        yield from of_batches(variant, rng)
        yield from of_environments(variant, rng)
        yield from of_learners(variant, rng)
        yield from of_texts(variant, rng)
    yield from of_agents(make_variant("samurai_card", 2), rng)


def some_position(variant: Variant, rng: random.Random) -> Position:
    """A position of a random game, sometimes its last."""
    return play_random(Position(variant, rng.randrange(2**63)), rng, rng.choice([0, 3, 20, 60, 10**9]))


def of_positions(variant: Variant, rng: random.Random) -> Iterator[EntryPoint]:
    """Positions and records of games."""
    position = some_position(variant, rng)
    record = GameRecord(variant, rng.randrange(2**63))
    seat, seed, key = (lambda: 0), (lambda: 3), (lambda: stream(1))
    end = play_random(Position(variant, 1), rng)

    def legal(given: Any, arguments: dict[str, Any]) -> None:
        variant.check(position.states)

    def written(given: Any, arguments: dict[str, Any]) -> None:
        assert given.dtype == np.int8
        if arguments["out"] is not None:
            assert given is arguments["out"]

    def of_position(name: str, right: Right, check: Any = legal, function: Any = None) -> EntryPoint:
        call = function or getattr(position, name)
        return EntryPoint(f"Position.{name} [{variant}]", call, right, check, position.hash)

    def determinized(given: Position, arguments: dict[str, Any]) -> None:
        variant.check(given.states)
        assert np.array_equal(given.observe(int(arguments["seat"])), position.observe(int(arguments["seat"])))

    yield EntryPoint(f"Position [{variant}]", Position, {"variant": lambda: variant, "seed": seed})
    yield of_position("legal_mask", {"out": lambda: np.zeros(variant.num_actions, np.int8)}, written)
    for name in variant.game.encodings:
        shape = variant.encoding(name).shape
        right: Right = {"seat": seat, "encoding": lambda n=name: n, "out": lambda s=shape: np.zeros(s, np.int8)}
        yield of_position("observe", right, written)
    yield of_position("determinized", {"seat": seat, "rng": key}, determinized)
    yield of_position("step", {"action": lambda: (position.legal_actions() or [0])[0]})
    yield of_position("reset", {"seed": seed})
    yield EntryPoint(
        "GameRecord.append", record.append, {"action": lambda: (record.position.legal_actions() or [0])[0]}
    )
    right = {"variant": lambda: variant, "seed": seed, "tags": lambda: {"a": "b"}, "start": lambda: None}
    yield EntryPoint("GameRecord", GameRecord, right)
    right = {"variant": lambda: variant, "seed": seed, "actions": list, "tags": dict, "start": lambda: None}
    yield EntryPoint("GameRecord.from_actions", GameRecord.from_actions, right)
    right = {"seat": seat, "encoding": lambda: None}
    yield of_position("to_dict", right)
    yield EntryPoint("json_schema", json_schema, {"variant": lambda: variant, "encoding": lambda: None})
    yield EntryPoint("Position.restore", Position.restore, {"data": position.save})
    yield EntryPoint("GameRecord.parse", GameRecord.parse, {"text": record.to_text})
    yield EntryPoint("perft", perft, {"position": lambda: end, "depth": lambda: 1})
    yield EntryPoint("walk", walk, {"position": position.clone, "plies": lambda: 2})
    game = variant.game
    shown: Right = {"state": lambda: position.state, "viewer": lambda: None}
    yield EntryPoint(f"text [{variant}]", game.text, shown)
    yield EntryPoint(f"scene [{variant}]", game.scene, {**shown, "last": tuple})


def of_variants(variant: Variant) -> Iterator[EntryPoint]:
    """What is fixed before a game begins."""
    game, states = variant.game, np.concatenate([Position(variant, seed).states for seed in range(3)])
    options: Right = {name: (lambda v=value: v) for name, value in variant.options.items()}
    players = lambda: variant.num_players  # noqa: E731
    yield EntryPoint(f"{game.name}.variant", game.variant, {"num_players": players, "preset": lambda: None, **options})
    yield EntryPoint(
        "make_variant",
        make_variant,
        {"game": lambda: game.name, "num_players": players, "preset": lambda: None, **options},
    )
    yield EntryPoint("find_game", find_game, {"name": lambda: game.name})
    yield EntryPoint("parse_variant", parse_variant, {"spec": lambda: variant.spec})
    for method in (variant.encoding, variant.encoding_name):
        yield EntryPoint(f"Variant.{method.__name__}", method, {"name": lambda: None})
    yield EntryPoint("Variant.new", variant.new, {"count": lambda: 2}, counts=("count",))
    yield EntryPoint("Variant.check", variant.check, {"states": lambda: states})
    encoding, seen = variant.encoding(), Position(variant).observe(0)
    block = encoding.blocks[0].name
    yield EntryPoint("Encoding.view", encoding.view, {"observation": lambda: seen, "name": lambda: block})


def of_batches(variant: Variant, rng: random.Random) -> Iterator[EntryPoint]:
    """The rules over arrays of states."""
    batch, positions = GameBatch(variant), [Position(variant), *(some_position(variant, rng) for _ in range(2))]
    states = np.concatenate([position.states for position in positions])
    running = states[states["over"] == 0]
    choices = [choice_of(states[i : i + 1], variant) for i in np.flatnonzero(states["over"] == 0)]
    given = {"states": states.copy, "running": running.copy}
    actions, seats, key = (lambda: np.array(choices)), (lambda: states["seat"].astype(np.int64)), (lambda: stream(1))
    every: dict[str, Right] = {
        "clone": {"states": given["states"]},
        "legal_masks": {"states": given["states"]},
        "first_illegal": {"states": given["running"], "actions": actions},
        "step": {"states": given["running"], "actions": actions},
        "observe": {"states": given["states"], "seats": seats, "encoding": lambda: None},
        "returns": {"states": given["states"]},
        "potential": {"states": given["states"]},
        "policy_logits": {"states": given["running"]},
        "determinize": {"states": given["states"], "rng": key, "seats": seats},
        "play_random": {"states": given["running"], "rng": key, "steps": lambda: 2},
    }

    def sound(given: Any, arguments: dict[str, Any]) -> None:
        if np.size(states := arguments["states"]):
            variant.check(states)

    yield EntryPoint("GameBatch.reset", batch.reset, {"seeds": lambda: np.array([1, 2, 3])})
    for name, right in every.items():
        counts = ("steps",) if name == "play_random" else ()
        yield EntryPoint(f"GameBatch.{name} [{variant}]", getattr(batch, name), right, sound, counts=counts)


def of_environments(variant: Variant, rng: random.Random) -> Iterator[EntryPoint]:
    """The three kinds of environment."""
    name, seed = variant.game.name, lambda: 3
    common: Right = {
        "game": lambda: name,
        "num_players": lambda: variant.num_players,
        "encoding": lambda: None,
        "reward": lambda: "result",
        "observation": lambda: "dict",
    }
    render: Right = {"render_mode": lambda: None}
    aec = GameAEC(name, variant.num_players)
    single = GameEnv(name, variant.num_players, illegal_action="raise")
    vector = GameVectorEnv(name, 3, variant.num_players)
    aec.reset(seed=rng.randrange(2**63))
    single.reset(seed=rng.randrange(2**63))
    vector.reset(seed=5)
    states, mask = vector.states.copy(), np.ones(3, bool)

    def choice(given: Position) -> Callable[[], int]:
        return lambda: (given.legal_actions() or [0])[0]

    def told(given: Any, arguments: dict[str, Any]) -> None:
        variant.check(vector.states)

    yield EntryPoint("GameAEC", GameAEC, {**common, **render, "viewer": lambda: None})
    learner: Right = {"opponents": lambda: "random", "seat": lambda: 0, "illegal_action": lambda: "raise"}
    yield EntryPoint("GameEnv", GameEnv, {**common, **render, **learner})
    shared: Right = {
        "num_envs": lambda: 2,
        "autoreset_mode": lambda: "SameStep",
        "threads": lambda: 1,
        "copy": lambda: False,
    }
    yield EntryPoint("GameVectorEnv", GameVectorEnv, {**common, **render, **shared}, counts=("num_envs", "threads"))
    yield EntryPoint("GameAEC.step", aec.step, {"action": lambda: choice(aec.position)()})
    yield EntryPoint("GameAEC.observe", aec.observe, {"agent": lambda: "player_0"})
    yield EntryPoint("GameAEC.reset", aec.reset, {"seed": seed, "options": lambda: None})
    yield EntryPoint("GameEnv.step", single.step, {"action": lambda: choice(single.position)()})
    yield EntryPoint("GameEnv.reset", single.reset, {"seed": seed, "options": lambda: None})
    actions = lambda: np.array([choice_of(vector.states[i : i + 1], variant) for i in range(3)])  # noqa: E731
    yield EntryPoint("GameVectorEnv.step", vector.step, {"actions": actions}, told, vector.states.tobytes)
    right: Right = {"seed": lambda: np.array([1, 2, 3]), "options": lambda: {"reset_mask": mask}}
    yield EntryPoint("GameVectorEnv.reset", vector.reset, right, told, vector.states.tobytes)
    masks: Right = {"seed": lambda: None, "mask": lambda: mask}
    yield EntryPoint(
        "reset_mask", lambda seed, mask: vector.reset(seed=seed, options={"reset_mask": mask}), masks, told
    )
    yield EntryPoint("GameVectorEnv.restore", vector.restore, {"states": lambda: states}, told, vector.states.tobytes)
    yield EntryPoint("Seeds.next", Seeds().next, {"seed": seed})


def of_learners(variant: Variant, rng: random.Random) -> Iterator[EntryPoint]:
    """Environments with one learner a game, and advantages over the seats."""
    name, players = variant.game.name, variant.num_players
    env = LearnerVectorEnv(name, 3, players, opponents="random", seat=rng.choice(["random", "rotate", 0]))
    env.reset(seed=rng.randrange(2**60))
    states = env.states.copy()

    def told(given: Any, arguments: dict[str, Any]) -> None:
        variant.check(env.states)

    made: Right = {
        "game": lambda: name,
        "num_envs": lambda: 2,
        "opponents": lambda: "greedy",
        "seat": lambda: "rotate",
        "device": lambda: "cpu",
        "num_players": lambda: players,
        "observation": lambda: "box",
        "threads": lambda: 1,
    }
    yield EntryPoint("make_vector_env", make_vector_env, made, counts=("num_envs", "threads"))
    actions = lambda: np.array([choice_of(env.states[i : i + 1], variant) for i in range(3)])  # noqa: E731
    yield EntryPoint("LearnerVectorEnv.step", env.step, {"actions": actions}, told, env.states.tobytes)
    right: Right = {"seed": lambda: np.array([1, 2, 3]), "options": dict}
    yield EntryPoint("LearnerVectorEnv.reset", env.reset, right, told, env.states.tobytes)
    yield EntryPoint("LearnerVectorEnv.restore", env.restore, {"states": lambda: states}, told, env.states.tobytes)
    steps: Right = {
        "rewards": lambda: np.zeros((4, 2, 3)),
        "dones": lambda: np.zeros((4, 2), bool),
        "seats": lambda: np.ones((4, 2), np.int64),
        "values": lambda: np.zeros((4, 2)),
        "next_values": lambda: np.zeros((2, 3)),
        "gamma": lambda: 0.9,
        "gae_lambda": lambda: 0.9,
        "ignored": lambda: None,
    }
    yield EntryPoint("gae_by_seat", gae_by_seat, steps)


def of_texts(variant: Variant, rng: random.Random) -> Iterator[EntryPoint]:
    """Games that are played by text."""
    env = TextEnv(variant, rng.randrange(2**60))
    sessions = GameSessions()
    game = sessions.new_game(variant.spec)["game"]
    yield EntryPoint(
        "TextEnv",
        TextEnv,
        {"variant": lambda: variant, "seed": lambda: 1, "list_legal": lambda: True, "retries": lambda: 2},
    )
    yield EntryPoint("TextEnv.reset", env.reset, {"seed": lambda: 3})
    yield EntryPoint("TextEnv.observation", env.observation, {"seat": lambda: 0})
    yield EntryPoint("TextEnv.prompt", env.prompt, {"rules": lambda: True})
    yield EntryPoint(
        "TextEnv.reply", env.reply, {"text": lambda: "move: " + (env.legal() if not env.over else ["end"])[0]}
    )
    new: Right = {"variant": lambda: variant.spec, "seed": lambda: 1, "seat": lambda: 0}
    yield EntryPoint("GameSessions.new_game", GameSessions().new_game, new)
    yield EntryPoint("GameSessions.state", sessions.state, {"game": lambda: game})
    yield EntryPoint("GameSessions.move", sessions.move, {"game": lambda: game, "move": lambda: "?"})


def choice_of(states: np.ndarray, variant: Variant) -> int:
    """A legal action of the first of some games."""
    position = Position(variant)
    position.states[:] = states[:1]
    return (position.legal_actions() or [0])[0]


def of_agents(variant: Variant, rng: random.Random) -> Iterator[EntryPoint]:
    """Players and what they are made of; one that chooses is held to legal actions."""
    positions = [play_random(Position(variant, rng.randrange(2**63)), rng, rng.randrange(20)) for _ in range(3)]
    states, keys = np.concatenate([p.states for p in positions]), np.arange(3, dtype=np.uint64)
    right: Right = {"states": lambda: states, "keys": lambda: keys}

    def legal(given: np.ndarray, arguments: dict[str, Any]) -> None:
        position = Position(variant)
        for state, action in zip(arguments["states"], given, strict=True):
            position.states[0] = state
            position.step(action)

    for spec in PLAYERS:
        yield EntryPoint(f"{spec}.act", make_agent(spec, variant).act, right, legal, states.tobytes)
    yield EntryPoint("search", make_agent("mcts:4", variant).search, right)
    yield EntryPoint("action_values", make_agent("rollout:1", variant).action_values, right)
    yield EntryPoint("evaluate", make_agent("untrained", variant).evaluate, {"states": lambda: states})
    for quick in (False, True):
        compute = ActionFeatures(variant, quick).compute
        yield EntryPoint("ActionFeatures.compute", compute, {"states": lambda: states}, unchanged=states.tobytes)
    agents = lambda: [make_agent("random", variant)]  # noqa: E731
    seats, seeds = (lambda: np.zeros((2, 2), np.int64)), (lambda: np.array([1, 2], np.uint64))
    yield EntryPoint(
        "play_games", play_games, {"variant": lambda: variant, "agents": agents, "seating": seats, "seeds": seeds}
    )
    two = lambda: [make_agent("random", variant), make_agent("greedy", variant)]  # noqa: E731
    played: Right = {"variant": lambda: variant, "agents": two, "first": lambda: 0, "deals": lambda: 1}
    many = ("deals",)
    yield EntryPoint("one_against_others", one_against_others, played, counts=many)
    yield EntryPoint("win_share_against", win_share_against, played, counts=many)
    team: Right = {"variant": lambda: variant, "agent": lambda: agents()[0], "first": lambda: 0, "deals": lambda: 1}
    yield EntryPoint("cooperative_win_rate", cooperative_win_rate, team, counts=many)
    steps: Right = {"seeds": lambda: keys, "steps": lambda: states["steps"].copy(), "salt": lambda: 1}
    yield EntryPoint("decision_keys", decision_keys, steps)
    picked: Right = {"rng": lambda: stream(1), "actions": lambda: np.zeros(3, np.int64)}
    masks = lambda: np.stack([p.legal_mask() for p in positions])  # noqa: E731

    def chosen(given: None, arguments: dict[str, Any]) -> None:
        rows = np.asarray(arguments.get("masks", arguments.get("probabilities")))
        assert (rows[np.arange(len(rows)), np.asarray(arguments["actions"])] > 0).all()

    yield EntryPoint("pick_legal", pick_legal, {"masks": masks, **picked}, chosen)
    chances = lambda: masks() / masks().sum(1, keepdims=True, dtype=np.float32)  # noqa: E731
    yield EntryPoint("sample", sample, {"probabilities": chances, **picked}, chosen)
    yield EntryPoint("rotations", rotations, {"num_players": lambda: 3}, counts=("num_players",))
    yield EntryPoint("make_agent", make_agent, {"spec": lambda: "greedy", "variant": lambda: variant})
