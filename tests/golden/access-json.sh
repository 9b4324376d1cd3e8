make-run complete demo.run
ctascope access demo.run --format json
ctascope access demo.run --per allocation
ctascope access demo.run --per finding --format csv | head -c 400
ctascope diff demo.run demo.run --fail-on worse --fail-above 0
