make-run complete demo.run
ctascope diff demo.run
ctascope diff demo.run demo.run --fail-above many
ctascope diff demo.run demo.run --fail-on anything
ctascope diff demo.run nowhere.run
ctascope diff demo.run demo.run --kernel-name 'regex:('
ctascope access demo.run --launch first
ctascope access demo.run --launch 77777
ctascope access demo.run --site 77777
ctascope access demo.run --site 1 --per allocation
