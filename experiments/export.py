"""Write the network of a training run as a small file to be kept with the project.

    python -m experiments.export --run runs/mine --to weights/mine.safetensors

Weights are rounded to half precision, which halves the file; the card beside it says how the network was made. If --run
and --to are the same file, its weights stay, and its card is written in the present format.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console

from agents.networks.cards import read_card
from agents.networks.network_files import load_network, save_network, write_card
from agents.networks.paths import weights_file
from experiments.common.cli import run_program


@dataclass
class Config:
    """Settings of an export."""

    run: Path = Path("runs/ppo")
    """Folder of the training run, or a file of weights."""
    to: Path = Path("weights/network.safetensors")
    """File to write, with its card beside it."""
    replace: bool = False
    """Overwrite a network that is there."""


def main(config: Config) -> None:
    """Write the file and its card.

    Raises:
        FileNotFoundError: there is no network in the run's folder.
        ValueError: the network is damaged, `to` is not the name of a .safetensors file, or there is one already.
    """
    if config.to.suffix != ".safetensors":
        raise ValueError(f"--to must be a file whose name ends in .safetensors, not {config.to}")
    same = config.to.exists() and config.run.exists() and config.to.samefile(weights_file(config.run))
    if config.to.exists() and not (same or config.replace):
        raise ValueError(f"{config.to} is there already: add --replace to overwrite it, or choose another --to")
    net = load_network(config.run)
    notes = read_card(config.run).notes
    if same:
        write_card(config.to, config.to.read_bytes(), net.config, notes)
    else:
        net = net.to(torch.float16)
        if not all(bool(tensor.isfinite().all()) for tensor in net.state_dict().values()):
            raise ValueError(f"{config.run} has weights that are too large for float16, in which --to is written")
        save_network(net, config.to, notes)
    size = config.to.stat().st_size / 1e6
    steps = notes.get("steps")
    learned = f", {steps:,} decisions" if isinstance(steps, int) else ""
    Console().print(f"{config.to}: {size:.2f} MB, {net.config.variant}{learned}")


if __name__ == "__main__":
    run_program("experiments.export", Config, main, __doc__)
