make-run complete demo.run
ctascope diff demo.run demo.run --per kernel --format csv
