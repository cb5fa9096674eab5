#!/bin/sh
# Writes requirements/*.txt from pyproject.toml: hashed, for Python 3.11 and later, naming no registry and no path.
set -eu
cd "$(dirname "$0")/.."
PATH="$(pwd)/.venv/bin:$PATH"
command -v uv >/dev/null 2>&1 || {
    printf '%s\n' "make lock needs uv; install it with: .venv/bin/pip install uv" >&2
    exit 1
}

lock() {
    out="requirements/$1.txt"
    shift
    uv pip compile pyproject.toml "$@" -o "$out" --quiet --generate-hashes --universal --python-version 3.11 \
        --no-emit-index-url --no-emit-find-links --no-header
    printf '%s\n' "Wrote $out." >&2
}

lock runtime
lock dev --extra dev
lock bench --extra bench --extra bench-cell
