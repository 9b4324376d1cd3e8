make-run complete demo.run
ctascope export demo.run -o folder --format json --site 77777
ctascope export demo.run -o folder --format json --launch 77777
ls -A
mkdir folder
ctascope export demo.run -o folder --format json --space local
ls folder | wc -l
ctascope export demo.run -o folder --format json
ctascope export demo.run -o part.csv --format csv --site 77777
ls -A
