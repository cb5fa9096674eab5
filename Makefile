# `make run` starts Beforehand with its demo, `make test` proves that it works; both set everything up first.
# Needed beforehand: Python 3.11 or newer with venv, and make.
#
#   make setup   make .venv with everything in it          make lint    style, types and the import contract
#   make run     console and demo on PORT (8700)           make bench   the benchmarks, a table each (BENCH=name for one)
#   make test    lint, then all tests                      make lock    write requirements/*.txt anew
#
# Variables: PYTHON=python3.12, PORT=8701, RUN_FLAGS="--no-open", PYTEST_FLAGS="-k approval", BENCH=engine.

PYTHON ?= python3
PORT ?= 8700
RUN_FLAGS ?=
PYTEST_FLAGS ?=
BENCH ?=

BIN := .venv/bin
STAMP := .venv/.setup-$(shell pwd -P | cksum | cut -d ' ' -f 1)
BENCH_STAMP := .venv-bench/.setup
PACKAGES := $(wildcard pyproject.toml examples/plugin/pyproject.toml)
CHECKED := src tests benchmarks examples scripts

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup run test lint bench bench-peers lock clean

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

setup: $(STAMP)

$(STAMP): requirements/dev.txt scripts/setup.sh $(PACKAGES)
	@PYTHON="$(PYTHON)" sh scripts/setup.sh
	@touch $@

run: setup
	@$(BIN)/python scripts/demo.py --port $(PORT) $(RUN_FLAGS)

lint: setup
	$(BIN)/ruff check $(wildcard $(CHECKED))
	$(BIN)/ruff format --check $(wildcard $(CHECKED))
	$(BIN)/mypy --strict
	$(BIN)/lint-imports

test: setup lint
	@sh scripts/test-packages.sh
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(PYTEST_FLAGS)

bench: setup
	@sh scripts/bench.sh $(BENCH)

bench-peers: $(BENCH_STAMP)

$(BENCH_STAMP): requirements/bench.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/bench.txt
	@touch $@

lock:
	@sh scripts/lock.sh

clean:
	rm -rf .venv .venv-bench .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
