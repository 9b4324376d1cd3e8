path-generate messages 300 2 a > generated
path-generate drain 300 2 b > generated
ctascope diff a/traces.otf2 b/traces.otf2 --limit 5
ctascope diff a/traces.otf2 a/traces.otf2 --limit 1
ctascope diff a/traces.otf2 b/traces.otf2 --per pattern --format csv
ctascope diff a/traces.otf2 b/traces.otf2 --limit 1 --format json
ctascope diff b/traces.otf2 a/traces.otf2 --per activity --limit 1 --fail-above 1%
ctascope diff a/traces.otf2 b/traces.otf2 --fail-on new
ctascope diff a/traces.otf2 b/traces.otf2 --time --per kernel
ctascope diff a/traces.otf2 nowhere.otf2
