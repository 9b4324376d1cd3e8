# every verb has its section; man finds nothing to warn of
ctascope help --man >ctascope.1
for verb in $(ctascope --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    grep -q "^.SS ctascope $verb " ctascope.1 || echo "$verb: no section"
done
grep '^\.SH' ctascope.1
if command -v groff >/dev/null; then groff -man -ww -Tutf8 ctascope.1 >/dev/null; fi
