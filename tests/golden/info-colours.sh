# colours on a terminal only, and not with NO_COLOR
make-run complete r
unset NO_COLOR
esc=$(printf '\033')
ctascope info r | grep -c "$esc"
TERM=xterm script -qec 'ctascope info r' /dev/null | grep -c "$esc"
NO_COLOR=1 TERM=xterm script -qec 'ctascope info r' /dev/null | grep -c "$esc"
