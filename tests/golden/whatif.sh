path-generate drain 400 2 t >generated
ctascope whatif t/traces.otf2 --scale stencil_kernel=0.5 --limit 5
ctascope whatif t/traces.otf2 --scale stencil_kernel=1 --per rank --format csv
ctascope whatif t/traces.otf2 --remove 'rank 1: stencil_kernel' --per pattern --format csv
ctascope whatif t/traces.otf2 --targets --per target --format csv
ctascope whatif t/traces.otf2 --scale launch\ latency=0 --per wait --limit 2 --format csv
ctascope whatif t/traces.otf2 --remove stencil_kernel --scale stencil_kernel=1 --per rank --format csv
ctascope whatif t/traces.otf2 --scale stencil_kernel=1 --remove stencil_kernel --per rank --format csv
