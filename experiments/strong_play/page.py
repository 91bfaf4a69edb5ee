"""The page: a template whose figures and tables come from what has been measured.

In `page.md`, `{{board-2.strong.hand.RO %}}` is the mean of an item (section, run, statistic, item) in percent, `.1` in
its place one with a digit after the point. `> greedy` or `< second` behind it claims that it is above or below that
run's: the page is refused if the 95 % intervals do not bear that out. A table is

    {{table board-2: strong greedy
    words of the row | statistic.item | %
    }}

and `{{about board-2}}` says how a section was played.
"""

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path

from experiments.common.markdown import table, variant_title
from experiments.strong_play.play import FOLDER, Measured, Played, load, read_sections
from experiments.strong_play.statistics import Mean, mean

TEMPLATE = Path(__file__).with_name("page.md")
WIDTH = 120
TIED = "\ue000"  # stands for a space at which no line ends
NOTE = "<!-- Written by `python -m experiments.strong_play` from experiments/strong_play/page.md; edit that file. -->"
_TABLE = re.compile(r"\{\{table (\S+): ([^\n]*)\n(.*?)\n\}\}", re.DOTALL)
_ABOUT = re.compile(r"\{\{about (\S+)\}\}")
_FIGURE = re.compile(r"\{\{\s*([\w-]+)\.(\w+)\.(\w+)\.([^{}%>]+?)\s+(%|\.\d)((?:\s+[<>]\s+\w+)*)\s*\}\}")

Found = Mapping[str, Measured]


def measured(folder: Path = FOLDER) -> dict[str, Measured]:
    """The measurements, by section.

    Raises:
        ValueError: a file is damaged.
    """
    return {section.name: load(section, folder) for section in read_sections()}


def look_up(found: Found, section: str, run: str, statistic: str, item: str) -> Mean:
    """The mean of an item.

    Raises:
        ValueError: there is no such item, or nothing has been measured.
    """
    try:
        value = mean(*found[section].runs[run].sums[statistic][item])
    except KeyError as error:
        raise ValueError(f"nothing has been measured of {section}.{run}.{statistic}.{item}: no {error}") from None
    if value.mean != value.mean:
        raise ValueError(f"no game had anything to measure of {section}.{run}.{statistic}.{item}")
    return value


def amount(value: float, form: str) -> str:
    """A figure in percent (`%`) or with some digits after the point (`.1`)."""
    return f"{100 * value:.1f}" if form == "%" else f"{value:{form}f}"


def unit(form: str) -> str:
    """What stands behind it."""
    return " %" if form == "%" else ""


def figure(found: Found, match: re.Match) -> str:
    """A figure in the text, after its claims have been checked.

    Raises:
        ValueError: a claim is not borne out.
    """
    section, run, statistic, item, form, claims = match.groups()
    own = look_up(found, section, run, statistic, item)
    for sign, other in re.findall(r"([<>])\s+(\w+)", claims):
        against = look_up(found, section, other, statistic, item)
        high, low = (own, against) if sign == ">" else (against, own)
        if not high.mean - high.half > low.mean + low.half:
            raise ValueError(
                f"page.md claims {section}: {statistic}.{item} of {run} {sign} that of {other}, but they are "
                f"{own.mean:.4f} ± {own.half:.4f} and {against.mean:.4f} ± {against.half:.4f}"
            )
    return amount(own.mean, form) + unit(form)


def name(spec: str) -> str:
    """An agent in short: its network's file without folder and suffix, or its spec without settings."""
    kind, _, network = spec.partition(":")
    return f"`{Path(network.partition(',')[0]).stem if kind == 'ppo' else spec.partition(',')[0]}`"


def head(run: Played) -> str:
    """The head of a run's column."""
    return name(run.agent) + (f" against {name(run.against)}" if run.against else "")


def cell(value: Mean, form: str) -> str:
    """A mean with its interval, unless that rounds to 0."""
    half = amount(value.half, form)
    return amount(value.mean, form) + (f" ± {half}" if float(half) else "") + unit(form)


def rows(found: Found, match: re.Match) -> str:
    """A table of the template."""
    section, runs, lines = match[1], match[2].split(), []
    for line in match[3].split("\n"):
        words, path, form = (part.strip() for part in line.split("|"))
        statistic, _, item = path.partition(".")
        values = [look_up(found, section, run, statistic, item) for run in runs]
        lines.append([words, *(cell(value, form) for value in values)])
    return table(["", *(head(found[section].runs[run]) for run in runs)], lines)


def about(found: Found, match: re.Match) -> str:
    """Say how a section was played."""
    section = found[match[1]]
    games = ", ".join(f"{run.games:,} of {head(run)}" for run in section.runs.values())
    made = sorted({made for run in section.runs.values() for made in run.commits})
    machines = sorted({where for run in section.runs.values() for where in run.machines})
    return f"{variant_title(section.variant)}: {games}; commit {', '.join(made)}, {'; '.join(machines)}."


def wrapped(text: str) -> str:
    """Markdown with its paragraphs and list items wrapped; tables, headings and blocks of code stay."""
    parts = []
    for part in re.split(r"(```.*?```)", text, flags=re.DOTALL):
        if part.startswith("```"):
            parts.append(part)
            continue
        blocks = [
            block if re.match(r"\n*(\||#|!\[|<!--)", block) or not block.strip() else _filled(block)
            for block in re.split(r"(\n\n+)", part)
        ]
        parts.append("".join(blocks))
    return "".join(parts)


def _filled(block: str) -> str:
    items = re.split(r"\n(?=- )", block.replace(" %", f"{TIED}%"))
    return "\n".join(
        textwrap.fill(
            " ".join(item.split()),
            WIDTH,
            subsequent_indent="  " if item.startswith("- ") else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for item in items
    ).replace(TIED, " ")


def page(found: Found, template: str | None = None) -> str:
    """The text of docs/background/strong_play.md.

    Args:
        found: what has been measured, by section.
        template: text with figures to fill in; `page.md` if None.

    Raises:
        ValueError: something has not been measured, or does not bear out what the text says.
    """
    text = TEMPLATE.read_text(encoding="utf-8") if template is None else template
    text = _TABLE.sub(lambda match: rows(found, match), text)
    text = _ABOUT.sub(lambda match: about(found, match), text)
    text = _FIGURE.sub(lambda match: figure(found, match), text)
    if left := re.search(r"\{\{.{0,80}", text):
        raise ValueError(f"page.md has what is neither figure nor table: {left[0]}")
    title, _, rest = text.partition("\n")
    return wrapped(f"{title}\n\n{NOTE}\n{rest}")
