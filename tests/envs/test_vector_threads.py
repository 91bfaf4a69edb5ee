"""A vector environment and several Python threads, Ctrl-C, closing; what callers may do to arrays."""

import threading

import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode

from samurai_env.core.game import find_game, game_names
from samurai_env.envs import vector
from samurai_env.envs.vector import GameVectorEnv
from samurai_env.position import IllegalActionError
from tests.envs.test_vector import Chooser, advance, make

SMALLEST = [find_game(name).variant() for name in game_names()]
smallest = pytest.mark.parametrize("variant", SMALLEST, ids=lambda variant: variant.game.name)
own_threads = pytest.mark.parametrize("threads", [1, 2])


class Held(threading.Thread):
    """A thread that stays in the middle of a step of an environment until it is let go."""

    def __init__(self, env: GameVectorEnv, actions: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(daemon=True)
        self.env, self.actions, self.errors = env, actions, []
        self.inside, self.go = threading.Event(), threading.Event()
        finish = env._observed

        def observed() -> dict[str, np.ndarray]:
            self.inside.set()
            assert self.go.wait(20)
            return finish()

        monkeypatch.setattr(env, "_observed", observed)
        self.start()
        assert self.inside.wait(20)

    def run(self) -> None:
        try:
            self.env.step(self.actions)
        except Exception as error:
            self.errors.append(error)


@own_threads
@smallest
def test_while_a_thread_steps_others_are_refused(variant, threads, monkeypatch) -> None:
    env = make(variant, 4, threads=threads)
    actions = advance(env, 3)["action_mask"].argmax(1)
    saved = env.states.copy()
    held = Held(env, actions, monkeypatch)
    stepped = env.states.copy()
    for call in (
        lambda: env.step(actions),
        lambda: env.reset(seed=1),
        lambda: env.restore(saved),
        lambda: env.__getstate__(),
        env.close,
    ):
        with pytest.raises(RuntimeError, match="another thread uses this environment right now"):
            call()
    assert env.states.tobytes() == stepped.tobytes()
    held.go.set()
    held.join(20)
    assert not held.errors
    monkeypatch.undo()
    env.step(env._masks.argmax(1))
    env.close()


@own_threads
@smallest
def test_many_threads_never_leave_an_impossible_record(variant, threads) -> None:
    """Each steps with what it believes to be legal; games stay legal all the same."""
    env = make(variant, 64, threads=threads)
    env.reset(seed=0)
    wrong = []

    def play(number: int) -> None:
        choose = Chooser(64, number)
        for _ in range(30):
            try:
                env.step(choose(env._masks.copy()))
            except (IllegalActionError, RuntimeError):
                pass
            except BaseException as error:
                wrong.append(error)

    players = [threading.Thread(target=play, args=(number,)) for number in range(3)]
    for player in players:
        player.start()
    for player in players:
        player.join(60)
    assert not wrong
    variant.check(env.states)
    words = np.zeros_like(env._words)
    env._kernels.legal_words(env.states, words)
    assert np.array_equal(words, env._words)
    env.close()


@own_threads
@smallest
def test_after_close_every_call_says_so(variant, threads) -> None:
    env = make(variant, 3, threads=threads, render_mode="ansi")
    actions = advance(env, 1)["action_mask"].argmax(1)
    before = env.states.copy()
    env.close()
    env.close()
    for call in (
        *(lambda: env.step(actions), lambda: env.reset(seed=1), lambda: env.restore(before)),
        *(env.state, env.action_masks, env.render),
    ):
        with pytest.raises(ClosedEnvironmentError, match=r"^the environment is closed: make a new one$"):
            call()
    assert env.states.tobytes() == before.tobytes()
    unseen = make(variant, 3)
    unseen.close()
    with pytest.raises(ClosedEnvironmentError):
        unseen.render()


def test_too_many_threads_or_games() -> None:
    for arguments in ({"threads": 10**9}, {"threads": 257}, {"num_envs": 10**23}):
        with pytest.raises(
            ValueError, match=r"^num_envs must be at most 2,147,483,647 and threads 256, not \d+ and \d+$"
        ):
            GameVectorEnv("samurai", **{"num_envs": 3, **arguments})


@pytest.mark.parametrize("call", ["reset", "restore"])
@smallest
def test_an_interrupted_reset_asks_for_another(variant, call, monkeypatch) -> None:
    """Ctrl-C between the new games and what is legal in them: old actions must not be carried out in new games."""
    env = make(variant, 3)
    actions = advance(env, 4)["action_mask"].argmax(1)
    states = make(variant, 3)
    states.reset(seed=9)

    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(env, "_write_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        env.reset(seed=9) if call == "reset" else env.restore(states.states)
    monkeypatch.undo()
    with pytest.raises(ResetNeeded):
        env.step(actions)
    observed, _ = env.reset(seed=9)
    env.step(observed["action_mask"].argmax(1))


@smallest
def test_leaving_in_a_signal_handler_is_not_masked(variant, monkeypatch) -> None:
    """A handler that closes the environment and exits in the middle of a step: the exit gets through."""
    env = make(variant, 4, threads=2)
    actions = advance(env, 1)["action_mask"].argmax(1)
    worker = env._workers[0]

    def handler() -> int:
        env.close()
        worker._thread.join(5)
        raise SystemExit(3)

    monkeypatch.setattr(worker, "start", handler)
    with pytest.raises(SystemExit):
        env.step(actions)
    with pytest.raises(ClosedEnvironmentError):
        env.step(actions)


# ---------------------------------------------------------------- arrays


@smallest
def test_actions_beyond_int64(variant) -> None:
    """They are named as they were given; for finished games they are ignored like any."""
    env = make(variant, 3, autoreset_mode=AutoresetMode.DISABLED)
    legal = advance(env, 1)["action_mask"].argmax(1).astype(np.uint64)
    before = env.states.copy()
    for value in (2**63, 2**64 - 1):
        actions = legal.copy()
        actions[1] = value
        with pytest.raises(IllegalActionError, match=f"^game 1: there is no action {value}; actions are 0 to"):
            env.step(actions)
    assert env.states.tobytes() == before.tobytes()
    advance(env, variant.max_steps)
    env.step(np.full(3, 2**64 - 1, np.uint64))


@smallest
def test_masked_actions_are_refused(variant) -> None:
    env = make(variant, 3)
    legal = advance(env, 1)["action_mask"].argmax(1)
    before = env.states.copy()
    with pytest.raises(ValueError, match="actions must be a plain array, not a masked one"):
        env.step(np.ma.masked_array(legal, [False, True, False]))
    for actions in (legal.astype(object), np.zeros((3, 0), int), np.zeros(0, int), [True, False, True]):
        with pytest.raises(ValueError, match=r"^actions must be integers of shape \(3,\), not"):
            env.step(actions)
    assert env.states.tobytes() == before.tobytes()


@smallest
def test_actions_changed_by_another_thread_are_never_carried_out_unchecked(variant, monkeypatch) -> None:
    """What is checked is a copy."""
    env = make(variant, 3)
    actions = advance(env, 1)["action_mask"].argmax(1)
    expected = make(variant, 3)
    expected.restore(env.states)
    expected.step(actions.copy())
    check = vector.first_missing

    def first_missing(*arguments: object) -> int:
        found = check(*arguments)
        actions[:] = env.variant.num_actions - 1
        return found

    monkeypatch.setattr(vector, "first_missing", first_missing)
    env.step(actions)
    assert env.states.tobytes() == expected.states.tobytes()


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
@smallest
def test_flags_that_callers_wrote_into_do_not_stay(variant, mode) -> None:
    """As with masks: what a wrapper writes into `truncations` says nothing about the next step."""
    env, plain, choose = make(variant, 3, autoreset_mode=mode), make(variant, 3, autoreset_mode=mode), Chooser(3)
    observed, _ = env.reset(seed=3)
    plain.reset(seed=3)
    ended = 0
    while ended < 4:
        actions = choose(observed["action_mask"])
        observed, _, terminations, truncations, _ = env.step(actions)
        _, _, expected, cut, _ = plain.step(actions)
        assert np.array_equal(terminations, expected)
        assert np.array_equal(truncations, cut)
        ended += terminations.sum() + truncations.sum()
        terminations[:] = truncations[:] = True


@smallest
def test_what_is_no_record_or_seed(variant) -> None:
    env = make(variant, 3)
    advance(env, 2)
    before = env.states.copy()
    with pytest.raises(TypeError, match=r"^states must be a NumPy array of states, not list$"):
        env.restore(before.tolist())
    with pytest.raises(ValueError, match=r"^states must have shape \(3,\), one for each game, not \(3, 1\)"):
        env.restore(before.reshape(3, 1))
    for seed in (b"abc", "abc", np.array(2.5), 2.5):
        with pytest.raises(TypeError, match=r"^a seed must be an integer, not"):
            env.reset(seed=seed)
    assert env.states.tobytes() == before.tobytes()
    env.reset(seed=np.array(4))
    assert env.states["seed"].tolist() == [4, 5, 6]


@smallest
def test_restore_of_an_impossible_end_changes_nothing(variant, monkeypatch) -> None:
    """Whatever goes wrong while states are read goes wrong before a game has changed."""
    env = make(variant, 3, autoreset_mode="Disabled")
    advance(env, variant.max_steps)
    finished = env.states.copy()
    actions = env.reset(seed=1)[0]["action_mask"].argmax(1)
    before = env.states.copy()

    def fails(*arguments: object) -> None:
        raise ValueError("unreadable")

    monkeypatch.setattr("samurai_env.envs.vector.ending", fails)
    with pytest.raises(ValueError, match="unreadable"):
        env.restore(finished)
    assert env.states.tobytes() == before.tobytes()
    env.step(actions)
