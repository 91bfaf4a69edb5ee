"""OpenSpiel at length: its own test of every variant, and an equilibrium of Mini-Samurai with all deals.

python -m tests.adapters.check_open_spiel
"""

import argparse
import time

import pyspiel

from samurai_env.adapters import open_spiel
from samurai_env.core.game import find_game, game_names, register_game
from tests.common.variants import every_variant, readings
from tests.mini.deals import all_deals
from tests.mini.game import GAME as MINI

BAR = 0.01


def test_variants(games: int) -> None:
    """Run `random_sim_test` on every variant; it ends the process where it finds a fault."""
    variants = every_variant() + [variant for name in game_names() for variant in readings(find_game(name))]
    for number, variant in enumerate(variants, 1):
        pyspiel.random_sim_test(open_spiel.load(variant), games, True, False)
        print(f"random_sim_test {number}/{len(variants)}: {variant.spec}", flush=True)


def solve(iterations: int) -> float:
    """CFR+ on Mini-Samurai with exact chance; the NashConv of the average policy."""
    register_game("mini", lambda: MINI)
    open_spiel.register("mini", all_deals)
    tree = pyspiel.convert_to_cached_tree(pyspiel.load_game("mini"))  # each state is asked once
    solver = pyspiel.CFRPlusSolver(tree)
    start, left = time.perf_counter(), float("inf")
    for iteration in range(1, iterations + 1):
        solver.evaluate_and_update_policy()
        if iteration % 10 == 0:
            left = pyspiel.nash_conv(tree, solver.average_policy())
            print(f"CFR+ {iteration}: NashConv {left:.5f}, {time.perf_counter() - start:.0f} s", flush=True)
            if left < BAR:
                break
    return left


def main() -> None:
    """Do both.

    Raises:
        SystemExit: the policy is no equilibrium.
    """
    parser = argparse.ArgumentParser("python -m tests.adapters.check_open_spiel", description=__doc__.split("\n")[0])
    parser.add_argument("--games", type=int, default=1, help="random games of each variant")
    parser.add_argument("--iterations", type=int, default=100, help="iterations of CFR+ at most")
    args = parser.parse_args()
    test_variants(args.games)
    if solve(args.iterations) >= BAR:
        raise SystemExit(f"the average policy is not within {BAR} of an equilibrium")


if __name__ == "__main__":
    main()
