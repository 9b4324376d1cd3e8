#!/usr/bin/env python3
"""Records programs that `ctascope cc --device=cuda` compiled on a GPU:

    instrumented.py --ctascope PROGRAM --programs DIRECTORY [--cpu-runs DIRECTORY] CASE...

Each case of instrumented_cases says how many accesses each of its launches makes. An example's
communication, and its accesses site by site, are compared with what the CPU device records of the
same source: the compiler is the same, so is what it makes. --build compiles the programs (which needs
clang; without, they are taken as they are) and records the examples on the CPU device. Ends with 77
where there is no GPU, or no program.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from memory import HERE, SKIPPED, Failure, Run, Skipped, require  # noqa: E402

SOURCES = os.path.join(HERE, "..", "..")
CASES = ["streams", "graph", "cooperative", "spaces", "divergence", "reset"]
EXAMPLES = ["vectoradd", "stencil2d", "stencil3d", "histogram", "transpose", "nbody", "reduction",
            "bfs", "fft", "gaussian", "halo", "hotspot2d", "hotspot3d", "matmul2", "pathfinder",
            "pipeline", "spmv", "srad", "structs", "wave", "mandelbrot"]
# mandelbrot's accesses depend on how a * b + c is rounded: once or twice, the compiler decides.
FLAGS = {"mandelbrot": ["-ffp-contract=off"]}
# Lanes that go different ways come together again in other places on a GPU than on the CPU device:
# records are of parts of warps, and more of them.
BY_CONVERGENCE = {"records"}


def program(options, name):
    path = os.path.join(options.programs, name + "-built")
    if not os.access(path, os.X_OK):
        raise Skipped(f"no program '{path}'")
    return path


def accesses_of(run):
    return [row[0] for row in run.rows("SELECT accesses FROM launches ORDER BY op")]


def expected_of(run):
    return [line.split()[1:] for line in run.output.splitlines() if line.startswith("launch ")]


def case(options, name):
    run = Run(options, "instrumented-" + name, [program(options, "instrumented_cases"), name])
    found, expected = accesses_of(run), expected_of(run)
    require(len(found) == len(expected), f"{len(found)} launches, expected {len(expected)}")
    for i, (have, want) in enumerate(zip(found, expected)):
        right = have >= int(want[-1]) if want[0] == "at" else have == int(want[-1])
        require(right, f"launch {i}: {have} accesses, expected {' '.join(want)}")
    if name == "spaces":
        spaces(run)
    if name == "cooperative":
        held = run.rows("SELECT size_bytes, type FROM allocations WHERE variable = 'arrived'")
        require(held == [(4, "unsigned int")], f"the variable's memory: {held}")
    return f"{len(found)} launches; {run.said()}"


def spaces(run):
    comm = run.comm()
    kinds = {site["operation"] for site in comm["sites"]}
    for kind in ("load", "store", "atomic add", "atomic max", "atomic cas"):
        require(kind in kinds, f"no '{kind}' among {kinds}")
    totals = comm["totals"]
    # stores to `place` are shared in the second launch
    require(totals["shared_store_accesses"] == 3 * 256, f"shared {totals['shared_store_accesses']}")


def filters(options):
    """A launch that is left out has no record, and runs as fast."""
    run = Run(options, "instrumented-filtered", [program(options, "instrumented_cases"), "graph"],
              "--launch-skip", "4", "--launch-count", "3")
    rows = run.rows("SELECT recorded, accesses FROM launches ORDER BY op")
    expected = [int(words[-1]) for words in expected_of(run)]
    for i, (recorded, accesses) in enumerate(rows):
        wanted = 4 <= i < 7
        require(recorded == ("all" if wanted else "none"), f"launch {i} is '{recorded}'")
        require(accesses == (expected[i] if wanted else 0), f"launch {i}: {accesses}")
    only = Run(options, "instrumented-global", [program(options, "instrumented_cases"), "spaces"],
               "--spaces", "global").comm()["totals"]
    require(only["shared_store_accesses"] == 0, "shared memory is recorded unasked")
    sampled = Run(options, "instrumented-sample", [program(options, "instrumented_cases"), "streams"],
                  "--cta-sample", "1/4")
    require(sum(accesses_of(sampled)) > 0, "nothing is left of a sample")
    return "launches, spaces, CTAs"


def native(options):
    """Without a recorder the program does what it did."""
    done = subprocess.run([program(options, "instrumented_cases"), "graph"], check=False,
                          stdout=subprocess.DEVNULL, timeout=60)
    require(done.returncode == 0, f"ended with {done.returncode}")
    return "unrecorded"


def sites_of(comm):
    names = ("path", "line", "column", "operation", "variable", "width_bytes", "accesses")
    return sorted(tuple(os.path.basename(str(site[name])) if name == "path" else site[name]
                        for name in names) for site in comm["sites"])


def example(options, name):
    path = os.path.join(options.cpu_runs, name + ".json")
    if not os.path.exists(path):
        raise Skipped("no recording of the CPU device")
    with open(path, encoding="utf-8") as file:
        expected = json.load(file)
    run = Run(options, "instrumented-" + name, [program(options, name)])
    found = run.comm()
    # Null: on a GPU a program may also load modules that are not instrumented, whose loads of
    # constant memory nobody sees.
    differ = {key: (found["totals"].get(key), value) for key, value in expected["totals"].items()
              if found["totals"].get(key) != value and key not in BY_CONVERGENCE
              and not (key.startswith("constant_") and found["totals"].get(key, 0) is None)}
    require(not differ, f"totals (GPU, CPU device): {differ}")
    require(sites_of(found) == sites_of(expected), "sites differ")
    records = found["totals"]["records"], expected["totals"]["records"]
    return f"{len(expected['totals'])} totals, {len(expected['sites'])} sites, records {records}; {run.said()}"


def build(options):
    """Needs clang and a toolkit's headers and runtime; the tests have no use for it without a GPU."""
    if not shutil.which("clang++-19") or not os.path.exists("/dev/nvidiactl") and not options.anywhere:
        print("no clang, or no GPU to run it on")
        return SKIPPED
    os.makedirs(options.programs, exist_ok=True)
    os.makedirs(options.cpu_runs, exist_ok=True)
    include = "-I" + os.path.join(SOURCES, "include")
    for name in ["instrumented_cases", "memory_speed"]:
        subprocess.run([options.ctascope, "cc", "--device=cuda", "-O2",
                        os.path.join(HERE, name + ".cu"), "-o",
                        os.path.join(options.programs, name + "-built")], check=True)
    subprocess.run([options.ctascope, "cc", "--device=cuda", "--toolkit=none", "-O2",
                    os.path.join(HERE, "without_toolkit.cu"), "-o",
                    os.path.join(options.programs, "without_toolkit-built")], check=True)
    for name in EXAMPLES:
        source = os.path.join(SOURCES, "examples", name + ".cu")
        flags = ["-O3", include, *FLAGS.get(name, [])]
        subprocess.run([options.ctascope, "cc", "--device=cuda", *flags, source, "-o",
                        os.path.join(options.programs, name + "-built")], check=True)
        with tempfile.TemporaryDirectory() as work:
            on_cpu, run = os.path.join(work, name), os.path.join(work, "run")
            subprocess.run([options.ctascope, "cc", *flags, source, "-o", on_cpu], check=True)
            subprocess.run([options.ctascope, "record", "-o", run, "--", on_cpu], check=True,
                           stdout=subprocess.DEVNULL)
            with open(os.path.join(options.cpu_runs, name + ".json"), "w", encoding="utf-8") as out:
                subprocess.run([options.ctascope, "comm", "--format", "json", run], check=True,
                               stdout=out)
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ctascope", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--cpu-runs", default="")
    parser.add_argument("--keep")
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--anywhere", action="store_true", help="build without a GPU, too")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.cpu_runs = options.cpu_runs or os.path.join(options.programs, "cpu-runs")
    if options.build:
        return build(options)
    if not os.path.exists("/dev/nvidiactl"):
        print("no NVIDIA GPU")
        return SKIPPED
    others = {"filters": filters, "native": native}
    failures = 0
    skipped = False
    with tempfile.TemporaryDirectory() as work:
        options.keep = options.keep or work
        os.makedirs(options.keep, exist_ok=True)
        for name in options.names or CASES + list(others) + EXAMPLES:
            try:
                said = (case(options, name) if name in CASES
                        else others[name](options) if name in others else example(options, name))
                print(f"ok   {name}: {said}", flush=True)
            except Skipped as lacking:
                skipped = True
                print(f"skip {name}: {lacking}", flush=True)
            except (Failure, subprocess.TimeoutExpired) as failure:
                failures += 1
                print(f"FAIL {name}: {failure}", flush=True)
    return 1 if failures else SKIPPED if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
