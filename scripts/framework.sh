#!/bin/sh
# Make the environment of another framework, .clients/NAME, unless it is there.
#
#     scripts/framework.sh PYTHON NAME        such as: scripts/framework.sh python3 torchrl
#
# The versions stand in experiments/clients/NAME.txt; those of NumPy and numba are the project's own, so that compiled
# code is shared.
set -eu
cd "$(dirname "$0")/.."
place=.clients/$2
versions=experiments/clients/$2.txt

if [ ! -e "$place/installed" ] || [ "$versions" -nt "$place/installed" ]; then
    scripts/venv.sh "$1" "$place"
    scripts/install.sh "$place/bin/python" "$versions"
    touch "$place/installed"
fi
