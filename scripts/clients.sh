#!/bin/sh
# Make the environment of one of the frameworks that `make clients` tries, and try it.
#
#     scripts/clients.sh PYTHON NAME        such as: scripts/clients.sh python3 torchrl        it becomes .clients/torchrl
#
# STEPS decisions are learned from (default 200000).
set -eu
cd "$(dirname "$0")/.."
python=$1
name=$2
place=.clients/$name
results=experiments/results/clients.jsonl

scripts/framework.sh "$python" "$name"
export OMP_NUM_THREADS=1 # more are slower for networks of this size
if [ "$name" != ppo_cleanrl ]; then # which has no adapter
    "$place/bin/python" -W ignore -m experiments.clients.throughput "$name" --results experiments/results/clients-throughput.jsonl
fi
if [ "$name" = open_spiel ]; then
    "$place/bin/python" -m tests.adapters.check_open_spiel --results experiments/results/clients-open_spiel.jsonl
    "$place/bin/python" -m experiments.tournament --agents greedy samurai_env.adapters.open_spiel_bots.ISMCTS:20 mcts:20000 \
        --game samurai --deals 20 --no-mirror --chunk 1 --output runs/clients-open_spiel
    cp runs/clients-open_spiel/results.json experiments/results/clients-open_spiel.json
    exit
fi
for game in "samurai 2" "samurai_card 2" "samurai 4"; do
    # shellcheck disable=SC2086
    set -- $game
    "$place/bin/python" -W ignore -m experiments.clients "$name" --game "$1" --num-players "$2" \
        --steps "${STEPS:-200000}" --results "$results"
done
