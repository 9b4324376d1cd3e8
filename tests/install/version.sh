#!/bin/sh
# version.sh SOURCE CTASCOPE: the version stands in VERSION; whatever else names it agrees.
set -eu
cd "$1"
version=$(cat VERSION)
fail() {
    echo "version: VERSION says $version, but $1" >&2
    exit 1
}
[ "$("$2" --version)" = "ctascope $version" ] || fail "the program prints '$("$2" --version)'"
newest=$(sed -n 's/^## //p' CHANGELOG.md | head -1)
[ "$newest" = "$version" ] || fail "CHANGELOG.md begins with $newest"
named=$(grep -oE '(_|/)[0-9]+\.[0-9]+\.[0-9]+' docs/ci.md | tr -d '_/' | sort -u)
[ "$named" = "$version" ] || fail "the workflow of docs/ci.md names" $named
stated=$(sed -n 's/^ \* The library.s version, such as "\(.*\)".*/\1/p; s/^.*such as "\([0-9.]*\)"; static.*/\1/p' include/ctascope/ctascope.h | sort -u)
[ "$stated" = "$version" ] || fail "ctascope.h's example of a version is '$stated'"
