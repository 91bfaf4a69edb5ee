"""The command `samurai-env`: one door to the programs that play, measure and show games."""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

import samurai_env
from experiments.common.cli import run_program
from samurai_env.core.texts import did_you_mean, shown

NAME = "samurai-env"


class Command(NamedTuple):
    """A program: a line about it, and its module, which has `Config` and `main`."""

    about: str
    module: str


# A new command is a line here; its module is imported when it is asked for.
COMMANDS = {
    "play": Command("play in the terminal against agents", "..play"),
    "watch": Command("watch agents play each other", "..watch"),
    "replay": Command("show a saved game, move by move", "..command.replay"),
    "web": Command("play, watch, replay and analyse in the browser", "..web.__main__"),
    "analyse": Command("ask a search about a position of a saved game", "..command.analyse"),
    "tournament": Command("let agents play each other, with ratings and intervals", "..tournament"),
    "cooperative": Command("measure how often agents win a cooperative game", "..cooperative"),
    "dataset": Command("keep games between agents as a data set", "..dataset"),
    "agents": Command("list what can be named as an agent", "..command.agents"),
    "warmup": Command("compile the rules and agents beforehand", "..command.warmup"),
}


def usage() -> str:
    """What `samurai-env --help` prints."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {command.about}" for name, command in COMMANDS.items()]
    return "\n".join(
        [f"usage: {NAME} COMMAND [OPTIONS]    {NAME} COMMAND --help    {NAME} --version", "", "commands:", *lines]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command that the command line names; see `run_program` for the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help", "help"):
        print(usage())
        return
    name, *rest = words
    if name in ("--version", "-V"):
        print(f"{NAME} {samurai_env.__version__}")
        return
    if name not in COMMANDS:
        hint = did_you_mean(name, COMMANDS)
        raise SystemExit(f"error: there is no command {shown(name, 40)}{hint}; the commands are {', '.join(COMMANDS)}")
    try:
        module = import_module(COMMANDS[name].module, __package__)
    except ModuleNotFoundError as error:
        raise SystemExit(f"error: {name} needs {error.name}, which is not installed (docs: Install, extras)") from None
    sys.argv[1:] = rest
    about = (module.__doc__ or "").partition("\n\n")[0]
    run_program(f"{NAME} {name}", module.Config, module.main, about)


if __name__ == "__main__":
    main()
