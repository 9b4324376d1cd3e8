make-run complete r
cat >known.txt <<'END'
# Two lines that fit, one that does not.
[race]
first = c*y
variable = out, *
reason = the host polls a flag

[oversized copy]
reason = other inputs use the rest
[fusion]
first = sum
reason = out of date
END
ctascope flow r --suppress known.txt --per finding
ctascope flow r --suppress known.txt --fail-on race >/dev/null
echo "$?"
ctascope flow r --suppress known.txt --fail-on possible-race --format json | grep -A40 suppressed | grep -B40 baseline
ctascope flow r --baseline r --fail-on finding
echo "$?"
make-run boxes b
ctascope flow r --baseline b --fail-on race >/dev/null
echo "$?"
ctascope flow r --baseline missing
echo "$?"
ctascope flow r --suppress missing
echo "$?"
refuse() {
    printf "$1" >bad.txt
    ctascope flow r --suppress bad.txt
    echo "$?"
}
refuse '[race\n'
refuse '\n[rice]\nreason = x\n'
refuse 'reason = x\n'
refuse '[race]\n[race]\n'
refuse '[race]\n'
refuse '[race]\nthird = x\n'
refuse '[race]\nreason =\n'
refuse '[race]\nreason = a\nreason = b\n'
refuse '[race]\nreason\n'
refuse '[race] x\n'
refuse "[race]\nreason = $(printf '%05000d' 0)\n"
