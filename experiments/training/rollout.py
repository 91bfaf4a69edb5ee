"""What a PPO update learns from, and the returns that are reckoned from it."""

from dataclasses import dataclass

import torch


@dataclass
class Batch:
    """Some decisions in each of many games; time first, then games. `None`: large, and not needed in the run."""

    observations: torch.Tensor  # int8 (T, N, ...)
    masks: torch.Tensor  # int8 (T, N, actions)
    looks: torch.Tensor | None  # float32 (T, N, actions, columns), for an advised network
    together: torch.Tensor | None  # int8 (T, N, players, ...), what all seats see, for the privileged critic
    actions: torch.Tensor  # int64 (T, N)
    wanted: torch.Tensor | None  # bfloat16 (T, N, actions), the teacher's choice as probabilities
    log_probs: torch.Tensor  # float32 (T, N)
    values: torch.Tensor  # float32 (T + 1, N, players), by seat
    rewards: torch.Tensor  # float32 (T, N, players), by seat
    growths: torch.Tensor  # float32 (T, N, players), by seat: of the game's `potential`
    forecasts: torch.Tensor  # float32 (T + 1, N, players), by seat: growth that the network expects to come
    dones: torch.Tensor  # bool (T, N)
    seats: torch.Tensor  # int64 (T, N)
    learned: torch.Tensor  # bool (T, N): the network, or its teacher, decided
    imitated: bool = False  # the actions are the teacher's


def by_seat(values: torch.Tensor, seats: torch.Tensor, sign: int) -> torch.Tensor:
    """Turn player-relative vectors into vectors by seat (sign -1), or back (sign 1); last axis players."""
    players = values.shape[-1]
    index = (torch.arange(players) + sign * seats[..., None]) % players
    return values.gather(-1, index)


def advantages(rewards: torch.Tensor, values: torch.Tensor, dones: torch.Tensor, lam: float) -> torch.Tensor:
    """Generalised advantages of every seat (Schulman et al., 2016), undiscounted.

    Args:
        rewards: float32 (T, N, players).
        values: float32 (T + 1, N, players), expected returns before each decision and after the last.
        dones: bool (T, N), the game ended with the decision.
        lam: lambda.

    Returns:
        float32 (T, N, players).
    """
    out, following = torch.zeros_like(rewards), torch.zeros_like(rewards[0])
    for t in reversed(range(len(rewards))):
        goes_on = (~dones[t]).float()[:, None]
        error = rewards[t] + goes_on * values[t + 1] - values[t]
        following = error + lam * goes_on * following
        out[t] = following
    return out
