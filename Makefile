# `make help` lists the commands. Each makes the virtual environment it needs first (.venv, Python 3.11 or newer).
PYTHON ?= python3
MINUTES ?= 3
RUN ?= runs/first
WORKERS ?= auto

VENV := .venv
PY := $(VENV)/bin/python
INSTALL := scripts/install.sh $(PY)

.DEFAULT_GOAL := help
.PHONY: help install dev train test package lint docs check-rules torture ray cuda bench gpu leaderboard peers clients clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / {sub("%", "NAME", $$1); printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(PY): | scripts/venv.sh
	scripts/venv.sh $(PYTHON) $(VENV)

# A stamp file notes that an extra is installed, so that the next command does not install it again.
$(VENV)/installed-%: $(PY) pyproject.toml constraints.txt scripts/install.sh
	$(INSTALL) $*
	@touch $@

.PRECIOUS: $(VENV)/installed-%

install: $(VENV)/installed-train  ## make .venv with what training and playing need

dev: $(VENV)/installed-dev  ## make .venv with what tests and docs need, too

# A small network that reads the map as a graph: it learns several times faster than a plain one of the default form.
TRAIN ?= --graph-width 16 --hidden 64 --num-envs 128 --num-steps 64 --minibatch-size 1024 \
	--update-epochs 1 --learning-rate 2e-3

train: install  ## train a 2-player network from nothing for MINUTES=3, then let it meet random and greedy
	@resume=; if [ -e $(RUN)/checkpoint.safetensors ]; then resume=--resume; fi; \
	set -x; $(PY) -m experiments.train_ppo --run $(RUN) $(TRAIN) $(if $(TOTAL_TIMESTEPS),--total-timesteps $(TOTAL_TIMESTEPS),--minutes $(MINUTES)) $$resume
	@rm -rf $(RUN)/tournament
	$(PY) -m experiments.tournament --agents random greedy ppo:$(RUN) --deals 200 --output $(RUN)/tournament
	@echo "curve:  $(RUN)/curve.png   (all metrics: $(VENV)/bin/tensorboard --logdir $(RUN))"
	@echo "table:  $(RUN)/tournament/table.txt   picture: $(RUN)/tournament/payoff.png"

test: dev  ## run all tests, then linters and type checker
	$(PY) -m pytest -n $(WORKERS)
	@$(MAKE) --no-print-directory lint

package:  ## build wheel and sdist, and use them in an empty environment (minutes; needs an index of packages)
	scripts/check_package.sh $(PYTHON)

lint: dev  ## run ruff and mypy
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

docs: dev  ## write the generated tables and build the pages into site/
	$(PY) -m docs.generate.tables
	$(PY) -m docs.generate.architecture
	$(PY) -m mkdocs build --strict

check-rules: dev  ## play GAMES games of each game (default 100000 of the board game, 20000 of the others) against the plain references (hours)
	$(PY) -m tests.check_rules --game samurai --games $(or $(GAMES),100000) --processes 2
	$(PY) -m tests.check_rules --game samurai_card --game samurai_spirit --games $(or $(GAMES),20000) --processes 2

torture: dev  ## run the fault-injection and stress tests (minutes; LONG=1: hours)
	$(PY) -m tests.torture $(if $(LONG),--long)

# Ray is large, and few need it: its tests have an environment of their own, and those of `make test` skip them. RLlib
# wants an older Gymnasium, with which Ray's actors are tested, too.
.ray/installed: pyproject.toml constraints.txt experiments/clients/rllib.txt scripts/install.sh
	scripts/venv.sh $(PYTHON) .ray
	scripts/install.sh .ray/bin/python train,data,ray
	.ray/bin/python -m pip install --quiet --requirement experiments/clients/rllib.txt pytest
	@touch $@

ray: .ray/installed  ## run the tests of Ray, several nodes on this machine, and of RLlib, in .ray
	.ray/bin/python -m pytest tests/ray

# Kernels are compiled for a GPU without one. That takes no driver, but numba-cuda, its compiler, which the extra brings,
# and ptxas, which it does not.
.cuda/installed: pyproject.toml constraints.txt scripts/install.sh
	scripts/venv.sh $(PYTHON) .cuda
	scripts/install.sh .cuda/bin/python train,cuda
	.cuda/bin/python -m pip install --quiet --constraint constraints.txt pytest nvidia-cuda-nvcc
	@touch $@

# The games in numba's simulator are among those of `make test`.
cuda: .cuda/installed  ## compile kernels for a GPU, without one, and compare what they take of it, in .cuda
	.cuda/bin/python -m pytest tests/cuda --deselect tests/cuda/test_simulator.py::test_in_the_simulator
	.cuda/bin/python -m tests.cuda.resources --sample

bench: install  ## measure steps, games, simulations and training steps a second
	$(PY) -m experiments.bench

gpu:  ## on a machine with an NVIDIA GPU: check and measure what runs there, into JSON=runs/gpu.json (5 GB), and train for LEARN=20 minutes
	scripts/gpu.sh $(PYTHON) $(or $(JSON),runs/gpu.json) $(LEARN)

# The packages that `python -m experiments.bench --peers` sets beside this project, each in an environment of its own.
PEERS := open_spiel pgx pettingzoo sb3

peers: $(PEERS:%=.peers/installed-%)  ## install the packages that `python -m experiments.bench --peers` compares with (2.5 GB)

.peers/installed-%: scripts/peers.sh constraints.txt $(wildcard experiments/benchmark/peers/*.txt)
	scripts/peers.sh $(PYTHON) $*
	@touch $@

# Learners of other frameworks, each in an environment of its own.
CLIENTS := open_spiel sb3 ppo_cleanrl rllib torchrl tianshou

clients: $(CLIENTS:%=try-%)  ## install other frameworks' learners, train each on the games, write docs/guides/clients.md (gigabytes; long)
	$(PY) -m experiments.clients.page

try-%: install  ## the same for one framework: sb3, torchrl, ...
	scripts/clients.sh $(PYTHON) $*

outside-%: install  ## make the ladder's opponent NAME with another project's code: maskable_ppo, ismcts, ... (hours)
	scripts/outside.sh $(PYTHON) $*

leaderboard: install  ## play what LEADERBOARD.md lacks and write it (minutes; FULL=1: hours)
	$(PY) -m experiments.leaderboard $(if $(FULL),--full)

weights-%: install  ## make the network weights/NAME again from nothing, such as samurai-2 or leaf_values/samurai-4, and compare the two
	$(PY) -m experiments.training.recipe $*

weights-leaf_values/% weights-beliefs/%: install
	$(PY) -m experiments.training.recipe $(patsubst weights-%,%,$@)

clean:  ## remove .venv, .peers, .clients, .ray, .cuda, .gpu, dist, caches and built pages; trained networks in runs/ stay
	rm -rf $(VENV) .gpu .peers .clients .ray .cuda site build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
