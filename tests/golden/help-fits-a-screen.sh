# no verb's help is longer than 40 lines, the list of verbs than 50, or wider than 100 columns
for verb in "" $(ctascope --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    ctascope $verb --help | awk -v verb="$verb" '
        length($0) > 100 { print verb ": wide: " $0 }
        END { if (NR > (verb == "" ? 50 : 40)) print verb ": " NR " lines" }'
done
