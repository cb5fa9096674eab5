#!/bin/sh
# Installs the Debian packages that some tests need (scripts/debian-packages.txt), when run as root.
# Never fails: without them those tests are skipped by name, or fail where CI=true.
set -u
cd "$(dirname "$0")/.."

missing=""
while read -r package; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' && continue
    command -v "$package" >/dev/null 2>&1 && continue
    missing="$missing $package"
done <scripts/debian-packages.txt
[ -z "$missing" ] && exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    printf '%s\n' "Tests that need it will be skipped by name; to run them too, install:$missing" >&2
    exit 0
fi
printf '%s\n' "Installing from Debian packages:$missing" >&2
DEBIAN_FRONTEND=noninteractive
export DEBIAN_FRONTEND
# shellcheck disable=SC2086  the list is meant to be split into words
{ apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing >/dev/null; } ||
    printf '%s\n' "These packages could not be installed, so the tests that need them do not run:$missing" >&2
exit 0
