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
sys.path.insert(1, os.path.dirname(sys.path[0]))
sys.dont_write_bytecode = True
import programs  # noqa: E402
from compiled import compiled  # noqa: E402


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


# What stands in the result beside the model's transfers, in closed form. `result` is comm's JSON.
def kernel_pair(result, writer, reader):
    for pair in result["kernel_pairs"]:
        if pair["writer_name"].startswith(writer) and pair["reader_name"].startswith(reader):
            return pair
    return {}


def strides(result, kernel, kind):
    return {row["stride"]: row["count"] for row in result["strides"]
            if row["kind"] == kind and row["name"].startswith(kernel)}


def stencil2d(result, n, steps):
    # Blocks of 32 x 8: a cut between blocks is crossed by a row or column of n both ways, each step.
    pair = kernel_pair(result, "step2d", "step2d")
    yield "bisection_x_bytes", pair["bisection_x_bytes"], 2 * n * 4 * (steps - 1)
    yield "bisection_y_bytes", pair["bisection_y_bytes"], 2 * n * 4 * (steps - 1)
    yield "bisection_z_fraction", pair["bisection_z_fraction"], None
    yield "shape", pair["shape"], "halo"
    yield "distances", [row["distance"] for row in result["distances"]], [0]


def nbody(result, n, steps):
    # Every block reads all positions, 12 bytes of which `move` wrote; its own velocities it keeps.
    blocks = (n + 31) // 32
    pair = kernel_pair(result, "move", "forces")
    yield "shape", pair["shape"], "all-to-all"
    yield "transfers", pair["transfers"], (steps - 1) * blocks * blocks
    yield "distinct_bytes", pair["distinct_bytes"], (steps - 1) * 12 * n
    yield "bytes", pair["bytes"], (steps - 1) * 12 * n * blocks
    yield "shape", kernel_pair(result, "forces", "move")["shape"], "same CTA"


def histogram(result, mib, blocks):
    # Each of 64 blocks gathers its bin from all, 256 bytes apart.
    pair = kernel_pair(result, "count_partial", "merge")
    yield "shape", pair["shape"], "all-to-all"
    yield "transfers", pair["transfers"], 64 * blocks
    yield "largest_in_degree", pair["largest_in_degree"], blocks
    yield "distinct_bytes", pair["distinct_bytes"], 4 * 64 * blocks
    yield "strides", strides(result, "merge", "load address"), {256: 64 * (blocks - 1)}


def transpose(result, n):
    # The host writes what is read: nothing communicates.
    yield "kernel_pairs", result["kernel_pairs"], []
    yield "strides", result["strides"], []


def matmul2(result, n):
    # Tiles of 16: a block of the second product reads the rows of blocks beside it.
    tiles = (n + 15) // 16
    pair = kernel_pair(result, "multiply", "multiply")
    halves = [2 * i // tiles for i in range(tiles)]
    widths = [min(16, n - 16 * i) for i in range(tiles)]
    crossing = sum(widths[i] for i in range(tiles) for k in range(tiles) if halves[i] != halves[k])
    yield "transfers", pair["transfers"], tiles ** 3
    yield "bisection_x_bytes", pair["bisection_x_bytes"], 4 * n * crossing
    yield "bisection_y_bytes", pair["bisection_y_bytes"], 0


CLOSED = {"stencil2d": stencil2d, "nbody": nbody, "histogram": histogram, "transpose": transpose,
          "matmul2": matmul2}


def closed_forms(name, arguments, result):
    for field, found, wanted in CLOSED.get(name, lambda *_: ())(result, *arguments):
        if found != wanted:
            yield f"{name}: {field} is {found}, the closed form says {wanted}"


def main():
    ctascope, sources, work, name = sys.argv[1:]
    arguments, tell, accesses_too = programs.PROGRAMS[name]
    os.makedirs(work, exist_ok=True)
    recorded = os.path.join(work, f"{name}.run")
    shutil.rmtree(recorded, ignore_errors=True)
    program = compiled(ctascope, "-O2", os.path.join(sources, f"{name}.cu"))
    run(program, *map(str, arguments))  # with recording off
    run(ctascope, "record", "-o", recorded, "--", program, *map(str, arguments))
    result = json.loads(run(ctascope, "comm", recorded, "--per", "transfer", "--format", "json",
                            "--limit", "0"))
    found = list(differences(name, tell(*arguments), result, accesses_too))
    found += closed_forms(name, arguments, result)
    for line in found[:20]:
        print(line)
    if found:
        sys.exit(f"{name}: {len(found)} differences")
    print(f"{name}: volumes and {len(result['transfers'])} transfers are the model's")


if __name__ == "__main__":
    main()
