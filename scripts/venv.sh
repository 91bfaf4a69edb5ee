#!/bin/sh
# Make a virtual environment, unless it is there.
#
#     scripts/venv.sh PYTHON FOLDER        such as: scripts/venv.sh python3 .ray
set -eu
cd "$(dirname "$0")/.."
python=$1
place=$2

[ ! -x "$place/bin/pip" ] || exit 0
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "error: this needs Python 3.11 or newer, and '$python' is $("$python" --version 2>&1)." >&2
    echo "Name another one: make PYTHON=python3.12 ..." >&2
    exit 1
}
"$python" -m venv "$place" || {
    rm -rf "$place"
    exit 1
}
