#!/bin/sh
# Writes requirements/*.txt from pyproject.toml: hashed, for Python 3.11 and later, naming no registry and no path.
#
#   runtime   what running needs, and what builds the package, since make setup installs the checkout
#   console   Node, which builds the console
#   dev       that, and what tests, lint and benchmarks need; the same versions of whatever both have
#   bench     what the benchmarks need and compare with, and what builds the package, for an environment of its own
set -eu
cd "$(dirname "$0")/.."
PATH="$(pwd)/.venv/bin:$PATH"
command -v uv >/dev/null 2>&1 || {
    printf '%s\n' "make lock needs uv; make dev installs it." >&2
    exit 1
}

named() {
    python3 -c 'import sys, tomllib; found = tomllib.load(open("pyproject.toml", "rb"))
for key in sys.argv[1:]: found = found[key]
print(*found, sep="\n")' "$@"
}

lock() {
    out="requirements/$1.txt"
    shift
    uv pip compile "$@" -o "$out" --quiet --generate-hashes --universal --python-version 3.11 \
        --no-emit-index-url --no-emit-find-links --no-header
    printf '%s\n' "Wrote $out." >&2
}

named build-system requires | lock runtime pyproject.toml -
named tool hatch build targets wheel hooks custom dependencies | lock console -
lock dev pyproject.toml --extra dev --constraint requirements/runtime.txt --constraint requirements/console.txt
named build-system requires | lock bench pyproject.toml - --extra bench --extra bench-cell
