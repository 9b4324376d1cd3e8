path-generate messages 300 2 t >generated
ctascope whatif t/traces.otf2
echo $?
ctascope whatif t/traces.otf2 --scale stencil=0.5
echo $?
ctascope whatif t/traces.otf2 --scale stencil_kernel=fast
echo $?
ctascope whatif t/traces.otf2 --scale 'rank 9: stencil_kernel=0.5'
echo $?
ctascope path t/traces.otf2 --window 0
echo $?
ctascope path t/traces.otf2 --window 100 --enriched e
