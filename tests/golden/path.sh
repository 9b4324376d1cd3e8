path-generate messages 300 2 t > generated
ctascope path t/traces.otf2 --limit 5
ctascope path t/traces.otf2 --per pattern --format csv
ctascope path t/traces.otf2 --per pattern --limit 3
ctascope path t/traces.otf2 --per instance --limit 2 --sort duration_ns
ctascope path t/traces.otf2 --direct-blame --limit 3 --format csv
ctascope path t/traces.otf2 --within compute --limit 3
