#!/bin/sh
# Usage: precompiled.sh CTASCOPE PROGRAM.cu
#
# Precompiled headers change how long a compile takes and nothing else: the objects are the same, byte
# for byte but for debug information; they are used only where options mean the same to the headers;
# damaged ones are as none.
set -eu
ctascope=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "$*" >&2
    exit 1
}

# An installation of its own without them.
prefix=$(dirname "$(dirname "$ctascope")")
mkdir -p "$work/bin" "$work/lib/ctascope" "$work/shadow" "$work/other"
cp "$ctascope" "$work/bin/"
ln -s "$prefix/share" "$work/share"
ln -s "$prefix"/lib/ctascope/* "$work/lib/ctascope/"
rm "$work/lib/ctascope/precompiled"
: >"$work/shadow/math.h"
cc="$work/bin/ctascope cc"
cd "$work"
used() { # OPTION...: how many of the two compiles of the source use them
    $cc -### "$@" -c "$program" -o o.o 2>&1 | grep -c -e -include-pch || true
}

compile() { $cc -O2 -g -c "$program" -o object.o; } # an object's name is part of its unit's
compile
mv object.o without.o
[ "$(used -O2)" = 0 ] || fail "used, though there are none"
$cc --precompile-headers
for options in "" -O2 "-O0 -g" "-O3 -DN=3 -Wall -I$work/other" -arch=sm_80; do
    # shellcheck disable=SC2086 # words
    [ "$(used $options)" = 2 ] || fail "not used with '$options'"
done
for options in -std=c++14 -D_GLIBCXX_ASSERTIONS -DCUDA_API_PER_THREAD_DEFAULT_STREAM "-I $work/shadow" -Os \
    "-Xcompiler -fPIC" --use_fast_math -MD "--cuda-version 13" --device=cuda -G "-include stdio.h" -march=x86-64; do
    # shellcheck disable=SC2086 # words
    [ "$(used $options)" = 0 ] || fail "used with '$options'"
done
[ "$(CPATH=$work used -O2)" = 0 ] || fail "used with CPATH"

same() {
    objcopy --strip-debug -R .note.gnu.build-id without.o without.code
    objcopy --strip-debug -R .note.gnu.build-id object.o with.code
    cmp without.code with.code || fail "other code $1"
}
compile >messages 2>&1
[ ! -s messages ] || fail "says: $(cat messages)"
same "with precompiled headers"

# A mistake of the program's is told once.
echo '__global__ void k() { undeclared(); }' >wrong.cu
! $cc -c wrong.cu -o wrong.o 2>messages || fail "compiles wrong.cu"
[ "$(grep -c "error: use of undeclared identifier" messages)" = 1 ] || fail "says: $(cat messages)"

# Half of a file.
truncate -s 2000000 lib/ctascope/precompiled/host-optimised.pch
compile >messages 2>&1 || fail "fails with damaged headers: $(cat messages)"
[ ! -s messages ] || fail "says of damaged headers: $(cat messages)"
same "with damaged headers"
echo "precompiled headers change nothing but time"
