#!/bin/sh
# Make the environment of one of the packages that `python -m experiments.bench --peers` sets beside this project.
#
#     scripts/peers.sh PYTHON NAME        such as: scripts/peers.sh python3 pgx        it becomes .peers/pgx
#
# The versions stand in experiments/benchmark/peers/NAME.txt. sb3 learns on this project's own environment, so it gets what the
# tests have, in the versions of constraints.txt.
set -eu
cd "$(dirname "$0")/.."
python=$1
name=$2
place=.peers/$name

scripts/venv.sh "$python" "$place"
if [ "$name" = sb3 ]; then
    scripts/install.sh "$place/bin/python" test
else
    "$place/bin/python" -m pip --disable-pip-version-check install --quiet --requirement "experiments/benchmark/peers/$name.txt"
fi
