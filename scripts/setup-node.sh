#!/bin/sh
# Adds Node to .venv, which builds the console. scripts/setup.sh goes before it.
set -eu
cd "$(dirname "$0")/.."

.venv/bin/python -m pip install -qq --disable-pip-version-check --no-compile --no-deps \
    --require-hashes -r requirements/console.txt
