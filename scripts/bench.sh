#!/bin/sh
# Runs every benchmark in benchmarks/, or the one named. The systems compared with live in an environment of their own,
# which `make bench-peers` makes; where it exists it is used.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python
if [ -x .venv-bench/bin/python ]; then
    python=.venv-bench/bin/python
    PYTHONPATH="$(pwd)/src${PYTHONPATH:+:$PYTHONPATH}"
    export PYTHONPATH
else
    printf '%s\n' "Without the systems to compare with; make bench-peers installs them." >&2
fi

if [ $# -gt 0 ]; then
    [ -f "benchmarks/$1.py" ] || {
        printf '%s\n' "There is no benchmark called $1. There are: $(cd benchmarks && ls | grep -v '^draw_' | sed -n 's/^\([^_].*\)\.py$/\1/p' | tr '\n' ' ')" >&2
        exit 2
    }
    exec "$python" "benchmarks/$1.py"
fi
for file in benchmarks/[!_]*.py; do
    case "$file" in benchmarks/draw_*) continue ;; esac
    [ -f "$file" ] || continue
    printf '\n%s\n' "== $file"
    "$python" "$file"
done
