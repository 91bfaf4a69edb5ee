"""PettingZoo's own classic games (Terry et al., 2021), each with its usual wrappers and without."""

import math

from pettingzoo.classic import connect_four_v3, hanabi_v5

from experiments.benchmark.peers import RAW, WRAPPED, Row, by_last, meter_from_command_line, named, tell


def main() -> None:
    """Measure and print."""
    meter = meter_from_command_line()
    for name, module in (("connect_four", connect_four_v3), ("hanabi, by OpenSpiel", hanabi_v5)):
        for kind, make in ((RAW, module.raw_env), (WRAPPED, module.env)):
            env = make()
            agent = env.possible_agents[0]
            inputs = math.prod(env.observation_space(agent)["observation"].shape)
            figure = meter.rate("loop", "steps/s", by_last(env))
            tell(Row(kind, named("pettingzoo"), name, int(env.action_space(agent).n), inputs, 1, 1, figure))


if __name__ == "__main__":
    main()
