#!/bin/bash
# check.sh SOURCE BUILD: installs the build with a prefix and DESTDIR, moves the tree, uses it.
set -euo pipefail
source=$1 build=$2
where=$(mktemp -d)
trap 'rm -rf "$where"' EXIT
fail() {
    echo "install: $*" >&2
    exit 1
}

# Twice, as one who builds a newer version does; a folder is there before, as in /usr/local. The earlier
# version has a file that the newer one lacks, in a folder of its own, next to one of the user's.
mkdir -p "$where/stage/opt/first/share/man"
for time in first second; do
    DESTDIR=$where/stage cmake --install "$build" --prefix /opt/first --strip >"$where/install.log"
    [ $time = first ] || continue
    lib=$where/stage/opt/first/lib/ctascope
    mkdir "$lib/old"
    touch "$lib/old/part" "$lib/old.so" "$lib/mine"
    printf '%s\n' lib/ctascope/old/part lib/ctascope/old.so lib/ctascope/old/ >>"$lib/manifest.txt"
done
[ ! -e "$lib/old" ] && [ ! -e "$lib/old.so" ] || fail "files of an earlier version stay: $(ls -d "$lib"/old*)"
[ -e "$lib/mine" ] && rm "$lib/mine" || fail "installing removed a file that is not ctascope's"
mkdir "$where/a place"
mv "$where/stage/opt/first" "$where/a place/moved"
prefix="$where/a place/moved"
ctascope="$prefix/bin/ctascope"
cd "$where"

# Nothing installed knows the tree it was built in.
known=$(grep -rlF -e "$build" -e "$source/src" "$prefix" || :)
[ -z "$known" ] || fail "files that name the build tree: $known"
for file in "$ctascope" "$prefix"/lib/ctascope/*.so "$prefix"/lib/*.so*; do
    path=$(readelf -d "$file" | sed -n 's/.*R.*PATH.*\[\(.*\)\]/\1/p')
    case $path in '' | '$ORIGIN') ;; *) fail "$file looks for libraries in '$path'" ;; esac
done

# The demo's main job, from the moved tree alone.
cp "$source/examples/vectoradd.cu" app.cu
cp "$source/examples/common.h" .
"$ctascope" cc -O2 app.cu -o app
./app >/dev/null
"$ctascope" record -o run -- ./app >/dev/null
"$ctascope" comm run | grep -q communicated || fail "comm prints nothing"
"$ctascope" report run -o report.html && [ -s report.html ] || fail "no report"
"$prefix/share/ctascope/nvcc/bin/nvcc" -O2 -c app.cu -o app.o || fail "the stand-in nvcc does not compile"

# C through pkg-config, C++ and C through CMake.
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
[ "$(pkg-config --modversion ctascope)" = "$("$ctascope" --version | awk '{print $2}')" ] ||
    fail "pkg-config has another version"
cp "$source/examples/c-api/summary.c" .
eval "gcc -Wall -Werror summary.c $(pkg-config --cflags --libs ctascope) -o summary"
LD_LIBRARY_PATH="$prefix/lib" ./summary run >by-pkg-config
grep -q 'bytes loaded' by-pkg-config || fail "the example prints nothing"
cat >CMakeLists.txt <<EOT
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(ctascope $(cat "$source/VERSION") REQUIRED)
add_executable(by-cmake summary.c)
target_link_libraries(by-cmake PRIVATE ctascope::ctascope)
EOT
cmake -S . -B user -DCMAKE_PREFIX_PATH="$prefix" >cmake.log || { cat cmake.log; fail "find_package"; }
cmake --build user >cmake.log || { cat cmake.log; fail "a user's CMake project"; }
user/by-cmake run | cmp - by-pkg-config

# Manual page and completion.
grep -q '^\.TH CTASCOPE' "$prefix/share/man/man1/ctascope.1" || fail "no manual page"
bash -c "source '$prefix/share/bash-completion/completions/ctascope' && complete -p ctascope" >/dev/null ||
    fail "completion does not load"

# The components, of which Debian's packages are made, are together the whole.
for component in program cpu gpu library development; do
    cmake --install "$build" --prefix "$where/parts" --component $component >>"$where/install.log"
done
files() { (cd "$1" && find . -not -type d | sort); }
diff <(files "$where/parts") <(files "$prefix" | grep -v manifest.txt) ||
    fail "a file is installed that is of no component, and so of no package"

# A package of the program alone says which package it lacks.
cmake --install "$build" --prefix "$where/alone" --component program --strip >>"$where/install.log"
alone=$where/alone/bin/ctascope
"$alone" comm run | cmp - <("$ctascope" comm run) || fail "comm of the program alone prints something else"
for words in "cc app.cu -o none" "cc --device=cuda app.cu -o none" env; do
    code=0
    $alone $words >lacks 2>&1 || code=$?
    [ $code = 4 ] && grep -q 'Debian package ctascope-cpu' lacks ||
        fail "'ctascope $words' without ctascope-cpu: exit status $code: $(cat lacks)"
done
"$alone" doctor >lacks || :
grep -q '^  plugin  *the Debian package ctascope-cpu' lacks || fail "doctor does not name ctascope-cpu: $(cat lacks)"

# Removed again: what is not ours stays, also folders that are empty.
touch "$prefix/lib/theirs"
"$prefix/lib/ctascope/uninstall"
left=$(cd "$prefix" && find . -mindepth 1 | sort | tr '\n' ' ')
[ "$left" = "./lib ./lib/theirs ./share ./share/man " ] || fail "left behind: $left"
echo "install: the tree is complete, movable and removable"
