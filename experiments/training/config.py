"""The settings of a PPO training run."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import torch

from agents.networks.layers import spatial_layers
from agents.networks.network import supports_bfloat16
from agents.registry import make_agent
from experiments.common.bounds import Between, Count, Seed, Share, Weight, Width, check_bounds
from experiments.common.cli import command_line, parse_options
from experiments.training.opponents import PAST, own_search
from samurai_env import make_variant
from samurai_env.envs.common import REWARDS


@dataclass
class Config:
    """Settings of a training run."""

    run: Path = Path("runs/ppo")
    """Folder for the network, checkpoints, curve and tensorboard files."""
    game: str = "samurai"
    """Name of the game."""
    num_players: int | None = None
    """Number of players; the game's smallest if not given."""
    options: tuple[str, ...] = ()
    """The game's options as name=value."""
    encoding: str | None = None
    """Encoding of observations; the game's default if not given."""
    reward: str = "result"
    """What a step pays: "result" or "shaped", as the environments have it; evaluations look at results alone."""
    hidden: Annotated[tuple[int, ...], Between(1, 2**16)] = (256, 256)
    """Widths of the hidden layers."""
    shared: Width = 0
    """Width of layers that read all villages (card game, "flat") with the same weights; 0 for none."""
    outlook: Width = 0
    """Width of layers that read what becomes of each action (card game, with --advised); 0 for none."""
    spatial: Width = 0
    """Width of layers that read places: convolutions with "planes", attention with "tokens"; 0 for none."""
    advised: bool = False
    """The network also reads the game's built-in advice, and begins as the built-in player with a temperature."""
    trust: Weight = 1.0
    """Weight of the advice at the start; at 1 the best advised action is taken every other time, with more oftener."""
    initial: Path | None = None
    """A network of the same form to begin with; one for fewer players may be the beginning of one for more."""
    total_steps: Annotated[int, Between(1, 10**12)] = 3_000_000
    """Decisions to learn from, over all games; the last update may go beyond."""
    num_envs: Count = 256
    """Games played at once."""
    num_steps: Count = 128
    """Decisions in each game between two updates."""
    minibatch: Count = 4096
    """Decisions in a gradient step."""
    epochs: Count = 2
    """How often each decision is learned from."""
    learning_rate: Weight = 1e-3
    """Adam's step size at the start; it falls linearly to a tenth."""
    entropy: Weight = 0.03
    """Weight of the entropy bonus at the start; it falls linearly to a fifth."""
    gae_lambda: Share = 0.95
    """Lambda of generalised advantage estimation; returns are not discounted."""
    clip: Weight = 0.2
    """How far the probability ratio may move."""
    value_weight: Weight = 0.5
    """Weight of the value loss."""
    values_only: bool = False
    """Learn nothing but what returns to expect: for a network, such as learn_playouts makes, that chooses without its
    hidden layers, and so keeps its choices."""
    max_grad_norm: Weight = 0.5
    """Gradients are scaled down to this norm."""
    averaging: Share = 0.998
    """Decay, a gradient step, of the running mean of the weights; that mean is what is evaluated and kept."""
    privileged: bool = False
    """A critic that sees what all seats see judges the positions while the network learns."""
    auxiliary: Weight = 0.0
    """Weight of an auxiliary target: the growth of each seat's progress that is still to come."""
    teacher: str = "greedy"
    """Agent whose decisions the network imitates at first; puct:100,net=self searches with the network itself."""
    teacher_steps: Annotated[int, Between(0, 10**12)] = 0
    """Decisions, of the total, in which the network learns from the teacher; 0 for pure self-play."""
    rivals: tuple[str, ...] = ()
    """Agents that play all seats but one in a share of the games, the network learning in that one; or past: itself."""
    rival_share: Share = 0.25
    """That share."""
    seed: Seed = 1
    """Seed of games, network and sampling: same seed, same network."""
    evaluate_every: Annotated[int, Between(0, 10**7)] = 10
    """Updates between two evaluations; 0 for none."""
    opponents: tuple[str, ...] = ("random", "greedy")
    """Whom the network plays in an evaluation; in a cooperative game it plays in every seat instead."""
    evaluate_deals: Annotated[int, Between(1, 10**5)] = 100
    """Deals of such an evaluation, each played from every seat (cooperative: once)."""
    checkpoint_every: Count = 20
    """Updates between two checkpoints."""
    resume: bool = False
    """Go on from the checkpoint in `run`."""
    precision: str = field(default_factory=lambda: "bfloat16" if supports_bfloat16() else "float32")
    """Numbers of matrix products: "bfloat16", the default on processors that multiply them, or "float32"."""
    device: str = field(default_factory=lambda: "cuda" if torch.cuda.is_available() else "cpu")
    """Where the network learns."""

    @property
    def command(self) -> str:
        """What begins a run with these settings."""
        return command_line("experiments.train_ppo", replace(self, resume=False))


def check(config: Config) -> None:
    """Refuse impossible settings before anything is written.

    Raises:
        ValueError: names the option.
    """
    check_bounds(config)
    if config.reward not in REWARDS:
        raise ValueError(f"--reward is {' or '.join(REWARDS)}, not {config.reward!r}")
    if not (config.clip > 0 and config.max_grad_norm > 0):
        raise ValueError("with --clip 0 or --max-grad-norm 0 nothing would be learned")
    if config.precision not in ("float32", "bfloat16"):
        raise ValueError(f"--precision is float32 or bfloat16, not {config.precision}")
    if not config.averaging < 1:
        raise ValueError(f"--averaging is a decay below 1, not {config.averaging}")
    variant = make_variant(config.game, config.num_players, **parse_options(config.game, config.options))
    encoding = variant.encoding_name(config.encoding)
    if config.shared and variant.encoding(encoding).entities is None:
        raise ValueError(f"--shared needs an encoding with things of one kind; {config.game} {encoding!r} has none")
    if config.spatial:
        spatial_layers(variant.encoding(encoding), config.spatial)
    if config.outlook and not config.advised:
        raise ValueError("--outlook needs --advised: it reads more of the same")
    if config.outlook and variant.game.kernels.action_features is None:
        raise ValueError(f"{config.game} has no outlook for --outlook to read")
    if config.values_only and config.initial is None:
        raise ValueError("--values-only is for a network that chooses already (--initial)")
    if config.trust != 1.0 and not (config.advised and config.initial is None):
        raise ValueError("--trust is the start of a new network with --advised")
    if PAST in (config.teacher, *config.opponents):
        raise ValueError(f"{PAST} is a rival (--rivals), no teacher and no opponent")
    if config.teacher != Config.teacher and not config.teacher_steps:
        raise ValueError(f"--teacher {config.teacher} needs --teacher-steps, in which the network learns from it")
    for spec in config.rivals:
        if spec.startswith(PAST + ":"):
            raise ValueError(f"the rival {PAST} stands alone, not as {spec!r}: all past selves are drawn from")
    for spec in (*config.opponents, *[spec for spec in config.rivals if spec != PAST]):
        make_agent(spec, variant)
    if own_search(config.teacher) is None:
        make_agent(config.teacher, variant)
    try:
        torch.zeros(1, device=config.device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"--device {config.device} cannot be used: {str(error).splitlines()[0]}") from None
