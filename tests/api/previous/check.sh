#!/bin/bash
# check.sh BUILD PROGRAM: a program of 0.1, linked with a stand-in for its library, prints with today's
# library what it printed then.
set -euo pipefail
build=$1 program=$2
where=$(mktemp -d)
trap 'rm -rf "$where"' EXIT
"$build/tests/make-run" complete "$where/run"
if readelf -V "$program" | grep -q CTASCOPE_; then
    echo "the program asks for versions of symbols: it is not one of 0.1" >&2
    exit 1
fi
LD_LIBRARY_PATH=$build/lib "$program" "$where/run" | diff "$(dirname "$0")/expected.txt" -
