#!/bin/sh
# Runs every benchmark in benchmarks/, or the one named; options, such as --smallest, are handed on to them. The systems
# compared with live in an environment of their own, which `make bench-peers` makes; where it exists it is used.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python
if [ -x .venv-bench/bin/beforehand ]; then
    python=.venv-bench/bin/python
else
    printf '%s\n' "Without the systems to compare with; make bench-peers installs them." >&2
fi

case "${1:--}" in
-*) ;;
*)
    file="benchmarks/$1.py"
    [ -f "$file" ] || {
        printf '%s\n' "There is no benchmark called $1. There are: $(cd benchmarks && ls | sed -n 's/^\([^_].*\)\.py$/\1/p' | tr '\n' ' ')" >&2
        exit 2
    }
    shift
    exec "$python" "$file" "$@"
    ;;
esac
for file in benchmarks/[!_]*.py; do
    printf '\n%s\n' "== $file"
    "$python" "$file" "$@"
done
