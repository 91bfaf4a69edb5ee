"""OpenSpiel at length: its own test of every variant, and an equilibrium of Mini-Samurai with all deals.

python -m tests.adapters.check_open_spiel
"""

import argparse
import time
from importlib.metadata import version
from pathlib import Path

import pyspiel

from experiments.clients.page import add_row
from samurai_env.adapters import open_spiel
from samurai_env.core.game import find_game, game_names, register_game
from tests.common.variants import every_variant, readings
from tests.mini.deals import all_deals
from tests.mini.game import GAME as MINI

BAR = 0.01


def test_variants(games: int) -> int:
    """Run `random_sim_test` on every variant, and count them; it ends the process where it finds a fault."""
    variants = every_variant() + [variant for name in game_names() for variant in readings(find_game(name))]
    for number, variant in enumerate(variants, 1):
        pyspiel.random_sim_test(open_spiel.load(variant), games, True, False)
        print(f"random_sim_test {number}/{len(variants)}: {variant.spec}", flush=True)
    return len(variants)


def solve(iterations: int) -> tuple[int, float]:
    """CFR+ on Mini-Samurai with exact chance; the iterations it took, and the NashConv of the average policy."""
    register_game("mini", lambda: MINI)
    open_spiel.register("mini", all_deals)
    tree = pyspiel.convert_to_cached_tree(pyspiel.load_game("mini"))  # each state is asked once
    solver = pyspiel.CFRPlusSolver(tree)
    start, iteration, left = time.perf_counter(), 0, float("inf")
    for iteration in range(1, iterations + 1):
        solver.evaluate_and_update_policy()
        if iteration % 10 == 0:
            left = pyspiel.nash_conv(tree, solver.average_policy())
            print(f"CFR+ {iteration}: NashConv {left:.5f}, {time.perf_counter() - start:.0f} s", flush=True)
            if left < BAR:
                break
    return iteration, left


def main() -> None:
    """Do both.

    Raises:
        SystemExit: the policy is no equilibrium.
    """
    parser = argparse.ArgumentParser("python -m tests.adapters.check_open_spiel", description=__doc__.split("\n")[0])
    parser.add_argument("--games", type=int, default=1, help="random games of each variant")
    parser.add_argument("--iterations", type=int, default=100, help="iterations of CFR+ at most")
    parser.add_argument("--results", type=Path, help="JSON lines to which what was found is added")
    args = parser.parse_args()
    variants = test_variants(args.games)
    iterations, nash_conv = solve(args.iterations)
    if args.results is not None:
        found = {"variants": variants, "games": args.games, "iterations": iterations, "nash_conv": round(nash_conv, 5)}
        add_row(args.results, {"version": f"open_spiel {version('open_spiel')}", **found})
    if nash_conv >= BAR:
        raise SystemExit(f"the average policy is not within {BAR} of an equilibrium")


if __name__ == "__main__":
    main()
