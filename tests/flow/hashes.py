#!/usr/bin/env python3
"""`record --hash` finds the repeated launches that `record --values` finds, on any number of threads,
and keeps no values; without `cc --values` it says what is missing.
hashes.py BUILD_DIR"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 6


def run(*arguments, **environment):
    return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True,
                          text=True, env=dict(os.environ, **environment))


def repeats(ctascope, path):
    answer = json.loads(run(ctascope, "flow", path, "--format", "json", "--limit", "0").stdout)
    return [f for f in answer["findings"] if f["finding"] == "repeated launch"]


def main():
    ctascope = os.path.join(sys.argv[1], "bin", "ctascope")
    with tempfile.TemporaryDirectory() as where:
        found = {}
        program, plain = (os.path.join(where, name) for name in ("program", "plain"))
        source = os.path.join(HERE, "hashes.cu")
        run(ctascope, "cc", "-O2", "--values", source, "-o", program)
        run(ctascope, "cc", "-O2", source, "-o", plain)
        for option in "--values", "--hash":
            for workers in "1", "3":
                path = os.path.join(where, option + workers)
                run(ctascope, "record", option, "-o", path, "--", program, CTASCOPE_WORKERS=workers)
                found[option, workers] = repeats(ctascope, path)
        kept = run(ctascope, "dump", path, "--accesses", "--format", "csv").stdout
        rows = json.loads(run(ctascope, "dump", path, "--format", "json").stdout)["fingerprints"]
        unhashed = os.path.join(where, "unhashed")
        told = run(ctascope, "record", "--hash", "-o", unhashed, "--", plain).stderr
        nothing = repeats(ctascope, unhashed)
    first = found["--values", "1"]
    assert all(rows == first for rows in found.values()), found
    times = {f["name"].split("(")[0]: f["times"] for f in first}
    # `use` gets another scale in every second step.
    assert times == {"fill": STEPS - 1, "wide": STEPS - 1, "bytes": STEPS - 1, "use": 3}, times
    assert "value" not in kept.splitlines()[0], kept.splitlines()[0]
    assert len(rows) == 5 * STEPS, rows
    assert "must be compiled with 'ctascope cc --values'" in told, told
    assert not nothing, nothing
    return 0


if __name__ == "__main__":
    sys.exit(main())
