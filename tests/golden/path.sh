path-generate messages 300 2 t > generated
ctascope path t/traces.otf2 --top 5
ctascope path t/traces.otf2 --per pattern --format csv
ctascope path t/traces.otf2 --per instance --top 2 --sort duration_ns
ctascope path t/traces.otf2 --direct-blame --top 3 --format csv
ctascope path t/traces.otf2 --within compute --top 3
