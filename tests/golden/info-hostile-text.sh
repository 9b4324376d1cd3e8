# what a file says does not reach the terminal as a command
make-run complete r
sqlite3 r/run.db "UPDATE messages SET text = 'a' || char(27) || '[31mred' || char(10) || 'b'; UPDATE kernels SET name = 'k' || char(27) || ']0;x' || char(7)"
ctascope info r | grep -v '^  size'
sqlite3 r/run.db "UPDATE copies SET kind = 'x' || char(27) || '[2J'"
ctascope info r
