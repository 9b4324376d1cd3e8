#!/usr/bin/env python3
"""Findings of systems.cu: each has the ceiling of its own system, and what is right has none.

systems.py BUILD_DIR SOURCE"""
import json
import os
import subprocess
import sys
import tempfile

build, source = sys.argv[1:]
ctascope = os.path.join(build, "bin/ctascope")


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def access(result, *options):
    return json.loads(run(ctascope, "access", result, "--format", "json", *options))


def found(data, kernel, finding):
    return [f for f in data["findings"] if f["kernel"].startswith(kernel) and f["finding"] == finding]


def check(condition, what):
    if not condition:
        sys.exit(f"systems: {what}")


with tempfile.TemporaryDirectory() as where:
    program, result = os.path.join(where, "systems"), os.path.join(where, "run")
    run(ctascope, "cc", "-O2", source, "-o", program)
    run(ctascope, "record", "-o", result, "--", program)
    all_of_it = access(result)
    launches = [access(result, "--launch", str(launch)) for launch in range(9)]
    text = run(ctascope, "access", result)

odd, even = launches[0], launches[1]
rows = found(odd, "add_rows", "rows across sectors")
check(len(rows) == 2 and all("rows of 16 lanes (64 bytes), 4,004 bytes apart" in f["evidence"] for f in rows),
      f"rows that are not aligned: {odd['findings']}")
check(not even["findings"], f"aligned rows: {even['findings']}")
uniform, = found(launches[2], "product", "rows across sectors")
check("the same for all" in uniform["evidence"] and "blocks 32 threads wide" in uniform["remedy"], uniform)
repeated = {f["variable"]: f for f in found(launches[3], "polynomials", "repeated loads")}
check(set(repeated) <= {"coefficients", "in"} and "coefficients" in repeated, repeated)
check("100 times" in repeated["coefficients"]["evidence"] and repeated["coefficients"]["system"] == "L1 sectors",
      repeated["coefficients"])
store, = found(launches[4], "mostly_shared", "strided access")
check(store["system"] == "global-memory sectors" and 0.8 < store["share"] < 0.9, store)
both, = found(all_of_it, "instances", "strided access")
check(both["site_count"] == 2, f"instances of a template: {both}")
meet, = found(launches[7], "counters", "atomics on one address")
check(meet["system"] == "atomic updates" and "on average 31.0 lanes" in meet["evidence"], meet)
check(not found(launches[8], "counters", "atomics on one address"), launches[8]["findings"])
check(not any(f["finding"] == "bank conflicts" for f in all_of_it["findings"]), "bank conflicts of nothing")
check(not any(" 0 bytes apart" in f["evidence"] for f in all_of_it["findings"]), "a distance of 0 bytes")
ceilings = [f["waste"] for f in all_of_it["findings"] if f["share"] is not None]
check(ceilings == sorted(ceilings, reverse=True), "findings by cycles")
check(all(line.split(":")[0].strip().split(". ")[0].isdigit() or "Could save" not in line or "Fix: " in line
          for line in text.splitlines()), "a saving without a fix")
print("systems: right")
