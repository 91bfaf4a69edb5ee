"""Datasets as Minari episodes: what each seat saw, did and got, as in the single-agent environments."""

import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium import spaces
from minari import MinariDataset, create_dataset_from_buffers
from minari.data_collector import EpisodeBuffer
from minari.storage.datasets_root_dir import get_dataset_path

from experiments.datasets.reader import Dataset
from samurai_env.core.texts import one_line
from samurai_env.envs.common import ending
from samurai_env.envs.spaces import observation_space


def export(dataset: Dataset, dataset_id: str) -> MinariDataset:
    """Write a dataset into Minari's folder (`MINARI_DATASETS_PATH`), an episode for each seat of each game.

    Observations are `{"observation", "action_mask"}`, the last is that of the finished game. The reward is the seat's
    return at its last decision, and 0 before.

    Args:
        dataset: the games.
        dataset_id: what Minari calls it, such as "samurai/greedy-v0".

    Raises:
        ValueError: Minari has such a dataset, or refuses the id.
    """
    forms: dict[str, Any] = {
        "observation_space": observation_space(dataset.variant, dataset.origin.encoding),
        "action_space": spaces.Discrete(dataset.variant.num_actions),
        "algorithm_name": ", ".join(dataset.origin.names),
        "description": f"{dataset.variant.spec}; {dataset.games:,} games, an episode for each seat",
        "data_format": "arrow",
    }
    made: MinariDataset | None = None
    folder = get_dataset_path(dataset_id)
    ours = not folder.exists()
    try:
        for number in range(dataset.shards):
            buffers = list(episodes(dataset, number))
            if made is None:
                made = create_dataset_from_buffers(dataset_id, buffers, **forms)
            else:
                made.storage.update_episodes(buffers)
    except BaseException as error:
        if ours and folder.exists():  # a dataset that lacks games would look whole, and keep its name from a whole one
            shutil.rmtree(folder)
        if isinstance(error, ValueError):
            raise ValueError(one_line(error)) from None
        raise
    assert made is not None
    return MinariDataset(made.storage.data_path)


def episodes(dataset: Dataset, number: int) -> Iterator[EpisodeBuffer]:
    """The episodes of a shard, in order of game and seat."""
    players, texts = dataset.variant.num_players, dataset.record_texts(number)
    for place, (game, rows) in enumerate(dataset.by_game(number)):
        end = dataset.parsed(number, place, texts[place]).position
        cut_off = ending(dataset.variant, end.state)[1]
        for seat in range(players):
            own = {name: array[rows["seat"] == seat] for name, array in rows.items()}
            if not (count := len(own["action"])):
                continue
            last, over = end.observe(seat, dataset.origin.encoding), np.arange(count) == count - 1
            yield EpisodeBuffer(
                id=game * players + seat,
                seed=dataset.origin.deal(game),
                observations={
                    "observation": np.concatenate([own["observation"], last[None]]),
                    "action_mask": np.concatenate([own["action_mask"], np.zeros_like(own["action_mask"][:1])]),
                },
                actions=own["action"],
                rewards=np.where(over, own["return"], 0.0).tolist(),
                terminations=(over & (not cut_off)).tolist(),
                truncations=(over & cut_off).tolist(),
            )
