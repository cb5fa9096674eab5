# `make run` starts Beforehand with its demo, `make test` proves that it works; both set up first what they need.
# Needed beforehand: Python 3.11 or newer with venv, and make.
#
#   make setup   make .venv with what running needs        make dev     add what tests, lint and benchmarks need
#   make console build the console, if web/ has changed    make lint    style, types and the import contract
#   make run     console and demo on PORT (8700)
#   make test    lint, then all tests but the long ones    make bench   the benchmarks, a table each (BENCH=name for one)
#   make soak    the long tests, about twenty minutes      make lock    write requirements/*.txt anew
#   make quick   lint, types and the tests that start nothing: for the inner loop
#   make steady  what browsers, kills and sockets test, beside a busy neighbour (STEADY="tests/cli/test_run.py" TIMES=20)
#   make slow    the console's tests on a machine that is slow in one place (SLOW=files:1.5,api:1; places: tests/slow.py)
#   make mutants statements changed at random: does a test notice? (MUTANTS="--base main --count 40 --seed 1")
#
# Variables: PYTHON=python3.12, PORT=8701, RUN_FLAGS="--no-open", PYTEST_FLAGS="-k approval", BENCH=engine.

PYTHON ?= python3
PORT ?= 8700
RUN_FLAGS ?=
PYTEST_FLAGS ?=
BENCH ?=
MUTANTS ?=
SLOW ?= files:1.5,api:1
STEADY ?= tests/e2e tests/contract tests/cli tests/api
TIMES ?= 1

BIN := .venv/bin
PLACE := $(shell pwd -P | cksum | cut -d ' ' -f 1)
STAMP := .venv/.setup-$(PLACE)
NODE_STAMP := .venv/.node-$(PLACE)
DEV_STAMP := .venv/.dev-$(PLACE)
BENCH_STAMP := .venv-bench/.setup-$(PLACE)
EXAMPLES := $(wildcard examples/*/pyproject.toml)
CHECKED := src tests benchmarks examples scripts
PYTEST = $(BIN)/python -m pytest -n 4 --dist loadscope -p no:schemathesis
NPM = PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/npm --prefix web run --silent

# Tests start the command hundreds of times; without compiled modules each start would compile them anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup console web dev run test quick soak steady slow mutants lint bench bench-peers lock clean

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

setup: $(STAMP)

$(STAMP): requirements/runtime.txt scripts/setup.sh pyproject.toml
	@PYTHON="$(PYTHON)" sh scripts/setup.sh
	@touch $@

$(NODE_STAMP): $(STAMP) requirements/console.txt
	@sh scripts/setup-node.sh
	@touch $@

console: $(NODE_STAMP)
	@$(BIN)/python scripts/console.py

dev: $(DEV_STAMP)

# All packages of web/; those that build it are enough for everybody else.
web: dev
	@$(BIN)/python scripts/console.py packages

$(DEV_STAMP): $(NODE_STAMP) requirements/dev.txt scripts/setup-dev.sh $(EXAMPLES)
	@sh scripts/setup-dev.sh
	@touch $@

run: console
	@$(BIN)/python scripts/demo.py --port $(PORT) $(RUN_FLAGS)

lint: dev web
	$(BIN)/ruff check $(wildcard $(CHECKED))
	$(BIN)/ruff format --check $(wildcard $(CHECKED))
	$(BIN)/mypy --strict
	$(BIN)/lint-imports
	$(NPM) lint
	$(NPM) types

test: dev lint console
	@sh scripts/test-packages.sh
	$(NPM) test
	$(PYTEST) -m "not soak" --budgets $(PYTEST_FLAGS)

quick: lint
	$(PYTEST) -m "not soak" $(PYTEST_FLAGS) tests/rooms tests/scenarios --ignore-glob "*/test_contract_*.py"

steady: dev console
	@sh scripts/test-packages.sh
	$(BIN)/python scripts/steady.py --times $(TIMES) -- -q -n 4 --dist loadscope -p no:schemathesis -m "not soak" $(PYTEST_FLAGS) $(STEADY)

soak: dev
	@sh scripts/test-packages.sh
	$(PYTEST) -m soak --timeout 3600 $(PYTEST_FLAGS)

slow: dev console
	@sh scripts/test-packages.sh
	SLOW=$(SLOW) $(PYTEST) -p tests.slow -m "not soak" --timeout 300 $(PYTEST_FLAGS) tests/e2e/console

mutants: dev
	$(BIN)/python scripts/mutants.py $(MUTANTS)

bench: dev console
	@sh scripts/bench.sh $(BENCH)

bench-peers: $(BENCH_STAMP)

# Beforehand is installed there too: crafts are found by their entry points, which a path alone does not have.
$(BENCH_STAMP): requirements/bench.txt pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install -qq --disable-pip-version-check --no-deps --require-hashes -r requirements/bench.txt
	.venv-bench/bin/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

lock:
	@sh scripts/lock.sh

clean:
	rm -rf .venv .venv-bench web/node_modules src/beforehand/server/console .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
