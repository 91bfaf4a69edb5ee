#!/bin/sh
# Install this clone and one of its extras into a virtual environment, in the versions of constraints.txt; or the clone
# and what a file names, in the versions that it says.
#
#     scripts/install.sh PYTHON EXTRA        such as: scripts/install.sh .venv/bin/python train
#     scripts/install.sh PYTHON FILE.txt
#
# Where no NVIDIA driver is found, torch comes as its CPU build (about 200 MB): first from wherever pip looks
# anyway, then from PyTorch's own index. TORCH=torch==2.13.0 scripts/install.sh ... overrides the choice.
set -eu
cd "$(dirname "$0")/.."
python=$1
extra=$2

pip() {
    "$python" -m pip --disable-pip-version-check "$@"
}

pinned=$(grep '^torch==' constraints.txt)
if [ -n "${TORCH:-}" ]; then
    pip install --quiet --constraint constraints.txt "$TORCH"
elif [ "$(uname -s)" != Linux ] || command -v nvidia-smi >/dev/null 2>&1; then
    pip install --quiet --constraint constraints.txt "$pinned"
else  # the CPU build carries the local version +cpu, so nothing else can be picked by mistake
    echo "no NVIDIA driver found: torch comes as its CPU build"
    pip install --quiet --constraint constraints.txt "$pinned+cpu" 2>/dev/null ||
        pip install --quiet --constraint constraints.txt "$pinned+cpu" \
            --extra-index-url https://download.pytorch.org/whl/cpu || {
        echo "error: no CPU build of torch could be had (see above). If a download of several GB of CUDA" >&2
        echo "libraries is all right, say so: TORCH=$pinned make ..." >&2
        exit 1
    }
fi
case $extra in
*.txt) pip install --quiet --requirement "$extra" --editable . ;;
*) pip install --quiet --constraint constraints.txt --editable ".[$extra]" ;;
esac
