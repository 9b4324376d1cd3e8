#!/usr/bin/env python3
"""The pairs of tests/flow as unmodified programs of a GPU: what `ctascope flow` finds.

    flow.py --ctascope PROGRAM --work DIRECTORY [--table] [NAME...]

pairs.cu and more-pairs.cu are compiled by nvcc. Each defect is found, but for those that UNSEEN says why; nothing is found in
the mended programs, but for what POSSIBLE names. Ends with 77 without GPU or compiler.
"""
import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
CPU = "CPU accesses are not recorded"
UNSEEN = {"download": CPU, "other_stream": CPU, "upload": CPU, "managed": CPU, "host_function": CPU,
          "repeated_upload": CPU, "round_trip": CPU, "unread": CPU, "mapped": CPU, "wrong_poll": CPU,
          "event_before_copy": CPU, "staging": CPU}
TWO_DEVICES = ("peer", "other_device")
# Locks of host threads are not recorded: threads that hand work over may not have synchronised.
POSSIBLE = ("handover", "turns")


def pairs_module():
    path = os.path.join(HERE, "..", "flow", "pairs.py")
    spec = importlib.util.spec_from_file_location("pairs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*command, timeout=120):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", timeout=timeout, check=False)


def findings(options, program, name, defect, values):
    path = os.path.join(options.work, f"{name}.{defect}.run")
    done = run(options.ctascope, "record", "--force", *["--values"] * values, "-o", path, "--", program.path,
               name, str(defect))
    if done.returncode:
        return None, f"record: {done.returncode} {done.stderr.strip()[-200:]}"
    done = run(options.ctascope, "flow", path, "--format", "json")
    if done.returncode:
        return None, f"flow: {done.returncode} {done.stderr.strip()[-200:]}"
    data = json.loads(done.stdout)
    return data["findings"], "a lower bound" if data["lower_bound"] else ""


def texts(found):
    counts = {}
    for finding in found or []:
        is_plain = finding["certain"] or finding["finding"].startswith("possible")
        kind = ("" if is_plain else "possible ") + finding["finding"]
        counts[kind] = counts.get(kind, 0) + 1
    return ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "none"


def check(options, program, pairs, name):
    finding, certain = pairs.expected(program.source)[name]
    values = pairs.needs_values(finding)
    with_defect, problem = findings(options, program, name, 1, values)
    mended, other = findings(options, program, name, 0, values)
    problems = [f"{name}: {text}" for text in (problem, other) if text]
    kinds = {(f["finding"], f["certain"]) for f in with_defect or []}
    is_found = (finding, certain) in kinds or (finding == "possible race" and ("race", True) in kinds)
    if is_found == (name in UNSEEN):
        problems.append(f"{name}: {finding}: {'found' if is_found else 'not found'}: {texts(with_defect)}")
    left = [f for f in mended or [] if f["finding"] == finding or f["finding"] not in pairs.SPEED]
    left = [f for f in left if name not in POSSIBLE or f["certain"] and f["finding"] != "possible race"]
    if left:
        problems.append(f"{name}, mended: {texts(left)}")
    row = f"| `{name}` | {'' if certain or 'possible' in finding else 'possible '}{finding} | " \
          f"{texts(with_defect)} | {texts(mended)} |" + (f" {UNSEEN[name]}" if name in UNSEEN else "")
    return row, problems


class Program:
    def __init__(self, options, source):
        self.source = source
        self.path = os.path.join(options.work, os.path.basename(source).removesuffix(".cu"))
        done = run("nvcc", *os.environ.get("CTASCOPE_NVCC_FLAGS", "-arch=native").split(), "-O2", "-std=c++17",
                   "-lineinfo", source, "-o", self.path, timeout=300)
        if done.returncode:
            sys.exit(done.stderr)


def check_all(options, pairs, source, names):
    program = Program(options, source)
    problems = []
    with ThreadPoolExecutor(4) as pool:
        for row, wrong in pool.map(lambda name: check(options, program, pairs, name), names):
            problems += wrong
            if options.table:
                print(row, flush=True)
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ctascope", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    os.environ["PATH"] += ":" + os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin")
    gpus = run("nvidia-smi", "-L").stdout.count("GPU ") if shutil.which("nvidia-smi") else 0
    if not gpus or not shutil.which("nvcc"):
        print("no NVIDIA GPU, or no nvcc")
        sys.exit(77)
    os.makedirs(options.work, exist_ok=True)
    pairs = pairs_module()
    count, problems = 0, []
    for source in pairs.SOURCES:
        names = [name for name in pairs.expected(source)
                 if (not options.names or name in options.names) and (name not in TWO_DEVICES or gpus > 1)]
        count += len(names)
        if names:
            problems += check_all(options, pairs, source, names)
    print("\n".join(problems))
    print(f"{count} pairs, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
