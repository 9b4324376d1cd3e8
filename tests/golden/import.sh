make-run complete r
for version in trc2 trc3; do
    ctascope export r -o $version --format $version
    ctascope import $version -o s-$version --grid 'copy(float *, const float *)=2;sum(int *)=2x3'
    ctascope comm s-$version | grep -E '^(Note|  received)'
    ctascope partition s-$version | grep '^Note'
    ctascope partition s-$version --format json | grep -o '"host_activity": *"[a-z]*"'
done
cmp s-trc2/rank-0/0.acc s-trc3/rank-0/0.acc
ctascope dump s-trc3 --table sites
ctascope dump s-trc3 --accesses | head -n 12
