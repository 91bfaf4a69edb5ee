"""Train a network by self-play with PPO (Schulman et al., 2017) and action masks.

    python -m experiments.train_ppo --game samurai players=2 --total-timesteps 3000000 --run runs/first

One network plays every seat of many games at once; the method is `experiments.training.ppo`. Ctrl-C finishes the
update, saves and stops; --resume continues exactly from there. With --minutes the run has its length by the clock, and
a run is not reproducible bit for bit.
"""

import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from torch.utils.tensorboard import SummaryWriter

from experiments.common.cli import progress_bar, run_program
from experiments.common.interrupts import Interrupt
from experiments.training import checkpoint
from experiments.training.actors import new_learner
from experiments.training.config import Config, check, flag_hints, with_named_agents
from experiments.training.curve import caption, draw_curve, evaluate
from experiments.training.learner import Learner

EVALUATIONS = 10  # by default, beside the one at the start


def train(config: Config, console: Console, interrupt: Interrupt | None = None) -> Learner:
    """Run the training that `config` describes; Ctrl-C (or `interrupt`, if given) saves and ends it."""
    check(config)
    config = with_named_agents(config)
    torch.set_num_threads(max(1, min(torch.get_num_threads(), 4)))
    resumes = config.resume and checkpoint.has_begun(config.run)
    if config.resume and not resumes:
        console.print(f"the run in {config.run} ended before its first checkpoint: it starts again")
    elif not config.resume:
        refuse_folder(config.run)
    learner = new_learner(config, resumes)
    if resumes:
        checkpoint.load(learner)
        done, total = learner.length()
        console.print(
            f"{config.run} is done, with {learner.steps:,} steps: a larger --total-timesteps or --minutes continues it"
            if done >= total
            else f"going on from {learner.steps:,} steps in {config.run}"
        )
    writer = None
    done, total = learner.length()
    unit = 1 if config.minutes is None else 1000  # the bar counts steps or seconds
    with (
        ExitStack() as ending,
        interrupt or Interrupt() as interrupt,
        progress_bar(console, "training", total // unit, done // unit) as bar,
    ):
        ending.callback(learner.close)
        if learner.steps == 0 and config.eval_every != 0:
            add_point(learner)
            bar(0, "")
            if not console.is_terminal:
                console.print(f"0 steps: {wins(learner)}")
        while done < total and not interrupt.asked:
            before, started = done, time.perf_counter()
            learner.collect()
            metrics = learner.update()
            finite = all(bool(parameter.isfinite().all()) for parameter in learner.net.parameters())
            if not finite or not all(np.isfinite(value) for value in metrics.values()):
                raise learner.diverged()
            spent = time.perf_counter() - started
            learner.seconds += spent
            metrics["steps_per_second"] = config.num_steps * config.num_envs / spent
            done, total = learner.length()
            if config.eval_every is None:
                due = EVALUATIONS * done // total > EVALUATIONS * before // total
            else:
                due = config.eval_every > 0 and (learner.updates % config.eval_every == 0 or done >= total)
            if due:
                metrics |= add_point(learner)
            # Not before: a start that fails leaves no folder.
            if writer is None:
                writer = SummaryWriter(config.run, purge_step=learner.steps)
                ending.callback(writer.close)
            for name, value in metrics.items():
                writer.add_scalar(name, value, learner.steps)
            bar(min(done, total) // unit, describe(learner, metrics))
            if any(name.startswith("win_") for name in metrics) and not console.is_terminal:
                console.print(f"{learner.steps:,} steps: {describe(learner, metrics)}", soft_wrap=True)
            if learner.updates % config.checkpoint_every == 0 or done >= total or interrupt.asked:
                checkpoint.save(learner)
    if not interrupt.asked:
        done_line = f"the network is {config.run / 'model.safetensors'}; as an agent: ppo:{config.run}"
        console.print(done_line, soft_wrap=True)
    if learner.curve and checkpoint.checkpoint_file(config.run).exists():  # no folder of a run that has not begun
        draw_curve(learner.curve, f"{config.run.name}: {learner.variant.spec}", config.run / "curve.png")
    return learner


def main(config: Config) -> None:
    """Train and show."""
    interrupt = Interrupt()
    learner = train(config, Console(), interrupt)
    hint = f"{learner.steps:,} steps are done, and the same command with --resume continues"
    interrupt.end(hint if checkpoint.checkpoint_file(config.run).exists() else "nothing was saved")


def add_point(learner: Learner) -> dict[str, float]:
    """Evaluate the network and add the point to the curve; its win shares."""
    started = time.perf_counter()
    point = evaluate(learner.config, learner.mean_net, learner.variant)
    learner.curve.append({"steps": learner.steps, "seconds": round(learner.seconds, 1), **point})
    learner.eval_seconds += time.perf_counter() - started
    return point


def refuse_folder(run: Path) -> None:
    """Refuse to start a run where there is one.

    Raises:
        ValueError: the folder holds a checkpoint or a network, or is a file.
    """
    if run.exists() and not run.is_dir():
        raise ValueError(f"--run is a folder, and {run} is a file")
    if checkpoint.checkpoint_file(run).exists():
        raise ValueError(f"{run} already holds a run: add --resume to continue it, or choose another --run")
    if (run / "model.safetensors").exists():
        raise ValueError(f"{run} already holds a network, without a checkpoint to resume: choose another --run")


def describe(learner: Learner, metrics: dict[str, float]) -> str:
    """Write one line for the progress bar."""
    shares = wins(learner)
    speed = f"{metrics['steps_per_second']:,.0f} steps/s, entropy {metrics['entropy']:.2f}"
    return f"{speed}, {shares}" if shares else speed


def wins(learner: Learner) -> str:
    """The win shares of the last evaluation; "" if there was none."""
    last = learner.curve[-1] if learner.curve else {}
    shares = [f"{caption(name)} {last[name]:.0%}" for name in last if name.startswith("win_")]
    return f"wins {', '.join(shares)}" if shares else ""


if __name__ == "__main__":
    run_program("experiments.train_ppo", Config, main, __doc__, flag_hints())
