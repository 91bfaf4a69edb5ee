#!/bin/sh
# Check the environments of a GPU against the CPU's and measure them, and pgx on the same GPU; all of it in one JSON file.
# Then train a network for two players from nothing on the GPU, and let it meet greedy and weights/samurai-2.
#
#     scripts/gpu.sh PYTHON [JSON] [MINUTES]        such as: scripts/gpu.sh python3 runs/gpu.json 20
#
# The network is runs/gpu/model.safetensors, its tournament runs/gpu/tournament-MINUTES/results.json; 0 minutes train none.
# Makes .gpu (this clone with torch and numba-cuda, for CUDA 13) and .peers/pgx-gpu, several gigabytes. Each figure is
# written as it comes. To show the figures in docs/background/performance.md: JSON experiments/results/gpu.json, then
# `.gpu/bin/python -m experiments.benchmark.tables`.
set -eu
cd "$(dirname "$0")/.."
python=$1
json=${2:-runs/gpu.json}
minutes=${3:-20}

command -v nvidia-smi >/dev/null 2>&1 || {
    echo "error: nvidia-smi is not there: this needs an NVIDIA GPU and its driver" >&2
    exit 1
}
listed=$(nvidia-smi -L 2>&1) && [ -n "$listed" ] || {
    echo "error: nvidia-smi finds no GPU: $listed" >&2
    exit 1
}
echo "$listed"

if [ ! -e .gpu/installed ] || [ constraints.txt -nt .gpu/installed ] || [ pyproject.toml -nt .gpu/installed ]; then
    scripts/venv.sh "$python" .gpu
    scripts/install.sh .gpu/bin/python train,cuda
    touch .gpu/installed
fi
.gpu/bin/python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' || {
    echo "error: the torch in .gpu finds no GPU: a build without CUDA, or a driver too old for CUDA 13 (580 or newer)" >&2
    exit 1
}
pins=experiments/benchmark/peers/pgx-gpu.txt
if [ ! -e .peers/installed-pgx-gpu ] || [ "$pins" -nt .peers/installed-pgx-gpu ]; then
    # Without pgx the rest is worth its time; the report then names what is missing.
    if scripts/peers.sh "$python" pgx-gpu; then
        touch .peers/installed-pgx-gpu
    else
        echo "pgx could not be installed: going on without it" >&2
    fi
fi
.gpu/bin/python -m experiments.benchmark.gpu --json "$json"
[ "$minutes" != 0 ] || exit 0
resume=
[ ! -e runs/gpu/checkpoint.safetensors ] || resume=--resume
.gpu/bin/python -m experiments.train_ppo --run runs/gpu --device cuda --graph-width 32 --hidden 128 --num-envs 2048 \
    --num-steps 64 --minibatch-size 16384 --learning-rate 1.5e-3 --minutes "$minutes" $resume
exec .gpu/bin/python -m experiments.tournament --agents greedy ppo:weights/samurai-2.safetensors ppo:runs/gpu \
    --deals 500 --first-deal 500000 --output "runs/gpu/tournament-$minutes"
