#!/bin/sh
# Makes .venv with what running Beforehand needs, from the hashed lock in requirements/. make dev adds the rest.
# What is missing on a Debian machine is installed when this runs as root; otherwise a sentence says what to install.
set -eu
cd "$(dirname "$0")/.."
python="${PYTHON:-python3}"
here="$(pwd -P)"

say() { printf '%s\n' "$*" >&2; }

stop() {
    say "make setup stopped: $*"
    exit 1
}

can_install() { [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; }

install_python() {
    say "Installing python3 and python3-venv from Debian packages."
    DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    apt-get update -qq && apt-get install -y -qq --no-install-recommends python3 python3-venv >/dev/null
}

has_venv() { "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; }

if ! has_venv; then
    if can_install; then
        install_python || stop "python3-venv could not be installed; look at the message above and try again."
    fi
    has_venv || stop "Python with venv is missing. Install it first; on Debian: apt install python3 python3-venv"
fi

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    stop "$("$python" --version) is too old; Python 3.11 or newer is needed. Name one with: make setup PYTHON=python3.12"

# A checkout that was moved or copied carries scripts that point to the old place, so its environment is made anew.
if [ -d .venv ] && ! grep -qF "$here/.venv" .venv/pyvenv.cfg 2>/dev/null; then
    "$python" -m venv --clear .venv
elif ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    "$python" -m venv .venv
fi

# The lock names everything, so nothing is left to resolve.
install() { .venv/bin/python -m pip install -qq --disable-pip-version-check --no-compile --no-deps "$@"; }

say "Installing what running needs into .venv; the first time this takes about half a minute."
install --require-hashes -r requirements/runtime.txt
install --no-build-isolation -e .
# Compiled once here, on all cores and without the packages' own tests: where Python is told not to write bytecode, every
# start would compile everything again.
.venv/bin/python -m compileall -qq -j 0 -x '[/]tests[/]' .venv/lib src || true
say "Ready: .venv/bin/beforehand"
