make-run complete r
ctascope query r "SELECT k.name, count(*) AS launches FROM launches l JOIN kernels k ON k.kernel = l.kernel GROUP BY 1"
ctascope query r "SELECT launch, operation, count(*), printf('0x%x', min(first_address)) FROM requests GROUP BY 1, 2" --format csv
ctascope query r "SELECT cta, lane, value FROM accesses WHERE launch = 0 LIMIT 2" --format json
ctascope query r "SELECT key FROM run WHERE key = 'none'"
ctascope query r "SELECT launch FROM requests" --limit 1
ctascope query r "SELECT * FROM nowhere"
echo "$?"
ctascope query r "DROP TABLE run"
echo "$?"
ctascope query r
echo "$?"
