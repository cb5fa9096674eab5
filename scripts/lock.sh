#!/bin/sh
# Writes requirements/*.txt from pyproject.toml: hashed, for Python 3.11 and later, naming no registry and no path.
#
#   runtime   what running needs, and what builds the package, since make setup installs the checkout
#   dev       that, and what tests, lint and benchmarks need; the same versions of whatever both have
#   bench     what the benchmarks compare with, for an environment of its own
set -eu
cd "$(dirname "$0")/.."
PATH="$(pwd)/.venv/bin:$PATH"
command -v uv >/dev/null 2>&1 || {
    printf '%s\n' "make lock needs uv; make dev installs it." >&2
    exit 1
}

builder() {
    python3 -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")'
}

lock() {
    out="requirements/$1.txt"
    shift
    uv pip compile pyproject.toml "$@" -o "$out" --quiet --generate-hashes --universal --python-version 3.11 \
        --no-emit-index-url --no-emit-find-links --no-header
    printf '%s\n' "Wrote $out." >&2
}

builder | lock runtime -
lock dev --extra dev --constraint requirements/runtime.txt
lock bench --extra bench --extra bench-cell --extra fast
