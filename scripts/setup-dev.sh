#!/bin/sh
# Adds to .venv what tests, lint and benchmarks need, and the packages in examples/. scripts/setup.sh goes before it.
set -eu
cd "$(dirname "$0")/.."

install() { .venv/bin/python -m pip install -qq --disable-pip-version-check --no-deps "$@"; }

printf '%s\n' "Installing what tests need into .venv; the first time this takes a few minutes." >&2
install --require-hashes -r requirements/dev.txt

set --
for package in examples/*/pyproject.toml; do
    set -- "$@" -e "$(dirname "$package")"
done
install --no-build-isolation "$@"
