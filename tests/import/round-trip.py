#!/usr/bin/env python3
"""Traces against what they came from.

    round-trip.py CTASCOPE TRC_GENERATE EXAMPLES WORK example NAME ARGUMENTS...
    round-trip.py CTASCOPE TRC_GENERATE EXAMPLES WORK trace PATTERN RECORDS

`example`: a recorded program, exported as version 2 and 3 and imported again, communicates as before
under the paper's model, to the last transfer. `trace`: what `ctascope comm` says of a generated trace
is what a dictionary of last writers, byte by byte, says.
"""
import collections
import json
import os
import shutil
import struct
import subprocess
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True
from compiled import compiled  # noqa: E402


def run(*arguments):
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def fresh(path):
    shutil.rmtree(path, ignore_errors=True)
    return path


def comm(ctascope, recorded):
    result = json.loads(run(ctascope, "comm", recorded, "--paper-model", "--per", "transfer",
                            "--format", "json", "--limit", "0"))
    result["totals"] = {key: value for key, value in result["totals"].items()
                        if key.startswith(("global_", "received_", "communicated_", "sent_"))}
    return result


COMPARED = ("totals", "transfers", "transfer_sizes", "in_degrees", "out_degrees", "kernel_pairs",
            "launch_pairs")


def check_example(ctascope, examples, work, name, arguments):
    recorded = fresh(os.path.join(work, f"{name}.run"))
    program = compiled(ctascope, "-O2", os.path.join(examples, f"{name}.cu"))
    run(ctascope, "record", "-o", recorded, "--", program, *arguments)
    before = comm(ctascope, recorded)
    for version in ("trc2", "trc3"):
        trace, again = os.path.join(work, f"{name}.{version}"), os.path.join(work, f"{name}.again")
        run(ctascope, "export", recorded, "-o", trace, "--format", version)
        run(ctascope, "import", trace, "-o", fresh(again))
        after = comm(ctascope, again)
        found = [key for key in COMPARED if key in before]
        assert len(found) >= 5, before.keys()
        for key in found:
            assert before[key] == after[key], f"{name} as {version}: {key} differs"
        if version == "trc2":
            size = os.path.getsize(trace)
        else:
            assert os.path.getsize(trace) < size
    assert before["transfers"], "nothing is communicated, and nothing was compared"
    print(f"{name}: {len(before['transfers'])} transfers, the same after export and import")


def entries(path):
    """(kernel) or (type, size, address, CTA, count), by a decoder of its own."""
    with open(path, "rb") as file:
        data = file.read()
    at = 10
    while at < len(data):
        if data[at] == 0:
            length, = struct.unpack_from("<H", data, at + 1)
            yield (data[at + 3:at + 3 + length].decode(),)
            at += 3 + length
            continue
        descriptor, address, cta = struct.unpack_from("<QQQ", data, at + 1)
        count = struct.unpack_from("<H", data, at + 25)[0] if data[at] == 0xfe else 1
        yield descriptor >> 28 & 15, descriptor & 0x0fffffff, address, cta >> 32, count
        at += 27 if data[at] == 0xfe else 25


def check_trace(ctascope, generate, work, pattern, records):
    launches = []
    trace, recorded = os.path.join(work, f"{pattern}.trc"), os.path.join(work, f"{pattern}.run")
    run(generate, pattern, records, "3", trace)
    for entry in entries(trace):
        if len(entry) == 1:
            launches.append((collections.defaultdict(set), collections.defaultdict(set)))
            continue
        kind, size, address, cta, count = entry
        launches[-1][kind][cta].update(range(address, address + size * count))
    writer, transfers, read, written = {}, collections.Counter(), 0, 0
    for number, (loads, stores) in enumerate(launches):
        for cta, addresses in loads.items():
            read += len(addresses)
            for address in addresses:
                if address in writer:
                    transfers[(*writer[address], number, cta)] += 1
        for cta in sorted(stores): # of several writers the last counts
            written += len(stores[cta])
            writer.update((address, (number, cta)) for address in stores[cta])
    run(ctascope, "import", trace, "-o", fresh(recorded))
    result = comm(ctascope, recorded)
    seen = {(t["writer_launch"], t["writer_cta"], t["reader_launch"], t["reader_cta"]): t["bytes"]
            for t in result["transfers"]}
    assert seen == dict(transfers), "transfers differ"
    assert result["totals"]["global_read_unique_bytes"] == read
    assert result["totals"]["global_written_unique_bytes"] == written
    print(f"{pattern}: {len(seen)} transfers, {read} bytes read, {written} written")


def main():
    ctascope, generate, examples, work, what, name, *rest = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    if what == "example":
        check_example(ctascope, examples, work, name, rest)
    else:
        check_trace(ctascope, generate, work, name, *rest)


if __name__ == "__main__":
    main()
