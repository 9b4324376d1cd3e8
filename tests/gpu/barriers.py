#!/usr/bin/env python3
"""Barriers recorded on a GPU, and what `ctascope access` says of them:

    barriers.py --ctascope PROGRAM --work DIRECTORY [unmodified] [instrumented]

barriers.cu, correct and with a barrier missing, is compiled by nvcc and recorded as it is (--spaces global,shared,barriers), and compiled by `ctascope cc --device=cuda`. Ends with 77 without GPU or compiler.
Prints what the catalogue has of each run, so that a failure can be read from afar.
"""
import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WRONG = []


def require(condition, text):
    print(("ok      " if condition else "WRONG   ") + text, flush=True)
    if not condition:
        WRONG.append(text)


def run(*command, environment=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, **(environment or {})}, timeout=300)
    if done.returncode:
        print(f"$ {' '.join(command)}\n{done.stdout}", flush=True)
    return done


def compile_program(options, kind, missing):
    program = os.path.join(options.work, f"barriers-{kind}{'-missing' if missing else ''}")
    flags = ["-DMISSING"] if missing else []
    source = os.path.join(HERE, "barriers.cu")
    if kind == "unmodified":
        command = ["nvcc", *os.environ.get("CTASCOPE_NVCC_FLAGS", "-arch=native").split(), "-O2",
                   "-lineinfo", *flags, source, "-o", program]
    else:
        command = [options.ctascope, "cc", "--device=cuda", "-O2", *flags, source, "-o", program]
    return program if run(*command).returncode == 0 else None


def check(options, kind, missing):
    program = compile_program(options, kind, missing)
    if not program:
        require(False, f"{kind}: compiles")
        return
    path = program + ".run"
    shutil.rmtree(path, ignore_errors=True)
    done = run(options.ctascope, "record", "--spaces", "global,shared,barriers", "-o", path, "--",
               program)
    print(done.stdout.strip())
    require(done.returncode == 0 and "no error" in done.stdout, f"{program}: recorded")
    db = sqlite3.connect(os.path.join(path, "run.db"))
    flags = [row[0] for row in db.execute("SELECT flags FROM modules")]
    kinds = dict(db.execute("SELECT operation, count(*) FROM sites WHERE operation >= 32 GROUP BY 1"))
    print("        modules' flags", flags, "barrier sites", kinds, "messages",
          db.execute("SELECT severity, text FROM messages").fetchall())
    require(any(flag & 8 for flag in flags), "barriers are recorded")
    require(kinds.get(32, 0) >= 1 and kinds.get(34, 0) >= 1, "sites of barriers and of __syncwarp")
    data = json.loads(run(options.ctascope, "access", path, "--format", "json").stdout)
    races = [(f["kernel"].split("(")[0], f["place"], f.get("race_between"), f["fault_bytes"])
             for f in data["findings"] if "race" in f["finding"]]
    untold = data["soundness"]["untold_race_launches"]
    print("        races", races, "untold", untold)
    if missing:
        require(any(name == "tile" and between == "warps" for name, _, between, _ in races),
                "the missing barrier is found")
    require(not [race for race in races if race[0] != "tile" or not missing], "nothing else is")
    require(untold == 0, "no launch whose order cannot be told")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ctascope", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("kinds", nargs="*", default=[])
    options = parser.parse_args()
    os.environ["PATH"] += ":" + os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin")
    if subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                      check=False).returncode if shutil.which("nvidia-smi") else True:
        print("no NVIDIA GPU")
        sys.exit(77)
    os.makedirs(options.work, exist_ok=True)
    for kind in options.kinds or ["unmodified", "instrumented"]:
        if kind == "unmodified" and not shutil.which("nvcc"):
            print("no nvcc: unmodified programs were not tried")
            continue
        for missing in (False, True):
            check(options, kind, missing)
    sys.exit(f"{len(WRONG)} wrong" if WRONG else 0)


if __name__ == "__main__":
    main()
