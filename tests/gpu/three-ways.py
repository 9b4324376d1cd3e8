#!/usr/bin/env python3
"""Every example, recorded in several ways: what `ctascope comm` says is compared, total by total, and
where totals differ, site by site.

    three-ways.py record --ctascope PROGRAM --programs DIRECTORY [-o FILE] [--how TEXT] [EXAMPLE...]
        records DIRECTORY/EXAMPLE and keeps comm's results. Where ctascope can compile (--cc DEVICE),
        examples/EXAMPLE.cu is compiled to DIRECTORY/EXAMPLE first.
    three-ways.py compare FIRST SECOND...
        prints the comparison of the files; exits with 1 where volumes that cannot depend on the
        compiler differ: unique bytes read, written and communicated, and transfers.

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


def record_one(options, name, directory):
    program = os.path.join(options.programs, name)
    if options.cc:
        subprocess.run([options.ctascope, "cc", f"--device={options.cc}", "-O3",
                        os.path.join(EXAMPLES, name + ".cu"), "-o", program], check=True)
    if not os.path.exists(program):
        return None
    run = os.path.join(directory, name)
    done = subprocess.run([options.ctascope, "record", "--force", "-o", run, "--", program],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    if done.returncode:
        print(f"{name}: {done.stderr.strip()}", file=sys.stderr)
        return None
    comm = subprocess.run([options.ctascope, "comm", "--format", "json", run], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return kept(json.loads(comm))


def record(options):
    found = {"how": options.how, "examples": {}}
    os.makedirs(options.programs, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        for name in options.examples or names():
            result = record_one(options, name, directory)
            if result:
                found["examples"][name] = result
    with (open(options.output, "w", encoding="utf-8") if options.output else sys.stdout) as file:
        json.dump(found, file, indent=1, sort_keys=True)
    return 0 if found["examples"] else SKIPPED


def differences(first, second):
    return {key: (first.get(key, 0), second.get(key, 0))
            for key in sorted(set(first) | set(second)) if first.get(key, 0) != second.get(key, 0)}


def compare(options):
    runs = []
    for path in options.files:
        with open(path, encoding="utf-8") as file:
            runs.append(json.load(file))
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
            wrong += bool(exact)
            nonzero = sum(value != 0 for value in first["totals"].values())
            print(f"{name}: {run['how']}: {nonzero} totals, {len(differ)} differ"
                  + (f"; WRONG: {exact}" if exact else ""))
            for key, (a, b) in differ.items():
                print(f"    {key}: {a:,} {runs[0]['how']}, {b:,}")
            for key, (a, b) in differences(first["sites"], second["sites"]).items() if differ else []:
                print(f"      {key}: {a:,}, {b:,}")
    print(f"{wrong} with volumes that no compiler may change" if wrong else
          "volumes that no compiler may change are the same everywhere")
    return 1 if wrong else 0


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
    options = parser.parse_args()
    return record(options) if options.verb == "record" else compare(options)


if __name__ == "__main__":
    sys.exit(main())
