echo 'lunch cuLaunchKernel' > table
path-generate free 100 1 t > generated
ctascope path t/traces.otf2 --per nothing
ctascope path t/traces.otf2 --sort nothing
ctascope path t/traces.otf2 --path-weight minus
ctascope path t/traces.otf2 --path-weight 0 --blame-weight 0
ctascope path t/traces.otf2 --api-table table
ctascope path t/traces.otf2 --api-table nowhere
ctascope path nowhere.otf2
ctascope path t/traces.otf2 --within comput
ctascope path t/traces.otf2 --within compute --chrome c.json
ctascope path t/traces.otf2 --null-stream 99
