#!/usr/bin/env python3
"""Records the memory accesses of unmodified GPU programs and compares the runs with what the programs
say they did ("expect KEY COUNT"), and the examples with what the CPU device records of the same source:

    memory.py --ctascope PROGRAM --programs DIRECTORY [--keep DIRECTORY] CASE...

Ends with 77 where there is no GPU, or this ctascope cannot record one. Without CASE: all of them.
"""
import argparse
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
LIMIT_S = 60
CASES = ["plain", "patterns", "far", "async", "streams", "memory", "graph", "full", "many", "trap",
         "no-sync", "killed", "reset"]
OWN_STATUS = {"trap": 3, "killed": 137}
EXAMPLES = ["vectoradd", "stencil2d", "histogram", "transpose", "nbody", "reduction"]
# Where nvcc and clang make different accesses; everything else is the same to the byte.
DIFFERENT = {"nbody", "reduction"}


class Failure(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Failure(text)


class Run:
    """A recorded run: what the program printed, and the catalogue."""

    def __init__(self, options, name, command, *record_options, environment=None, status=0):
        self.path = os.path.join(options.keep, name)
        self.options = options
        process = subprocess.Popen(
            [options.ctascope, "record", "--force", "-o", self.path, *record_options, "--", *command],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env=dict(os.environ, **(environment or {})))
        try:
            self.output, self.errors = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise
        require(process.returncode == status,
                f"ended with {process.returncode}, not {status}: {self.errors.strip()[-600:]}")

    def rows(self, query):
        with sqlite3.connect(f"file:{self.path}/run.db?mode=ro", uri=True) as database:
            return database.execute(query).fetchall()

    def value(self, query):
        return self.rows(query)[0][0]

    def comm(self):
        done = subprocess.run([self.options.ctascope, "comm", "--format", "json", self.path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        require(done.returncode == 0, f"comm: {done.stderr.strip()}")
        return json.loads(done.stdout)


QUERIES = {
    "launches": "SELECT count(*) FROM launches WHERE recorded = 'all'",
    "accesses": "SELECT sum(accesses) FROM launches",
    "records": "SELECT sum(records) FROM launches",
    "streams": "SELECT count(*) FROM streams WHERE kind LIKE '%blocking'",
    "memset bytes": "SELECT sum(width_bytes * height) FROM copies WHERE kind = 'memset'",
    "2D bytes": "SELECT sum(width_bytes * height) FROM copies WHERE kind = 'HtoD' AND height > 1",
}


def measure(run, key):
    if key in QUERIES:
        return run.value(QUERIES[key])
    if key.startswith("allocation "):
        kind = key.split()[1]
        return run.value(f"SELECT count(*) FROM allocations WHERE kind = '{kind}'")
    if key == "global accesses":
        totals = run.comm()["totals"]
        return totals["global_load_accesses"] + totals["global_store_accesses"]
    if key in ("memset", "DtoH", "HtoD", "DtoD"):
        return run.value(f"SELECT count(*) FROM copies WHERE kind = '{key}'")
    return run.value(f"SELECT count(*) FROM syncs WHERE kind = '{key}'")


def compare(run):
    checked = 0
    for line in run.output.splitlines():
        if not line.startswith("expect "):
            continue
        key, count = line[len("expect "):].rsplit(" ", 1)
        at_least = key.endswith(" at least")
        key = key.removesuffix(" at least")
        found = measure(run, key) or 0
        require(found >= int(count) if at_least else found == int(count),
                f"{key}: {found}, expected {count}")
        checked += 1
    require(checked, "the program expected nothing")
    return checked


def program(options, name):
    return os.path.join(options.programs, name)


def case(options, name):
    run = Run(options, name, [program(options, "memory_cases"), name],
              status=OWN_STATUS.get(name, 0))
    checked = compare(run)
    if name == "patterns":
        patterns = run.comm()["sites"]
        require(any(site["operation"] == "atomic" for site in patterns), "no atomic")
    if name == "streams":
        order = [row[0] for row in run.rows(
            "SELECT 'launch ' || stream FROM launches ORDER BY op")]
        require(len(set(order)) == 4, f"launches in {order}")
        ops = run.rows("SELECT op, 1 FROM launches UNION SELECT op, 2 FROM syncs WHERE kind = "
                       "'event record' UNION SELECT op, 3 FROM syncs WHERE kind = 'stream wait' "
                       "ORDER BY 1")
        require([kind for _, kind in ops] == [1, 2] + [3, 1, 2] * 3, f"order {ops}")
    return f"{checked} counts"


# ---- the examples ----

def totals_of(comm):
    return comm["totals"]


def example(options, name):
    with open(os.path.join(HERE, "memory-expected.json"), encoding="utf-8") as file:
        expected = json.load(file)[name]
    run = Run(options, "example-" + name, [program(options, name)])
    totals = totals_of(run.comm())
    differ = {key: (totals.get(key), value) for key, value in expected.items()
              if totals.get(key) != value}
    if name in DIFFERENT:
        return f"differs in {len(differ)} of {len(expected)}: {differ}"
    require(not differ, f"totals (GPU, CPU device): {differ}")
    return f"{len(expected)} totals are the CPU device's"


# ---- options ----

def filters(options):
    command = [program(options, "stencil2d")]
    run = Run(options, "filters", command, "--launch-skip", "2", "--launch-count", "3")
    recorded = [row[0] for row in run.rows("SELECT recorded FROM launches ORDER BY op")]
    require(recorded == ["none"] * 2 + ["all"] * 3 + ["none"] * (len(recorded) - 5), str(recorded))
    empty = run.value("SELECT sum(records) FROM launches WHERE recorded = 'none'")
    require(empty == 0, f"{empty} records of launches that were left out")
    whole = Run(options, "filters-whole", command)
    per_launch = whole.value("SELECT accesses FROM launches LIMIT 1")
    require(run.value(QUERIES["accesses"]) == 3 * per_launch, "accesses of three launches")
    run = Run(options, "filters-name", [program(options, "transpose")], "--kernel-name",
              "transpose_tiled", "--spaces", "global")
    named = run.rows("SELECT k.name, l.recorded FROM launches l JOIN kernels k USING (kernel)")
    require(all((name.startswith("transpose_tiled")) == (recorded == "all")
                for name, recorded in named), str(named))
    require({recorded for _, recorded in named} == {"all", "none"}, str(named))
    return f"{len(recorded)} + {len(named)} launches"


def small_ring(options):
    run = Run(options, "ring", [program(options, "memory_cases"), "plain"], "--ring-size", "64K")
    compare(run)
    run = Run(options, "ring-lists", [program(options, "histogram")], "--ring-size", "256K")
    whole = Run(options, "ring-whole", [program(options, "histogram")])
    require(run.value(QUERIES["accesses"]) == whole.value(QUERIES["accesses"]), "accesses")
    return "nothing lost"


def sampled(options):
    run = Run(options, "sample", [program(options, "memory_cases"), "plain"], "--cta-sample", "4")
    require(run.value("SELECT recorded FROM launches") == "sample", "not sampled")
    require(run.value("SELECT accesses FROM launches") == 2 * 65536 // 4, "accesses")
    return "a quarter"


def missing(options):
    command = [program(options, "memory_cases"), "plain"]
    run = Run(options, "missing", command, environment={"CTASCOPE_SANITIZER": "/nowhere.so"},
              status=125)
    require("nothing recorded: CTASCOPE_SANITIZER: /nowhere.so" in run.errors, run.errors)
    require("expect launches 1" in run.output, "the program did not run")
    return run.errors.strip()


def limit(options):
    run = Run(options, "limit", [program(options, "histogram")], "--max-size", "20M")
    require(run.value("SELECT sum(dropped_accesses) FROM launches") > 0, "nothing dropped")
    require("DROPPED" in run.errors, run.errors)
    return run.errors.strip()


# ---- libraries ----

def library(options, name, command):
    run = Run(options, name, command)
    kernels = run.rows("SELECT k.name, count(*), sum(l.accesses) FROM launches l JOIN kernels k "
                       "USING (kernel) GROUP BY kernel ORDER BY 3 DESC LIMIT 4")
    require(kernels and kernels[0][2], "no accesses")
    totals = run.comm()["totals"]
    return f"{run.errors.strip()}; {kernels}; read {totals['global_read_unique_bytes']}"


SPECIAL = {
    "filters": filters, "ring": small_ring, "sample": sampled, "missing": missing, "limit": limit,
    "cublas": lambda o: library(o, "cublas", [program(o, "cublas")]),
    "triton": lambda o: library(o, "triton", [sys.executable, os.path.join(HERE, "triton_kernel.py")]),
    "training": lambda o: library(o, "training", [sys.executable, os.path.join(HERE, "training.py")]),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ctascope", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--keep")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    library_path = os.path.join(os.path.dirname(options.ctascope), "../lib/ctascope")
    if subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode if shutil.which(
            "nvidia-smi") else True:
        print("no NVIDIA GPU")
        return SKIPPED
    if not os.path.exists(os.path.join(library_path, "ctascope_patches.fatbin")):
        print("this ctascope has no patches")
        return SKIPPED
    temporary = None if options.keep else tempfile.mkdtemp()
    options.keep = options.keep or temporary
    os.makedirs(options.keep, exist_ok=True)
    failures = 0
    for name in options.cases or CASES + EXAMPLES + list(SPECIAL):
        start = time.time()
        try:
            if name in CASES:
                text = case(options, name)
            elif name in EXAMPLES:
                text = example(options, name)
            else:
                text = SPECIAL[name](options)
            print(f"{name}: {text} ({time.time() - start:.1f} s)", flush=True)
        except (Failure, subprocess.TimeoutExpired, sqlite3.Error) as failure:
            print(f"{name}: FAILED: {failure}", flush=True)
            failures += 1
    if temporary:
        shutil.rmtree(temporary)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
