"""The games as TextArena environments (package `textarena`, imported only here).

For example:

    import textarena
    from samurai_env.language.textarena_env import register

    register()
    env = textarena.make("Samurai-v0")
    env.reset(num_players=2, seed=1)
"""

from typing import Any

from samurai_env.core.checks import checked_count
from samurai_env.core.game import find_game
from samurai_env.core.rng import Seeds
from samurai_env.core.texts import install_hint
from samurai_env.language.text_env import TextEnv

with install_hint("textarena"):
    import textarena
    from textarena import ObservationType
    from textarena.envs.registration import ENV_REGISTRY

IDS = {"Samurai-v0": "samurai", "SamuraiCard-v0": "samurai_card", "SamuraiSpirit-v0": "samurai_spirit"}


class SamuraiTextArena(textarena.Env):
    """One of the games, for TextArena's loop of `get_observation` and `step`.

    A player gets the rules once, then the position before each decision. A reply that is no legal move is refused with
    the mistake; after `retries` of them in a row a random legal action is played.
    """

    def __init__(self, game: str = "samurai", list_legal: bool = True, retries: int = 2, **options: Any) -> None:
        """Choose the game; players and seed come with `reset`.

        Raises:
            ValueError: unknown game or option.
        """
        self._game, self._options = find_game(game), options
        self._list_legal, self._retries = list_legal, checked_count("retries", retries)
        self._seeds = Seeds()

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Begin a game; without a seed another one each time, which follows from the last seed.

        Raises:
            TypeError: the seed is not an integer.
            ValueError: impossible number of players or seed.
        """
        variant = self._game.variant(num_players, **self._options)
        self._env = TextEnv(variant, self._seeds.next(seed), self._list_legal, self._retries)
        self.state = textarena.State(num_players=num_players)
        self.state.standard_resets(
            game_state={},
            role_mapping={seat: f"Player {seat}" for seat in range(num_players)},
            player_prompt_function=lambda player_id, game_state: self._env.rules(),
        )
        self._announce()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Make the move of a reply; whether the game has ended, and what became of the reply."""
        env, state = self._env, self.state
        reply = env.reply(action)
        state.game_info[reply.seat]["turn_count"] += 1
        if not reply.accepted:
            state.game_info[reply.seat]["invalid_move"] |= reply.forced  # a slip that is put right does not count
            state.add_observation(reply.feedback, ObservationType.GAME_ADMIN, to_id=reply.seat)
        state.step_info = {"accepted": reply.accepted, "move": reply.move, "feedback": reply.feedback}
        if env.over:
            state.done = True
            state.rewards = dict(enumerate(env.position.returns().tolist()))
            return True, state.step_info
        self._announce()
        return state.step()

    def _announce(self) -> None:
        """Show the position to the player who decides."""
        self.state.current_player_id = self._env.seat
        prompt = self._env.prompt(rules=False)
        self.state.add_observation(prompt, ObservationType.GAME_BOARD, to_id=self._env.seat)


def register() -> None:
    """Make the games known to `textarena.make`; those that are known already stay."""
    for name, game in IDS.items():
        if name not in ENV_REGISTRY:
            textarena.register(id=name, entry_point=f"{__name__}:{SamuraiTextArena.__name__}", game=game)
