# A .trc with an access of type 3, a run with a count of 0, and a truncated record.
printf '\032CUDATRACE\000\001\000k' >a.trc
printf '\377\004\000\000\060\000\000\000\000\100\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000' >>a.trc
printf '\376\004\000\000\020\000\000\000\000\100\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000' >>a.trc
printf '\377\004' >>a.trc
ctascope import a.trc -o a
ctascope comm a | grep -E '^(Note|LOWER)'
# What cannot be imported leaves nothing behind.
printf 'hello' >b.trc
printf '\032CUDATRACE\001' >c.trc
: >d.trc
for file in b.trc c.trc d.trc e.trc .; do
    ctascope import $file -o b
    echo $?
done
ctascope import a.trc -o a
ctascope import a.trc -o b --grid 0
ctascope import a.trc -o b --grid other=7
ctascope import a.trc
ctascope export a
ctascope export a -o nowhere/a.trc
ctascope export a -o c --rank 5
ls
