"""The games as TextArena environments."""

import random

import pytest

textarena = pytest.importorskip("textarena", reason="needs the package textarena")


@pytest.mark.parametrize(("name", "players"), [("Samurai-v0", 3), ("SamuraiCard-v0", 2), ("SamuraiSpirit-v0", 4)])
def test_a_random_game(name: str, players: int) -> None:
    from samurai_env.language.textarena_env import register

    register()
    register()
    env, rng, done = textarena.make(name), random.Random(5), False
    env.reset(num_players=players, seed=2)
    seen = set()
    while not done:
        player, observation = env.get_observation()
        text = "\n".join(message for _, message, _ in observation)
        assert ("Goal:" in text) == (player not in seen)  # the rules come once
        seen.add(player)
        legal = text.rpartition("Legal now: ")[2].splitlines()[0].split(", ")
        done, info = env.step(f"move: {rng.choice(legal)}")
        assert info["accepted"]
    rewards, game_info = env.close()
    assert set(rewards) == set(game_info) == set(range(players))
    assert not any(player["invalid_move"] for player in game_info.values())


def test_a_mistake_is_told_to_its_player_only() -> None:
    from samurai_env.language.textarena_env import SamuraiTextArena

    env = SamuraiTextArena("samurai_card")
    env.reset(num_players=2, seed=2)
    env.get_observation()
    done, info = env.step("move: Z9")
    assert (done, info["accepted"]) == (False, False)
    player, observation = env.get_observation()
    assert player == 0
    assert any("Z9" in message for _, message, _ in observation)
    assert not env.state.game_info[0]["invalid_move"]  # one mistake may be put right
    assert all("Z9" not in message for _, message, _ in env.state.observations[1])
    env.step("move: Z9")
    env.step("move: Z9")  # the last retry: a random action is played
    assert env.state.game_info[0]["invalid_move"]


def test_without_a_seed_each_game_is_another() -> None:
    from samurai_env.language.textarena_env import SamuraiTextArena

    env, seeds = SamuraiTextArena("samurai_card"), []
    for seed in (None, None, 7, None, 7, None):
        env.reset(num_players=2, seed=seed)
        seeds.append(env._env.seed)
    assert len(set(seeds)) == 4
    assert seeds[2:4] == seeds[4:6]
