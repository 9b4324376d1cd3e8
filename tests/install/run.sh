#!/bin/bash
# run.sh SOURCE: what ./run makes of its arguments, with commands that only write down how they were called.
set -euo pipefail
source=$1
where=$(mktemp -d)
trap 'rm -rf "$where"' EXIT
fail() {
    echo "run: $*" >&2
    exit 1
}
mkdir -p "$where"/{bin,user,tree/{packaging,web/node_modules}}
cp "$source/run" "$where/tree/"
cp "$source/packaging/packages.txt" "$where/tree/packaging/"
cp "$source/web/package-lock.json" "$where/tree/web/"
# Everything is installed, unless a file says what is not.
cat >"$where/bin/called" <<EOT
#!/bin/bash
echo "\${0##*/} \$*" >>"$where/calls"
[ "\${0##*/}" != dpkg-query ] || grep -qxF "\${@: -1}" "$where/missing" || echo "install ok installed"
EOT
chmod +x "$where/bin/called"
for name in cmake ctest dpkg-query npm node sudo; do ln -s called "$where/bin/$name"; done
touch "$where/missing"
for name in bash dirname readlink nproc grep cat realpath mkdir cmp cp id ln rm; do
    ln -s "$(command -v $name)" "$where/bin/$name"
done

# run_as STATUS ARGUMENT...: from the user's folder; what is printed is in $where/out.
run_as() {
    local wanted=$1 code=0
    shift
    : >"$where/calls"
    (cd "$where/user" && PATH=$where/bin "${as[@]}" "$where/tree/run" "$@") >"$where/out" 2>&1 || code=$?
    [ $code = "$wanted" ] || fail "'./run $*' ends with $code, not $wanted: $(cat "$where/out")"
}
as=()
untouched() { [ ! -s "$where/calls" ] || fail "'./run $1' does something: $(cat "$where/calls")"; }

# A prefix is relative to the folder of whoever calls.
for prefix in there ../user/there "$where/user/there" there/; do
    run_as 0 install "$prefix"
    grep -q -- "--install build/install --prefix $where/user/there --strip" "$where/calls" ||
        fail "'./run install $prefix' does not install there: $(cat "$where/calls")"
done
run_as 0 install
grep -q -- "--prefix /usr/local --strip" "$where/calls" || fail "'./run install' does not install in /usr/local"

# A question is not a command.
for words in "install --help" "demo --help" "package -h" "test --help" "fuzz --help" "bench -h" "" help; do
    run_as 0 $words
    grep -q '^usage: ./run COMMAND' "$where/out" || fail "'./run $words' does not print the usage"
    untouched "$words"
done
for words in "instal" "demo now" "build release" "setup all" "install a b" "install --prefix=/opt" "format x" \
    "package debian python" "package rpm" "fuzz"; do
    run_as 2 $words
    grep -q '^run: ' "$where/out" || fail "'./run $words' does not say what is wrong: $(cat "$where/out")"
    untouched "$words"
done

# Who has neither root nor sudo learns what to install.
echo zlib1g-dev >"$where/missing"
rm "$where/bin/sudo"
if [ "$(id -u)" = 0 ]; then
    chmod -R a+rwX "$where"
    ln -s "$(command -v setpriv)" "$where/bin/setpriv"
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
run_as 1 setup
grep -q 'apt-get install .*zlib1g-dev' "$where/out" || fail "without sudo, './run setup' does not say what to do: $(cat "$where/out")"
echo "run: arguments are understood"
