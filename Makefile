# SPDX-License-Identifier: GPL-2.0-or-later
# `make` prints the targets: `##@ GROUP` and `TARGET: ## TEXT` below are its lines. Every target can be repeated.
S80LAB := build/venv/bin/s80lab
# Two commands at once; fails where either does.
both = $(1) & other=$$!; $(2); status=$$?; wait $$other && exit $$status

.PHONY: help setup build image run test lint lesson docs pages axe wheel wheel-any analysis slurm bench same fuzz \
	kills first-minute trixie clean distclean
.DEFAULT_GOAL := help

help: ## print this list (also `make` alone)
	@awk -F ':[^#]*## ' '/^##@ / { print (NR > 1 ? "\n" : "") substr($$0, 5) } /^[a-z-]+:.*## / { printf "  make %-14s%s\n", $$1, $$2 }' Makefile

##@ Parts of the set-up
setup: ## install Debian packages (as root) and Python packages
	@scripts/setup

build: setup ## set up and compile
	@scripts/build

image: build ## set up, compile, build the guest image (5 min, 40 MB)
	@$(S80LAB) image build

# For notebooks and for Parquet.
analysis: setup ## install pandas and pyarrow
	@scripts/setup analysis

# The package can be installed on another Linux: configurations, plugin and tools are in it.
wheel: build ## build the Python package with compiled programs
	@rm -rf build/package build/dist/*-linux_*.whl
	@build/venv/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/dist .
	@ls build/dist/*-linux_*.whl

# It needs python3-venv, no compiler.
wheel-any: ## build the Python package without compiled programs
	@scripts/setup wheel
	@rm -rf build/package build/dist/*-any.whl
	@S80LAB_WHEEL=any build/venv/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/dist .
	@ls build/dist/*-any.whl

docs: ## build the documentation site build/docs/index.html
	@scripts/setup docs
	@rm -rf build/docs
	@build/venv/bin/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env -c docs -d build/doctrees . build/docs
	@ls build/docs/index.html

##@ Development
# A process more than the machine has processors: some tests wait, for Slurm or for a server.
test: ## run all tests, with a real guest (12 min)
	@scripts/packages test
	@$(call both,scripts/setup test,scripts/build all)
	@build/venv/bin/pytest --numprocesses $$(($$(nproc) + 1)) tests

lint: ## check format, types, layers, C++, language
	@scripts/setup test
	@scripts/lint

# Those of results/reference, docs/background and docs/reference, from the data in git. No guest runs.
pages: setup ## regenerate the generated pages
	@build/venv/bin/python -m s80lab.commands.pages

# In a headless Chromium (Debian package chromium). Screenshots: build/axe.
axe: build ## check one page of each kind for accessibility
	@scripts/setup test
	@build/venv/bin/pip install --quiet --no-deps --require-hashes --upgrade --target build/axe/package -r tests/axe/requirements.lock
	@build/venv/bin/python -m tests.axe

# Explorations and runs on a Slurm of the tests' own, six seeds of both mixes (`make test` has one).
slurm: image ## run the tests on a Slurm cluster of their own
	@scripts/setup test
	@S80LAB_SLURM_SEEDS=6 build/venv/bin/pytest tests/cluster

# With BASE=COMMIT: the speed of the working tree relative to that commit, in PAIRS alternating pairs.
PAIRS := 10
bench: image ## compare the guest with and without the model; BASE=COMMIT
	@scripts/setup test
ifdef BASE
	@build/venv/bin/python -m tests.bench.against $(BASE) --pairs $(PAIRS)
else
	@scripts/build bench_replay
	@$(S80LAB) bench
	@build/venv/bin/python -m tests.bench.programs
endif

same: image ## compare results with those of another commit: BASE=COMMIT
	@scripts/setup test
	@build/venv/bin/python -m tests.pins $(or $(BASE),$(error name a commit: make same BASE=COMMIT))

fuzz: ## compare model and reference model on random traces
	@scripts/setup test
	@scripts/build all
	@tests/reference/fuzz/run

# KILLS and SEED replace the numbers; docs/guides/clusters.md says what is checked. About two hours on two cores.
KILLS := run=60,explore=200,collect=160,checkpoint=100
SEED := 1
kills: image ## kill commands at random moments; nothing may be lost (2 h)
	@scripts/setup test
	@build/venv/bin/python -m tests.kills --kills $(KILLS) --seed $(SEED)

# What a new user of a minimal Debian types first. SUITE=trixie takes Debian 13.
first-minute: ## try the README's first commands in a fresh Debian
	@scripts/first-minute docs

# Set-up, build and both mixes in a fresh Debian 13.
trixie: ## try set-up, build and both mixes in a fresh Debian 13
	@scripts/trixie

##@ Removal
clean: ## remove build/; keep checkpoints, captures and results
	rm -rf build

# YES=1 removes without a question. `make -n distclean` runs no command, so it prints no sizes; DRY_RUN=1 does.
distclean: ## remove all built and measured files, ask first (DRY_RUN=1)
	@scripts/distclean

# Last, because the list is longer than a screen.
##@ First steps
# It needs python3-venv, make and g++, no guest and no root.
lesson: ## step a short coherence trace through a protocol
	@$(call both,scripts/setup lesson,scripts/build lesson)
	@$(S80LAB) lesson
	@echo
	@echo "Next: . build/venv/bin/activate, then s80lab lesson --list"

# From an empty Debian machine to the tables of both mail mixes. Python's packages are fetched while the compiler works; what other jobs need is compiled while the guest boots on one core.
run: ## set up, build, measure both mail workloads (10 to 25 min)
	@scripts/packages
	@$(call both,scripts/setup,scripts/build run)
	@$(S80LAB) image build
	@$(call both,scripts/build,$(S80LAB) run imapb imape)
