#!/bin/sh
# Make a virtual environment, unless one is there whose Python still runs.
#
#     scripts/venv.sh PYTHON FOLDER        such as: scripts/venv.sh python3 .ray
set -eu
cd "$(dirname "$0")/.."
python=$1
place=$2

"$place/bin/python" -m pip --version > /dev/null 2>&1 && exit 0
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "error: this needs Python 3.11 or newer, and '$python' is $("$python" --version 2>&1)." >&2
    echo "Name another one: make PYTHON=python3.12 ..." >&2
    exit 1
}
old=
[ ! -f "$place/pyvenv.cfg" ] || old=--clear
"$python" -m venv $old "$place" || {
    rm -rf "$place"
    exit 1
}
