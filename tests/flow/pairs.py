#!/usr/bin/env python3
"""Programs with one defect and their mended twins (pairs.cu, more-pairs.cu): `ctascope flow` finds the
defect, for certain, and nothing in the mended one.
With --trials, instead: `ctascope try` takes the options that the finding names, and has an answer.
pairs.py BUILD_DIR [--source FILE] [--trials] [NAME...]"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
SPEED = ("needless order", "order by reuse", "needless wait", "fusion")
# What no stretch can hold, whatever the options.
REFUSALS = "host function|starts itself"
SOURCES = [os.path.join(HERE, name) for name in ("pairs.cu", "more-pairs.cu")]


def run(*arguments, codes=(0,), **options):
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", **options)
    if done.returncode not in codes:
        sys.exit(f"{' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def expected(source):
    """{name: (finding, whether it is certain)}, from the comments."""
    with open(source) as text:
        return {name: (finding if finding == "possible race" else finding.removeprefix("possible "),
                       not finding.startswith("possible ")) for finding, name in
                re.findall(r"^// ([a-z ]+): .*\nstatic void (\w+)\(\)", text.read(), re.M)}


def needs_values(finding):
    return finding == "repeated launch"


def findings(ctascope, program, name, defect, values):
    path = f"{program}.{name}.{defect}.run"
    run(ctascope, "record", "--host-accesses", *["--values"] * values, "-o", path, "--",
        program + "-values" * values, name, str(defect),
        env=dict(os.environ, CTASCOPE_DEVICES="2"))
    data = json.loads(run(ctascope, "flow", path, "--format", "json"))
    if data["lower_bound"]:
        sys.exit(f"{name} {defect}: a lower bound")
    return data["findings"]


def check(ctascope, program, name, finding, certain):
    values = needs_values(finding)
    with_defect = findings(ctascope, program, name, 1, values)
    mended = findings(ctascope, program, name, 0, values)
    problems = []
    # A program that is about something else need not be as fast as it could be.
    mended = [f for f in mended if f["finding"] == finding or f["finding"] not in SPEED]
    kinds = {(f["finding"], f["certain"]) for f in with_defect}
    # Whether the host could have learned in time that a host function ended depends on the run.
    if (finding, certain) not in kinds and (finding != "possible race" or ("race", True) not in kinds):
        problems.append(f"{name}: no {finding}: {texts(with_defect)}")
    if any("race" in f["finding"] for f in with_defect) != ("race" in finding):
        problems.append(f"{name}: races: {texts(with_defect)}")
    if mended:
        problems.append(f"{name}, mended: {texts(mended)}")
    return problems


def check_trials(ctascope, program, name, finding, certain):
    """The options that the findings name: each is a stretch that opens, with the operation in it."""
    del certain
    values = needs_values(finding)
    problems = []
    for f in findings(ctascope, program, name, 1, values):
        if not f["trial"]:
            continue
        path = f"{program}.{name}.1.run"
        done = subprocess.run([ctascope, "try", "--replays", "10", "--format", "json", "--run", path,
                               *f["trial"].split(), "--", program + "-values" * values, name, "1"],
                              capture_output=True, text=True, env=dict(os.environ, CTASCOPE_DEVICES="2"))
        if done.returncode and not re.search(REFUSALS, done.stderr):
            problems.append(f"{name}: {f['finding']}: {f['trial']}: {done.returncode} {done.stderr.strip()}")
    return problems


def texts(found):
    return "; ".join(f"{f['finding']} {f['node'] or ''} {f['name'] or ''} {f['other'] or ''} "
                     f"{f['other_name'] or ''} {f['bytes']} {f['reason'] or ''}" for f in found)


def check_all(ctascope, source, wanted, check):
    """How many pairs of the source were checked, and the problems."""
    pairs = expected(source)
    names = [name for name in wanted if name in pairs] if wanted else sorted(pairs)
    with tempfile.TemporaryDirectory() as where, ThreadPoolExecutor(2) as pool:
        program = os.path.join(where, "pairs")
        build = (ctascope, "cc", "-O2", "--device=cpu", "--host-accesses", source, "-o")
        if names:
            run(*build, program)
        if any(needs_values(pairs[name][0]) for name in names):
            run(*build, program + "-values", "--values")
        found = list(pool.map(lambda name: check(ctascope, program, name, *pairs[name]), names))
    return len(names), [text for one in found for text in one]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--source", choices=SOURCES, action="append")
    parser.add_argument("--trials", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    ctascope = os.path.join(options.build, "bin", "ctascope")
    one = check_trials if options.trials else check
    done = [check_all(ctascope, source, options.names, one) for source in options.source or SOURCES]
    problems = [text for _, texts in done for text in texts]
    print("\n".join(problems))
    print(f"{sum(count for count, _ in done)} pairs, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
