#!/bin/sh
# Build wheel and source distribution, and use the wheel in an empty virtual environment, without this clone and torch.
#
#     scripts/check_package.sh PYTHON [FOLDER]       such as: scripts/check_package.sh python3.12
#
# The wheel is built from the source distribution, so both are tested. What is built stays in FOLDER (dist). Needs an
# index of packages.
set -eu
cd "$(dirname "$0")/.."
python=$1
dist=$(mkdir -p "${2:-dist}" && cd "${2:-dist}" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

"$python" -m venv "$place/tools"
"$place/tools/bin/python" -m pip --disable-pip-version-check install --quiet build twine
rm -f "$dist"/samurai_env-*
"$place/tools/bin/python" -m build --outdir "$dist" . >"$place/build.log" 2>&1 || { tail -30 "$place/build.log"; exit 1; }
"$place/tools/bin/python" -m twine check --strict "$dist"/samurai_env-*
"$python" -m venv "$place/empty"
"$place/empty/bin/python" -m pip --disable-pip-version-check install --quiet "$dist"/samurai_env-*.whl
cp scripts/check_package.py "$place"
mkdir "$place/work"
cd "$place/work"
PATH="$place/empty/bin:$PATH" "$place/empty/bin/python" -P "$place/check_package.py"
ls -l "$dist"
