ctascope info nothing
mkdir empty; ctascope info empty
mkdir other; touch other/file; ctascope info other
ctascope info other/file
make-run complete r; sqlite3 r/run.db "UPDATE run SET value = 7 WHERE key = 'format_version'"
ctascope info r
ctascope info r --format json
