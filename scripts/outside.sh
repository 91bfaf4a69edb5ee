#!/bin/sh
# Train an opponent with another project's learner (python -m experiments.outside --help) in that project's environment;
# or let ismcts, OpenSpiel's search, play its table of the leaderboard.
#
#     scripts/outside.sh PYTHON NAME        such as: scripts/outside.sh python3 maskable_ppo
#
# The run is in runs/outside/NAME; some two and a half hours of one core.
set -eu
cd "$(dirname "$0")/.."
learner=$2
case $learner in
maskable_ppo) framework=sb3 ;;
rllib_ppo) framework=rllib ;;
cleanrl_ppo) framework=ppo_cleanrl ;;
ismcts)
    scripts/framework.sh "$1" open_spiel
    exec .clients/open_spiel/bin/python -m experiments.leaderboard --full --only outside-2
    ;;
*)
    echo "error: the opponents are maskable_ppo, rllib_ppo, cleanrl_ppo and ismcts, not '$learner'" >&2
    exit 1
    ;;
esac

scripts/framework.sh "$1" "$framework"
export OMP_NUM_THREADS=1 # more are slower for networks of this size
exec ".clients/$framework/bin/python" -W ignore -m experiments.outside "$learner" --run "runs/outside/$learner"
