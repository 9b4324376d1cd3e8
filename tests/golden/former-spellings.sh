# options of earlier releases do what today's do, and no help shows them
make-run complete demo.run
path-generate messages 300 2 t >generated
kernel=$(ctascope info demo.run --format json | sed -n 's/.*"name": *"\([a-z_]*\)(.*/\1/p' | head -1)
same() { # an option that is followed by a value, today's, its value, a verb's arguments
    former=$1 now=$2 former_value=$3 value=$4
    shift 4
    ctascope "$@" "$former" "$former_value" >former 2>&1 && ctascope "$@" "$now" "$value" >now 2>&1 ||
        echo "$1 $former fails: $(cat former now)"
    ctascope "$@" >without 2>&1
    sed -i 's/ in [0-9.]* s$//' former now without # how long it took
    cmp -s former now && echo "$1 $former = $now, $(cmp -s former without && echo no other || echo another) answer than without"
    ctascope "$1" --help | grep -e "$former " -e "$former=" && echo "$1 --help shows $former"
    ctascope help --completion bash | grep "^ *$1) " | grep -e "$former " && echo "completion has $former"
}
same --top --limit 2 2 path t/traces.otf2
same --top --limit 2 2 whatif t/traces.otf2 --targets
same --kernel --kernel-name "^$kernel" "$kernel" access demo.run --per site
same --kernel --kernel-name "regex:^$kernel" "regex:^$kernel" diff demo.run demo.run --per kernel
same --set-memory --memory-limit 512M 512M comm demo.run
ctascope view demo.run --memory lots
ctascope export demo.run -o file
ctascope import file -o imported --memory 64M && ctascope import file -o imported --force --memory lots
ctascope comm demo.run --set-memory lots
ctascope access demo.run --kernel '('
ctascope access demo.run --kernel-name '^nothing'
ctascope access demo.run --bottom 1
