# SPDX-License-Identifier: GPL-2.0-or-later
# make run: from an empty Debian machine to the tables of both mail mixes. Every target can be repeated.
S80LAB := build/venv/bin/s80lab
# Two commands at once; fails where either does.
both = $(1) & other=$$!; $(2); status=$$?; wait $$other && exit $$status

.PHONY: setup build image run test lint lesson docs pages wheel wheel-any analysis workflow slurm bench fuzz first-minute trixie clean
.DEFAULT_GOAL := run

setup:
	@scripts/setup

build: setup
	@scripts/build

image: build
	@$(S80LAB) image build

# Python's packages are fetched while the compiler works; what other jobs need is compiled while the guest boots on one core.
run:
	@scripts/packages
	@$(call both,scripts/setup,scripts/build run)
	@$(S80LAB) image build
	@$(call both,scripts/build,$(S80LAB) run imapb imape)

# A process more than the machine has processors: some tests wait, for Slurm or for a server.
test:
	@scripts/packages test
	@$(call both,scripts/setup test,scripts/build all)
	@build/venv/bin/pytest --numprocesses $$(($$(nproc) + 1)) tests

lint:
	@scripts/setup test
	@scripts/lint

# The first minute: a coherence trace stepped through a protocol. It needs python3-venv, make and g++, no guest and no root.
lesson:
	@$(call both,scripts/setup lesson,scripts/build lesson)
	@$(S80LAB) lesson

# The documentation site: build/docs/index.html.
docs:
	@scripts/setup docs
	@rm -rf build/docs
	@build/venv/bin/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env -c docs -d build/doctrees . build/docs
	@ls build/docs/index.html

# Regenerates the generated pages of results/reference, docs/background and docs/reference from the data in git. No guest runs.
pages: setup
	@build/venv/bin/python -m s80lab.commands.pages

# A package that can be installed on another Linux: configurations, plugin and tools are in it.
wheel: build
	@scripts/build s80turns
	@rm -rf build/package build/dist/*-linux_*.whl
	@build/venv/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/dist .
	@ls build/dist/*-linux_*.whl

# The same package without compiled programs, for any system. It needs python3-venv, no compiler.
wheel-any:
	@scripts/setup wheel
	@rm -rf build/package build/dist/*-any.whl
	@S80LAB_WHEEL=any build/venv/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/dist .
	@ls build/dist/*-any.whl

# pandas and pyarrow, for notebooks and for Parquet.
analysis: setup
	@scripts/setup analysis

# Snakemake for workflow/ (docs/guides/clusters.md), in build/workflow.
workflow: build
	@scripts/setup workflow

# Explorations and runs on a Slurm of the tests' own, six seeds of both mixes (`make test` has one).
slurm: image
	@scripts/setup test
	@S80LAB_SLURM_SEEDS=6 build/venv/bin/pytest tests/cluster

bench: image
	@scripts/setup test
	@scripts/build bench_replay s80turns
	@$(S80LAB) bench

fuzz:
	@scripts/setup test
	@scripts/build all
	@tests/reference/fuzz/run

# `make lesson` and `make docs` as a new user of a minimal Debian meets them, timed.
first-minute:
	@scripts/first-minute

# Set-up, build and both mixes in a fresh Debian 13.
trixie:
	@scripts/trixie

clean:
	rm -rf build checkpoints/*/ checkpoints/*.json captures/*/ captures/*.json results/runs results/reports results/s80lab.sqlite*
