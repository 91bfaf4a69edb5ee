"""Train a network by self-play with PPO (Schulman et al., 2017) and action masks.

    python -m experiments.train_ppo --game samurai --num-players 2 --total-steps 3000000 --run runs/first

One network plays every seat of many games at once. It sees seat-relative observations and predicts the
return of every seat, so advantages are vectors and the learner works for any number of players and for
cooperation. Ctrl-C ends the update, saves and stops; --resume goes on exactly from there.
"""

import time
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from torch.utils.tensorboard import SummaryWriter

from agents.networks.agent import NetworkAgent
from agents.registry import make_agent
from experiments.common.cli import Interrupt, progress_bar, run_program
from experiments.evaluation.matches import team_win_rate, win_share_against
from experiments.training import checkpoint
from experiments.training.config import Config, check
from experiments.training.plot import caption, draw_curve
from experiments.training.ppo import Learner

CURVE_DEALS = 1_000_000  # the first deal of a curve: whoever picks a run by its curve is to be measured on others


def train(config: Config, console: Console) -> Learner:
    """Run the training that `config` describes; Ctrl-C saves and ends it."""
    check(config)
    torch.set_num_threads(max(1, min(torch.get_num_threads(), 4)))
    resumes = config.resume and checkpoint.has_begun(config.run)
    if config.resume and not resumes:
        console.print(f"the run in {config.run} ended before its first checkpoint: it starts again")
    elif not config.resume:
        refuse_folder(config.run)
    learner = Learner(config)
    if resumes:
        checkpoint.load(learner)
        done = learner.steps >= config.total_steps
        console.print(
            f"{config.run} is done, with {learner.steps:,} steps: a larger --total-steps goes on"
            if done
            else f"going on from {learner.steps:,} steps in {config.run}"
        )
    writer = None
    with Interrupt() as interrupt, progress_bar(console, "training", config.total_steps, learner.steps) as bar:
        while learner.steps < config.total_steps and not interrupt.asked:
            started = time.perf_counter()
            learner.collect()
            seen = learner.update()
            if not all(np.isfinite(value) for value in seen.values()):
                raise ValueError(f"training has diverged after {learner.steps:,} steps; try a lower --learning-rate")
            spent = time.perf_counter() - started
            learner.seconds += spent
            seen["steps_per_second"] = config.num_steps * config.num_envs / spent
            done = learner.steps >= config.total_steps
            if config.evaluate_every and (learner.updates % config.evaluate_every == 0 or done):
                seen |= evaluate(learner)
            # Not before: a start that fails leaves no folder.
            writer = writer or SummaryWriter(config.run, purge_step=learner.steps)
            for name, value in seen.items():
                writer.add_scalar(name, value, learner.steps)
            bar(learner.steps, describe(learner, seen))
            if any(name.startswith("win_") for name in seen) and not console.is_terminal:
                console.print(f"{learner.steps:,} steps: {describe(learner, seen)}")
            if learner.updates % config.checkpoint_every == 0 or done or interrupt.asked:
                checkpoint.save(learner)
    if writer:
        writer.close()
    if interrupt.asked:
        console.print(f"stopped at {learner.steps:,} steps; the same command with --resume goes on from here")
    else:
        console.print(f"the network is {config.run / 'model.safetensors'}; as an agent: ppo:{config.run}")
    if learner.curve:
        draw_curve(learner.curve, f"{config.run.name}: {learner.variant.spec}", config.run / "curve.png")
    return learner


def refuse_folder(run: Path) -> None:
    """Refuse to begin a run where there is one.

    Raises:
        ValueError: the folder holds a checkpoint or a network.
    """
    if checkpoint.checkpoint_file(run).exists():
        raise ValueError(f"{run} already holds a run: add --resume to go on, or choose another --run")
    if (run / "model.safetensors").exists():
        raise ValueError(f"{run} already holds a network, without a checkpoint to go on from: choose another --run")


def evaluate(learner: Learner) -> dict[str, float]:
    """How often the network's most probable actions win, against each opponent or together; a point of the curve."""
    net, point = NetworkAgent(learner.variant, learner.mean_net), {}
    cooperative = learner.variant.game.cooperative
    if cooperative:
        point["win_rate"] = team_win_rate(learner.variant, net, learner.config.evaluate_deals, CURVE_DEALS)
    for spec in () if cooperative else learner.config.opponents:
        agents = [net, make_agent(spec, learner.variant)]
        point[f"win_share_{spec}"] = win_share_against(
            learner.variant, agents, learner.config.evaluate_deals, CURVE_DEALS
        )
    learner.curve.append({"steps": learner.steps, "seconds": round(learner.seconds, 1), **point})
    return point


def describe(learner: Learner, seen: dict[str, float]) -> str:
    """One line for the progress bar."""
    last = learner.curve[-1] if learner.curve else {}
    shares = [f"{caption(name)} {last[name]:.0%}" for name in last if name.startswith("win_")]
    beaten = f", wins {', '.join(shares)}" if shares else ""
    return f"{seen['steps_per_second']:,.0f} steps/s, entropy {seen['entropy']:.2f}{beaten}"


if __name__ == "__main__":
    run_program("experiments.train_ppo", Config, lambda config: train(config, Console()), __doc__)
