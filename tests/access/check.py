#!/usr/bin/env python3
"""The closed forms of patterns.cu, its faults, and what `ctascope diff` says of it and of a copy that
is repaired: check.py BUILD_DIR SOURCE"""
import json
import os
import subprocess
import sys
import tempfile

BUILD, SOURCE = sys.argv[1:]
CTASCOPE = os.path.join(BUILD, "bin/ctascope")


def run(*arguments, code=0):
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != code:
        sys.exit(f"{' '.join(arguments)}: {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done.stdout


def record(source, where, name):
    program, result = os.path.join(where, name), os.path.join(where, name + ".run")
    run(CTASCOPE, "cc", "-O2", source, "-o", program)
    run(CTASCOPE, "record", "-o", result, "--", program)
    return result


def access(result, *options):
    return json.loads(run(CTASCOPE, "access", result, "--format", "json", *options))


def equal(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found}, not {expected}")


def places(source):
    with open(source) as text:
        return {line.split("@")[1].strip(): f"{os.path.basename(source)}:{number}"
                for number, line in enumerate(text, 1) if "// @" in line}


def sites(data, place, operation, kernel="", **more):
    rows = [row for row in data["sites"] if row["place"] == place and
            row["operation"] == operation and row["kernel"].startswith(kernel) and
            all(row[key] == value for key, value in more.items())]
    if not rows:
        sys.exit(f"no {operation} at {place}")
    return rows


def check_costs(data, at):
    naive, = sites(data, at["naive"], "store")
    equal("naive transpose", (naive["sectors_per_request"], naive["ideal_sectors_per_request"]), (32, 4))
    equal("its reuse", (naive["cta_reuse"], naive["launch_reuse"]), (1, 1))
    for kernel, ways in (("transpose_tiled<32>", 32), ("transpose_tiled<33>", 1)):
        load, = [row for row in sites(data, at["tile-load"], "load") if kernel[16:18] in row["kernel"]]
        equal(kernel, (load["wavefronts_per_request"], load["worst_ways"]), (ways, ways))
        store, = [row for row in sites(data, at["tile-store"], "store") if kernel[16:18] in row["kernel"]]
        equal(kernel, store["wavefronts_per_request"], 1)
    second, = sites(data, at["stride-2"], "load")
    equal("stride-2 doubles", (second["sectors_per_request"], second["used_share"]), (16, 0.5))
    equal("what rows and doubles are not", [f["finding"] for place in ("naive", "stride-2")
          for f in data["findings"] if f["place"] == at[place] and "struct" in f["finding"]], [])
    struct, = [f for f in data["findings"] if f["place"] == at["struct"]]
    equal("a field of 8 bytes of 24", [struct[key] for key in ("finding", "struct_bytes", "field_bytes",
          "used_bytes")], ["array of structs", 24, 8, 8])
    field, = sites(data, at["struct"], "load")
    equal("its sectors", (field["sectors_per_request"], field["ideal_sectors_per_request"]), (24, 8))


def check_words(data, at):
    """Fields of one struct are known as such, and remedies are for what is at hand."""
    used = {}
    for f in data["findings"]:
        if f["kernel"].startswith("push"):
            used.setdefault(f["operation"], []).append((f["field_bytes"], f["used_bytes"]))
    for fields in used["store"]:  # x, y and z, which the compiler may have joined
        equal("fields that are stored", fields[1], 12)
    equal("all of them", sum(fields[0] for fields in used["store"]), 12)
    equal("a field that is read", used["load"], [(4, 4)])
    remedies = {f["finding"]: f["remedy"] for f in data["findings"] if f["place"] == at["tally"]}
    if "several copies" not in remedies["bank conflicts"] or "in shared memory" in \
            remedies["atomics on one address"]:
        sys.exit(f"remedies of a histogram in shared memory: {remedies}")


def check_steps(data, at):
    """Step s: lanes 2 s words apart: min(2 s, 32) of them in a bank."""
    reduce = [row["wavefronts_per_request"] for row in
              sorted(sites(data, at["reduce"], "store", "reduce_step"), key=lambda row: row["launch"])]
    equal("conflicts by step", reduce, [min(2 << k, 32) for k in range(6)])
    bins = [row["same_address_lanes"] for row in
            sorted(sites(data, at["bins"], "atomic add"), key=lambda row: row["launch"])]
    equal("lanes that wait for another", bins, [(1 << k) - 1 for k in range(6)])


def check_faults(data, at):
    found = {(f["finding"], f["place"]): f for f in data["findings"] if f["fault"]}
    equal("faults", sorted(found), sorted([
        ("uninitialised read", at["unset"]), ("access outside allocations", at["past"]),
        ("uninitialised read", at["shared-unset"]), ("possible race", at["in-place"]),
        ("possible race", at["flag"]), ("race in a warp", at["in-place"])]))
    unset = found["uninitialised read", at["unset"]]
    equal("bytes not set", (unset["fault_bytes"], unset["fault_accesses"]), (400, 100))
    equal("the first", (unset["cta"], unset["thread"]), (900 // 128, 900 % 128))
    past = found["access outside allocations", at["past"]]
    equal("bytes past the end", (past["fault_bytes"], past["cta"], past["thread"]), (4, 1, 72))
    if "0 bytes past the end of 'brief' (800 bytes)" not in past["evidence"]:
        sys.exit(past["evidence"])
    shared = found["uninitialised read", at["shared-unset"]]
    equal("shared bytes", (shared["fault_bytes"], shared["space"], shared["thread"]), (512, "shared", 64))
    in_place = found["possible race", at["in-place"]]
    equal("first bytes of CTAs 1 to 3", (in_place["fault_bytes"], in_place["cta"], in_place["thread"],
          in_place["other_cta"], in_place["other_thread"]), (12, 1, 0, 0, 127))
    flag = found["possible race", at["flag"]]
    equal("a flag that 8 CTAs set", (flag["fault_bytes"], flag["fault_accesses"], flag["other_cta"]),
          (4, 8, 1))


def check_allocations(result):
    rows = {(row["launch"], row["variable"]): row for row in
            access(result, "--per", "allocation")["allocations"]}
    read = rows[17, "unset"]
    equal("what read_all reads", (read["read_bytes"], read["requested_bytes"], read["launch_reuse"]),
          (4000, 4000, 1))


REPAIRS = {"900 * sizeof *unset": "1000 * sizeof *unset", "if (i <= n)": "if (i < n)",
           "if (threadIdx.x < LANES / 2)": "if (threadIdx.x < LANES)"}


def check_diff(before, where):
    """Repaired, and all lines moved by three: faults go, nothing comes, what is left is the same."""
    with open(SOURCE) as text:
        repaired = text.read()
    for wrong, right in REPAIRS.items():
        equal(wrong, repaired.count(wrong), 1)
        repaired = repaired.replace(wrong, right)
    os.makedirs(os.path.join(where, "repaired"))
    copy = os.path.join(where, "repaired", os.path.basename(SOURCE))
    with open(copy, "w") as text:
        text.write("\n\n\n" + repaired)
    after = record(copy, where, "after")
    diff = json.loads(run(CTASCOPE, "diff", before, after, "--format", "json", "--fail-on", "worse",
                          "--fail-above", "25%"))
    rows = {change: [row for row in diff["findings"] if row["change"] == change]
            for change in ("new", "changed", "gone", "same")}
    equal("changes", [diff[change] for change in ("new", "changed", "gone")], [0, 0, 3])
    equal("what has gone", sorted(row["finding"] for row in rows["gone"]),
          ["access outside allocations", "uninitialised read", "uninitialised read"])
    for row in rows["same"]:
        line, line_before = (int(row[key].split(":")[1]) for key in ("place", "place_before"))
        equal("lines moved", line - line_before, 3)
    run(CTASCOPE, "diff", after, before, "--fail-on", "fault", code=3)
    run(CTASCOPE, "diff", after, before, "--fail-on", "new", code=3)
    run(CTASCOPE, "diff", before, before, "--fail-on", "worse", "--fail-above", "0")
    return after


def check_filters(result):
    one = access(result, "--kernel-name", "weigh")
    equal("kernels", {row["kernel"].split("(")[0] for row in one["sites"]}, {"weigh"})
    site = one["sites"][0]["site"]
    chosen = access(result, "--site", str(site))
    equal("sites", {row["site"] for row in chosen["sites"] + chosen["findings"]}, {site})
    equal("a launch", {row["kernel"].split("(")[0] for row in
                       access(result, "--launch", "17")["sites"]}, {"read_all"})
    run(CTASCOPE, "access", result, "--launch", "999", code=2)
    run(CTASCOPE, "access", result, "--kernel-name", "no such", code=2)


def main():
    at = places(SOURCE)
    with tempfile.TemporaryDirectory() as where:
        result = record(SOURCE, where, "before")
        data = access(result)
        check_costs(data, at)
        check_words(data, at)
        check_steps(access(result, "--per", "launch"), at)
        check_faults(data, at)
        check_allocations(result)
        check_filters(result)
        check_diff(result, where)


main()
