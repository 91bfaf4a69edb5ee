"""The part of docs/background/performance.md about a GPU, from what `experiments.benchmark.gpu` has kept."""

from collections.abc import Iterable
from typing import Any, NotRequired, TypedDict

from experiments.benchmark.peers import Row
from experiments.benchmark.results import Made, amount, origin
from experiments.common.markdown import table, variant_title

OURS = "samurai players=2"  # what stands beside pgx
NO_GPU = "No figure yet: the environments of a GPU were compiled for one and run in a simulator, but not on a GPU."


class Check(TypedDict):
    """A form of a variant, compared with the CPU."""

    game: str
    players: int
    settings: dict[str, Any]
    wrong: list[str]
    games: NotRequired[int]
    steps: NotRequired[int]
    seconds: int


class Steps(TypedDict):
    """Random play; see `experiments.benchmark.on_gpu`."""

    variant: str
    games: int
    bare_steps_per_second: float
    steps_per_second: float
    step_seconds: float
    start_seconds: float
    bytes_per_step: int
    share_of_bandwidth: float


class Threads(TypedDict):
    """Random play with blocks of another size."""

    variant: str
    games: int
    threads: int
    steps_per_second: float


class Learning(TypedDict):
    """PPO."""

    variant: str
    games: int
    ppo_steps_per_second: float


class Gpu(Made):
    """The form of `gpu.json`."""

    gpu: str
    driver: str
    versions: dict[str, str]
    copy_bytes_per_second: NotRequired[float]
    checks: list[Check]
    steps: list[Steps]
    threads: list[Threads]
    ppo: list[Learning]
    peers: list[Row]
    missing: list[str]


def gpu_part(found: Gpu) -> str:
    """All that was measured, a table for each kind of work; what was not is named."""
    parts = [
        _checks(found["checks"]) if found["checks"] else "",
        _steps(found["steps"]) if found["steps"] else "",
        _by_column(
            "Steps a second with outputs by threads in a block, {} games",
            ((t["variant"], t["threads"], t["steps_per_second"]) for t in found["threads"]),
            {t["games"] for t in found["threads"]},
        ),
        _by_column(
            "PPO, decisions a second by games at once",
            ((p["variant"], p["games"], p["ppo_steps_per_second"]) for p in found["ppo"]),
        ),
        _peers(found) if found["peers"] else "",
        "\n".join(_notes(found)),
    ]
    return "\n\n".join(part for part in parts if part)


def _checks(checks: list[Check]) -> str:
    """What the comparison with the CPU found."""
    wrong = [check for check in checks if check["wrong"]]
    games = sum(check.get("games", 0) for check in checks)
    variants = {(check["game"], check["players"]) for check in checks}
    said = f"{games:,} games of {len(variants)} variants in {len(checks)} forms compared with the CPU, bit for bit: "
    if not wrong:
        return said + "no difference."
    lines = [f"- {w['game']} players={w['players']}, {w['settings']}: {w['wrong'][0]}" for w in wrong]
    return "\n".join([f"{said}{len(wrong)} forms differ.", "", *lines])


def _steps(steps: list[Steps]) -> str:
    head = [
        "",
        "games",
        "bare, steps/s",
        "with outputs, steps/s",
        "a step, µs",
        "starting it, µs",
        "bytes",
        "bandwidth",
    ]
    rows = [
        [
            variant_title(s["variant"]),
            f"{s['games']:,}",
            amount(s["bare_steps_per_second"]),
            f"**{amount(s['steps_per_second'])}**",
            f"{1e6 * s['step_seconds']:,.0f}",
            f"{1e6 * s['start_seconds']:,.0f}",
            f"{s['bytes_per_step']:,}",
            f"{s['share_of_bandwidth']:.1%}",
        ]
        for s in steps
    ]
    return f"**Random play**\n\n{table(head, rows)}"


def _by_column(title: str, figures: Iterable[tuple[str, int, float]], games: Iterable[int] = ()) -> str:
    """A row for each variant, a column for each number; "" if there are no figures."""
    found = {(variant, column): rate for variant, column, rate in figures}
    if not found:
        return ""
    columns = sorted({column for _, column in found})
    rows = [
        [variant_title(variant), *(amount(found[variant, c]) if (variant, c) in found else "" for c in columns)]
        for variant in dict.fromkeys(variant for variant, _ in found)
    ]
    title = title.format(", ".join(f"{size:,}" for size in sorted(games)))
    return f"**{title}**\n\n{table(['', *(f'{c:,}' for c in columns)], rows)}"


def _peers(found: Gpu) -> str:
    """Theirs by the faster way to draw actions, and ours with as many games."""
    ours = {s["games"]: s["steps_per_second"] for s in found["steps"] if s["variant"] == OURS}
    best: dict[tuple[int, str], Row] = {}
    for row in found["peers"]:
        key = row.batch, row.what
        if key not in best or row.figure.median > best[key].figure.median:
            best[key] = row
    rows = [
        [
            f"{row.who}, {row.what}",
            f"{row.actions}, {row.inputs}",
            f"{size:,}",
            amount(row.figure.median),
            row.figure.name,
            amount(ours[size]) if size in ours else "",
            f"{ours[size] / row.figure.median:.2f} x" if size in ours else "",
        ]
        for (size, _), row in sorted(best.items(), key=lambda item: (item[0][1], item[0][0]))
    ]
    head = ["who", "actions, inputs", "games", "theirs, steps/s", "actions drawn by", "ours", "ours / theirs"]
    return f"**Pgx on the same GPU**; ours is {variant_title(OURS)}, with outputs\n\n{table(head, rows)}"


def _notes(found: Gpu) -> list[str]:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    copy = found.get("copy_bytes_per_second")
    memory = f", {copy / 1e12:.2f} TB/s of copies within its memory" if copy else ""
    return [
        f"- {found['gpu']}, driver {found['driver']}{memory}; {versions}.",
        f"- {origin(found)} `{found['command']}`",
        *(f"- Missing: {line}." for line in found["missing"]),
    ]
