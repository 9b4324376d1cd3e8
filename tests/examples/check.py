#!/usr/bin/env python3
"""Compiles an example, records it and compares what `ctascope comm` says with the model.

    check.py CTASCOPE SOURCE_DIRECTORY WORK_DIRECTORY NAME

Compared exactly: the example's own verdict, unique volumes, accessed volumes where they do not
depend on how often the compiler loads a value again, communicated bytes, conflicts, and every single
transfer (writer launch and CTA, reader launch and CTA, bytes).
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import programs  # noqa: E402


def run(*arguments):
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def differences(name, model, result, accesses_too):
    totals = result["totals"]
    pairs = [
        ("global_read_unique_bytes", "loaded_unique"),
        ("global_written_unique_bytes", "stored_unique"),
        ("received_bytes", "communicated_read_unique"),
        ("communicated_out_bytes", "communicated_written_unique"),
        ("conflict_bytes", "conflict_bytes"),
    ]
    if accesses_too:
        pairs += [("global_load_bytes", "loaded_accesses"),
                  ("global_store_bytes", "stored_accesses")]
    for field, key in pairs:
        if totals[field] != model.totals[key]:
            yield f"{name}: {field} is {totals[field]}, the model says {model.totals[key]}"
    if totals["received_transfers"] != len(model.transfers):
        yield (f"{name}: {totals['received_transfers']} transfers, the model says "
               f"{len(model.transfers)}")
    if result["soundness"]["lower_bound"]:
        yield f"{name}: said to be a lower bound"
    seen = {}
    for transfer in result["transfers"]: # launches are numbered in the order of their calls
        key = (transfer["writer_launch"], transfer["writer_cta"],
               transfer["reader_launch"], transfer["reader_cta"])
        seen[key] = transfer["bytes"]
    for key in sorted(set(seen) | set(model.transfers)):
        if seen.get(key) != model.transfers.get(key):
            yield (f"{name}: transfer (launch, CTA) {key[:2]} -> {key[2:]}: {seen.get(key)} bytes, "
                   f"the model says {model.transfers.get(key)}")


def main():
    ctascope, sources, work, name = sys.argv[1:]
    arguments, tell, accesses_too = programs.PROGRAMS[name]
    os.makedirs(work, exist_ok=True)
    program, recorded = os.path.join(work, name), os.path.join(work, f"{name}.run")
    shutil.rmtree(recorded, ignore_errors=True)
    run(ctascope, "cc", "-O2", os.path.join(sources, f"{name}.cu"), "-o", program)
    run(program, *map(str, arguments))  # with recording off
    run(ctascope, "record", "-o", recorded, "--", program, *map(str, arguments))
    result = json.loads(run(ctascope, "comm", recorded, "--per", "transfer", "--format", "json",
                            "--limit", "0"))
    found = list(differences(name, tell(*arguments), result, accesses_too))
    for line in found[:20]:
        print(line)
    if found:
        sys.exit(f"{name}: {len(found)} differences")
    print(f"{name}: volumes and {len(result['transfers'])} transfers are the model's")


if __name__ == "__main__":
    main()
