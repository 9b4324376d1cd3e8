#!/usr/bin/env python3
"""Every example, recorded in several ways: what `ctascope comm` says is compared, total by total, and
where totals differ, site by site.

    three-ways.py record --ctascope PROGRAM --programs DIRECTORY [-o FILE] [--how TEXT] [EXAMPLE...]
        records DIRECTORY/EXAMPLE and keeps comm's results. Where ctascope can compile (--cc DEVICE),
        examples/EXAMPLE.cu is compiled to DIRECTORY/EXAMPLE first.
    three-ways.py compare FIRST SECOND...
        prints the comparison of the files; exits with 1 where volumes that cannot depend on the
        compiler differ: unique bytes read, written and communicated, and transfers.
    three-ways.py check --ctascope PROGRAM --programs DIRECTORY --built DIRECTORY
        does both on a machine with a GPU: nvcc's programs (build.sh), the instrumented ones and the
        CPU device's results (instrumented.py --build). Ends with 77 where something is missing.

Made on a machine without a GPU:      three-ways.py record --cc cpu ... -o cpu.json
and on one with a GPU, the programs of nvcc (tests/gpu/build.sh):     ... -o unmodified.json
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
# what a CTA touches at all, and what goes from CTA to CTA: no compiler may change these
EXACT = ["launches", "nodes", "global_read_unique_bytes", "global_written_unique_bytes",
         "communicated_out_bytes", "received_transfers", "received_bytes", "from_host_bytes",
         "conflict_bytes"]
EXPLAINED = {
    ("nbody", "unmodified on the GPU"):
        "nvcc moves a body as one float4 of 16 bytes, clang its 12 bytes of use in two accesses"}
SKIPPED = 77


def names():
    return sorted(name[:-3] for name in os.listdir(EXAMPLES) if name.endswith(".cu"))


def site_table(comm):
    """Accesses and bytes of the global sites, by line and operation."""
    table = collections.Counter()
    for site in comm["sites"]:
        place = f"{os.path.basename(site['path'] or '?')}:{site['line']} {site['operation']}"
        table[place + " accesses"] += site["accesses"]
        table[place + " bytes"] += site["access_bytes"]
    return dict(table)


def kept(comm):
    totals = {key: value for key, value in comm["totals"].items()
              if not isinstance(value, float) and key not in ("records", "supersteps")}
    return {"totals": totals, "sites": site_table(comm), "skipped":
            comm["soundness"]["skipped_instructions"]}


def record_one(ctascope, program):
    if not os.path.exists(program):
        return None
    with tempfile.TemporaryDirectory() as directory:
        run = os.path.join(directory, "run")
        done = subprocess.run([ctascope, "record", "-o", run, "--", program],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
        if done.returncode:
            print(f"{program}: {done.stderr.strip()}", file=sys.stderr)
            return None
        comm = subprocess.run([ctascope, "comm", "--format", "json", run], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
    return kept(json.loads(comm))


def record_all(ctascope, how, programs):
    """programs: paths, by the example's name"""
    results = {name: record_one(ctascope, path) for name, path in programs.items()}
    return {"how": how, "examples": {name: result for name, result in results.items() if result}}


def record(options):
    os.makedirs(options.programs, exist_ok=True)
    programs = {name: os.path.join(options.programs, name) for name in options.examples or names()}
    if options.cc:
        for name, path in programs.items():
            subprocess.run([options.ctascope, "cc", f"--device={options.cc}", "-O3",
                            os.path.join(EXAMPLES, name + ".cu"), "-o", path], check=True)
    found = record_all(options.ctascope, options.how, programs)
    with (open(options.output, "w", encoding="utf-8") if options.output else sys.stdout) as file:
        json.dump(found, file, indent=1, sort_keys=True)
    return 0 if found["examples"] else SKIPPED


def differences(first, second):
    return {key: (first.get(key, 0), second.get(key, 0))
            for key in sorted(set(first) | set(second)) if first.get(key, 0) != second.get(key, 0)}


def from_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def compare(runs):
    wrong = 0
    for name in sorted(runs[0]["examples"]):
        first = runs[0]["examples"][name]
        for run in runs[1:]:
            second = run["examples"].get(name)
            if not second:
                print(f"{name}: not {run['how']}")
                continue
            differ = differences(first["totals"], second["totals"])
            exact = [key for key in EXACT if key in differ]
            why = EXPLAINED.get((name, run["how"]))
            wrong += bool(exact) and not why
            nonzero = sum(value != 0 for value in first["totals"].values())
            print(f"{name}: {run['how']}: {nonzero} totals, {len(differ)} differ"
                  + (f"; {why or 'WRONG'}: {exact}" if exact else ""))
            for key, (a, b) in differ.items():
                print(f"    {key}: {a:,} {runs[0]['how']}, {b:,}")
            for key, (a, b) in differences(first["sites"], second["sites"]).items() if differ else []:
                print(f"      {key}: {a:,}, {b:,}")
    print(f"{wrong} with volumes that no compiler may change" if wrong else
          "volumes that no compiler may change are the same but for what is explained")
    return 1 if wrong else 0


def check(options):
    recorded = os.path.join(options.built, "cpu-runs")
    if not os.path.exists("/dev/nvidiactl") or not os.path.isdir(recorded):
        print("no NVIDIA GPU, or no results of the CPU device")
        return SKIPPED
    on_cpu = {name[:-5]: kept(from_json(os.path.join(recorded, name)))
              for name in os.listdir(recorded)}
    ways = [{"how": "on the CPU device", "examples": on_cpu},
            record_all(options.ctascope, "unmodified on the GPU",
                       {name: os.path.join(options.programs, name) for name in on_cpu}),
            record_all(options.ctascope, "instrumented on the GPU",
                       {name: os.path.join(options.built, name + "-built") for name in on_cpu})]
    return compare(ways) or any(len(way["examples"]) < len(on_cpu) for way in ways)


def main():
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("record")
    one.add_argument("--ctascope", required=True)
    one.add_argument("--programs", required=True)
    one.add_argument("--cc", metavar="DEVICE")
    one.add_argument("--how", default="recorded")
    one.add_argument("-o", "--output")
    one.add_argument("examples", nargs="*")
    other = verbs.add_parser("compare")
    other.add_argument("files", nargs="+")
    both = verbs.add_parser("check")
    both.add_argument("--ctascope", required=True)
    both.add_argument("--programs", required=True)
    both.add_argument("--built", required=True)
    options = parser.parse_args()
    if options.verb == "compare":
        return compare([from_json(path) for path in options.files])
    return record(options) if options.verb == "record" else check(options)


if __name__ == "__main__":
    sys.exit(main())
