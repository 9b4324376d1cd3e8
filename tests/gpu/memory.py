#!/usr/bin/env python3
"""Records the memory accesses of unmodified GPU programs and compares the runs with what the programs
say they did ("expect KEY COUNT"), and the examples with what the CPU device records of the same source:

    memory.py --ctascope PROGRAM --programs DIRECTORY [--keep DIRECTORY] CASE...

Ends with 77 where there is no GPU, this ctascope cannot record one, or no CASE could be tried. Without
CASE: all of them. Runs are removed when their case is done, but with --keep.
"""
import argparse
import csv
import csv
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
LIMIT_S = 120 # a run; Python's libraries alone may take half of it
CASES = ["plain", "patterns", "far", "async", "streams", "memory", "graph", "full", "many", "trap",
         "no-sync", "killed", "reset"]
MORE = ["atomics", "inlined", "shapes", "cluster", "bulk", "tensor", "tensor-store", "texture", "contexts", "devices",
        "children", "switch", "exit", "modules", "beside", "device-trap",
        "crash"]
OWN_STATUS = {"trap": 3, "killed": 137, "exit": 5, "device-trap": 3, "crash": 139}
EXAMPLES = ["vectoradd", "stencil2d", "histogram", "transpose", "nbody", "reduction"]
# Where nvcc and clang make different accesses; everything else is the same to the byte.
DIFFERENT = {"nbody", "reduction"}


class Failure(Exception):
    pass


class Skipped(Exception):
    """What is not here."""


def require(condition, text):
    if not condition:
        raise Failure(text)


class Run:
    """A recorded run: what the program printed, and the catalogue."""

    def __init__(self, options, name, command, *record_options, environment=None, status=0,
                 preexec=None):
        self.path = os.path.join(options.keep, name)
        self.options = options
        process = subprocess.Popen(
            [options.ctascope, "record", "--force", "-o", self.path, *record_options, "--", *command],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env=dict(os.environ, **(environment or {})), preexec_fn=preexec)
        try:
            self.output, self.errors = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise
        if process.returncode == SKIPPED:
            raise Skipped(f"{name}: {self.output.strip() or 'this device, or its number, does not do it'}")
        require(process.returncode == status,
                f"ended with {process.returncode}, not {status}: {self.errors.strip()[-600:]}")

    def said(self):
        """What record said of the run."""
        lines = [line for line in self.errors.splitlines() if line.startswith("ctascope record: ")]
        return lines[-1].split("': ", 1)[-1] if lines else "nothing said"

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
    "cooperative": "SELECT count(*) FROM launches WHERE cooperative",
    "clusters": "SELECT count(*) FROM clusters",
    "devices used": "SELECT count(DISTINCT device) FROM launches",
    "devices": "SELECT count(*) FROM devices",
    "processes": "SELECT count(*) FROM ranks",
    "shared sites": "SELECT count(*) FROM sites WHERE space = 3",
    "memset bytes": "SELECT sum(width_bytes * height) FROM copies WHERE kind = 'memset'",
    "2D bytes": "SELECT sum(width_bytes * height) FROM copies WHERE kind = 'HtoD' AND height > 1",
}


def calls_of(inlined_at):
    """The functions of a chain of calls, by their plain names."""
    calls = (inlined_at or "").split(" <- ") if inlined_at else []
    return " ".join(call.split(" ", 1)[1].split("(")[0] for call in calls)


def remote_bytes(run, key):
    """remote bytes read 0 of 1: what kernels on device 0 read of memory of device 1."""
    what, device, memory = key.split()[2], key.split()[3], key.split()[5]
    return sum(pair[what + "_bytes"] for pair in run.comm()["device_pairs"]
               if (str(pair["device"]), pair["memory"]) == (device, "device " + memory))


def of_comm(run, key):
    totals = run.comm()["totals"]
    return {
        "global accesses": sum(totals[f"global_{kind}_accesses"] for kind in ("load", "store", "atomic")),
        "global bytes read": totals["global_read_unique_bytes"],
        "global bytes written": totals["global_written_unique_bytes"],
        "shared lanes of 16 bytes":
            sum(totals[f"shared_{kind}_bytes"] for kind in ("load", "store", "atomic")) // 16,
    }[key]


MAPS = "SELECT count(*) FROM tensor_maps WHERE size_0 = {} AND size_1 = {} AND element_type = '{}'"
PATTERNS = [
    (r"operation (\d+)", "SELECT count(*) FROM sites WHERE space = 1 AND operation = {}"),
    (r"cluster of (\d+) (\d+) (\d+)",
     "SELECT count(*) FROM clusters JOIN launches USING (launch) WHERE cluster_x = {} AND "
     "cluster_y = {} AND cluster_z = {}"),
    (r"dynamic shared (\d+)", "SELECT count(*) FROM launches WHERE dynamic_shared_bytes = {}"),
    (r"loaded map of (\d+) by (\d+) (\w+)", MAPS + " AND may_load AND NOT may_store"),
    (r"stored map of (\d+) by (\d+) (\w+)", MAPS + " AND may_store AND NOT may_load"),
    (r"skipped ([\w ]+)", "SELECT count(*) FROM skipped WHERE what LIKE '%{}%'"),
    (r"sites of (\w+)", "SELECT count(*) FROM sites WHERE function LIKE '{}(%'"),
    (r"function (\w+)", "SELECT count(DISTINCT function) FROM sites WHERE function LIKE '{}(%'"),
    (r"allocation (\w+)", "SELECT count(*) FROM allocations WHERE kind = '{}'"),
]


def measure(run, key):
    if key in QUERIES:
        return run.value(QUERIES[key])
    for pattern, query in PATTERNS:
        match = re.fullmatch(pattern, key)
        if match:
            return run.value(query.format(*match.groups()))
    if key.startswith("calls"):
        wanted = key[len("calls"):].strip()
        return sum(calls_of(row[0]) == wanted for row in run.rows("SELECT inlined_at FROM sites"))
    if key.startswith("remote bytes"):
        return remote_bytes(run, key)
    if key.startswith(("global ", "shared lanes")):
        return of_comm(run, key)
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
    path = os.path.join(options.programs, name)
    if not os.access(path, os.X_OK):
        raise Skipped(f"no program '{path}'")
    return path


def unwritten_aside(options, run):
    """What a tensor store may have written counts as written; memory beside it does not."""
    done = subprocess.run([options.ctascope, "access", "--format", "json", run.path], capture_output=True,
                          text=True, timeout=LIMIT_S)
    findings = [finding for finding in json.loads(done.stdout)["findings"]
                if finding["finding"] == "uninitialised read"]
    require(len(findings) == 1 and findings[0]["fault_bytes"] == 64 * 64 * 4, f"{findings}")
    return 1


def case(options, name):
    source = "memory_more" if name in MORE else "memory_cases"
    run = Run(options, name, [program(options, source), name], status=OWN_STATUS.get(name, 0))
    checked = compare(run)
    if name == "plain":
        checked += addresses(run)
    if name == "tensor-store":
        checked += unwritten_aside(options, run)
    if name == "patterns":
        patterns = run.comm()["sites"]
        require(any(site["operation"] == "atomic add" for site in patterns), "no atomic")
    if name == "streams":
        order = [row[0] for row in run.rows(
            "SELECT 'launch ' || stream FROM launches ORDER BY op")]
        require(len(set(order)) == 4, f"launches in {order}")
        ops = run.rows("SELECT op, 1 FROM launches UNION SELECT op, 2 FROM syncs WHERE kind = "
                       "'event record' UNION SELECT op, 3 FROM syncs WHERE kind = 'stream wait' "
                       "ORDER BY 1")
        require([kind for _, kind in ops] == [1, 2] + [3, 1, 2] * 3, f"order {ops}")
    return f"{checked} counts; {run.said()}"


def addresses(run):
    """Each float of one allocation is loaded once, and each of another one stored."""
    allocations = run.rows("SELECT address, size_bytes FROM allocations WHERE call = 'cudaMalloc' ORDER BY op")
    require(len(allocations) == 2, str(allocations))
    for (start, size), operation in zip(allocations, ("load", "store")):
        found = [row["at"] for row in lanes_of(run) if row["operation"] == operation]
        require(sorted(found) == list(range(start, start + size, 4)), f"addresses of {operation}s")
    return 2


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
    return f"{len(expected)} totals are the CPU device's; {run.said()}"


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
    by_expression = Run(options, "filters-expression", [program(options, "transpose")], "--kernel-name",
                        "regex:^transpose_tiled", "--spaces", "global")
    require(by_expression.value(QUERIES["accesses"]) == run.value(QUERIES["accesses"]), "an expression")
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
    return f"nothing lost; {run.said()}"


def profiler(options):
    """From cudaProfilerStart() to cudaProfilerStop()."""
    run = Run(options, "profiler", [program(options, "memory_more"), "profiler"],
              environment={"CTASCOPE_PROFILE_FROM_START": "0"})
    return f"{compare(run)} counts; {run.said()}"


def sampled(options):
    run = Run(options, "sample", [program(options, "memory_cases"), "plain"], "--cta-sample", "4")
    require(run.value("SELECT recorded FROM launches") == "sample", "not sampled")
    require(run.value("SELECT accesses FROM launches") == 2 * 65536 // 4, "accesses")
    return "a quarter"


def missing(options):
    command = [program(options, "memory_cases"), "plain"]
    run = Run(options, "missing", command, environment={"CTASCOPE_SANITIZER": "/nowhere.so"})
    require("nothing was recorded: CTASCOPE_SANITIZER: /nowhere.so" in run.errors, run.errors)
    require("expect launches 1" in run.output, "the program did not run")
    return run.errors.strip()


def limit(options):
    run = Run(options, "limit", [program(options, "histogram")], "--max-size", "20M")
    require(run.value("SELECT sum(dropped_accesses) FROM launches") > 0, "nothing dropped")
    require("DROPPED" in run.errors, run.errors)
    return run.errors.strip()


def disk(options):
    """Where no more can be written, the program goes on, and what was dropped is counted."""
    limit = 4 << 20 # of each file; the threads that write share the data
    run = Run(options, "disk", [program(options, "memory_speed"), "gather", "3"], "--spaces", "global",
              environment={"CUDA_CACHE_DISABLE": "1"},
              preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    require(run.output.startswith("gather "), f"the program did not end: {run.output}")
    require("DROPPED" in run.errors and "File too large" in run.errors, run.errors)
    accesses, dropped = run.rows("SELECT sum(accesses), sum(dropped_accesses) FROM launches")[0]
    require(accesses + dropped == 4 * 3 * (1 << 24), f"{accesses} and {dropped} dropped accesses")
    sizes = [os.path.getsize(os.path.join(path, name))
             for path, _, names in os.walk(run.path) for name in names]
    require(max(sizes) <= limit, f"files of {sizes}")
    return run.said()


def peak_kib():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def bounded(options):
    """Four times the records take the same memory: what is written is not kept."""
    command = [program(options, "memory_speed"), "gather"]
    peaks = []
    for launches in ("5", "20"):
        run = Run(options, "bounded", [*command, launches], "--spaces", "global")
        peaks.append(peak_kib() >> 10) # of all children so far
        require(run.value(QUERIES["accesses"]) == (int(launches) + 1) * 3 * (1 << 24), "accesses")
    require(peaks[1] <= peaks[0] * 1.25 + 64, f"MiB of memory: {peaks}")
    return f"{peaks[0]} and {peaks[1]} MiB of memory; {run.said()}"


def short_of_memory(options):
    """No room for the stack of patched code: the program does what it does, and one line says why
    nothing came."""
    run = Run(options, "short", [program(options, "memory_cases"), "full"],
              environment={"SPARE_MIB": "128"})
    require("expect accesses" in run.output, "the program did not run")
    lines = [line for line in run.errors.strip().splitlines() if line.startswith("ctascope")]
    require(len(lines) == 1, run.errors)
    require(re.search(r"left no record while \d+ MiB of device memory were free: .* takes about \d+ MiB",
                      lines[0]), run.errors)
    require(run.value("SELECT recorded FROM launches") == "none", "it counts as recorded")
    return lines[0]


def doctor(options):
    done = subprocess.run([options.ctascope, "doctor", "--format", "json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=LIMIT_S)
    recorders = {one["name"]: one for one in json.loads(done.stdout)["recorders"]}
    for name, recorder in recorders.items():
        require(recorder["works"] or not recorder["possible"], f"{name}: {recorder['outcome']}")
    memory = recorders["GPU, memory, any program"]
    require(memory["works"] and memory["tested"], f"memory: {memory['outcome']}")
    return "; ".join(f"{name}: {one['outcome']}" for name, one in recorders.items())


def hang(options):
    """A kernel that never ends: the program is killed, and what came before is readable."""
    path = os.path.join(options.keep, "hang")
    process = subprocess.Popen([options.ctascope, "record", "--force", "-o", path, "--",
                                program(options, "memory_more"), "hang"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    time.sleep(6)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    done = subprocess.run([options.ctascope, "info", "--format", "json", path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    require(done.returncode == 0, done.stderr)
    # The program and 'record' were killed: what they noted is in the journal, which readers merge.
    table = subprocess.run([options.ctascope, "dump", "--table", "launches", "--format", "csv", path],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout
    accesses = sum(int(row["accesses"] or 0) for row in csv.DictReader(table.splitlines()))
    require(accesses >= 2 * 65536, f"{accesses} accesses")
    return f"{accesses} accesses are there"


def kept(options):
    """Programs that kill themselves as soon as a synchronisation returns: every launch before it is
    there with its end, and all of its accesses are in the access files."""
    seeds = range(int(os.environ.get("CTS_TEST_KEPT", "36")))
    failures, ways = [], {}
    for seed in seeds:
        run = Run(options, "kept", [program(options, "memory_cases"), "kept", str(seed)], status=137)
        words = run.output.split()
        launches, accesses, way = int(words[2]), int(words[4]), " ".join(words[6:])
        ended, of_rows = run.rows("SELECT count(*), sum(accesses) FROM launches l JOIN kernels k USING "
                                  "(kernel) WHERE k.name LIKE 'copy(%' AND l.end_ns NOT NULL")[0]
        totals = run.comm()["totals"]
        in_files = totals["global_load_accesses"] + totals["global_store_accesses"]
        enough = in_files >= accesses if way == "other stream" else in_files == accesses
        good = ended == launches and of_rows == accesses and enough
        seen = (f"seed {seed} ({way}): {ended} of {launches} launches ended, {of_rows} of {accesses} "
                f"accesses in their rows, {in_files} in the files")
        print(f"    {seen}: {'ok' if good else 'LOST'}", flush=True)
        ways[way] = ways.get(way, 0) + good
        if not good:
            failures.append(seen)
    require(not failures, f"{len(failures)} of {len(seeds)} lost something; the first: {failures[:1]}")
    return f"{len(seeds)} programs killed at once, nothing lost: {ways}"


def says(options, name, texts):
    """The program runs as ever, and one line says why nothing was recorded."""
    run = Run(options, name, [program(options, "memory_more"), name])
    require("expect launches" in run.output, "the program did not run")
    lines = [line for line in run.errors.strip().splitlines() if line.startswith("ctascope")]
    require(len(lines) == 1, run.errors)
    require(any(text in lines[0] for text in texts), run.errors)
    return lines[0]


def separate(options):
    """Functions in other sections than the kernel's, and kernels that launch kernels."""
    run = Run(options, "separate", [program(options, "memory_separate")])
    checked = compare(run)
    run = Run(options, "separate-launches", [program(options, "memory_separate"), "launches"])
    return f"{checked + compare(run)} counts"


def ranges(options):
    """Launches in NVTX ranges; launch n of the program makes n + 1 accesses."""
    for words, expected in ((["solve"], [2, 3, 5]), (["solve/"], [2, 3]), (["library@solve"], [6])):
        run = Run(options, "ranges", [program(options, "ranges")],
                  *[word for range in words for word in ("--nvtx-include", range)])
        found = [row[0] - 1 for row in
                 run.rows("SELECT accesses FROM launches WHERE recorded = 'all' ORDER BY op")]
        require(found == expected, f"{words}: launches {found}")
    return "as chosen"


def disassembly(options):
    """Code without source lines is shown as the disassembler has it."""
    run = Run(options, "disassembly", [os.path.join(os.path.dirname(options.ctascope),
                                                   "../lib/ctascope/gpu-self-test")])
    rows = run.rows("SELECT i.function, i.line, s.text FROM sites i JOIN sources s USING (source)")
    require(len(rows) == 3, str(rows))
    for function, line, text in rows:
        instruction = text.splitlines()[line - 1]
        require(re.search(r"\b(LD|ST)G?\b", instruction), f"{function}: {instruction}")
        require(function.endswith(f"+0x{(line - 1) * 16:x}"), function)
    return f"{rows[0][0]}: {rows[0][2].splitlines()[rows[0][1] - 1]}"


def python_children(options):
    """A Python program that starts others: each process is a rank of the run."""
    command = [program(options, "memory_more"), "plain"]
    script = f"import subprocess; [subprocess.run({command!r}, check=True) for _ in range(2)]"
    run = Run(options, "python", [sys.executable, "-c", script])
    require(run.value("SELECT count(*) FROM ranks") == 2, "ranks")
    require(run.value(QUERIES["accesses"]) == 2 * 2 * 65536, "accesses")
    return "2 processes"


def lanes_of(run):
    """Every access of every lane, in the order of the run."""
    dump = subprocess.Popen([run.options.ctascope, "dump", run.path, "--accesses", "--lanes",
                             "--format", "csv"], stdout=subprocess.PIPE, text=True)
    for row in csv.DictReader(dump.stdout):
        row["at"], row["width"] = int(row["address"], 16), int(row["width_bytes"])
        yield row
    dump.wait()


def lines_of(run, word):
    return [line.split()[1:] for line in run.output.splitlines() if line.startswith(word + " ")]


def nodes(options):
    """Launches of one kernel that are in flight together, as nodes of graphs, too: each has its own."""
    run = Run(options, "nodes", [program(options, "memory_values"), "nodes"])
    expected = lines_of(run, "launch")
    launches = [str(row[0]) for row in run.rows("SELECT launch FROM launches ORDER BY op")]
    require(len(launches) == len(expected), f"{len(launches)} launches of {len(expected)}")
    found = {launch: {"load": [], "store": []} for launch in launches}
    for row in lanes_of(run):
        found[row["launch"]][row["operation"]].append(row["at"])
    for i, (launch, (count, start, to)) in enumerate(zip(launches, expected)):
        for operation, first in (("load", int(start, 16)), ("store", int(to, 16))):
            addresses = found[launch][operation]
            require(len(addresses) == int(count) == len(set(addresses)) and min(addresses) == first and
                    max(addresses) < first + 8 * 128 * 4,
                    f"launch {i} of {len(launches)}, {operation}s: {len(addresses)} accesses, "
                    f"{len(set(addresses))} addresses from {min(addresses, default=0):#x}, "
                    f"expected {count} from {first:#x}")
    return f"{len(launches)} launches"


def value_of(row):
    """As bytes, in memory's order."""
    words = [int(word, 16) for word in row["value"].split()]
    require(words, f"no value: {row}")
    return b"".join(word.to_bytes(8, "little") for word in words)[:row["width"]]


def expected_value(row, index, shared_start, buffers, atomics, kept):
    """What the program says of an access; of local memory, what the lane stored there."""
    at, width, space = row["at"], row["width"], row["space"]
    lane = (row["launch"], row["cta"], row["warp"], row["lane"], at)
    if space == "local":
        if row["operation"] == "store":
            kept[lane] = value_of(row)
        return kept.get(lane)
    if index == len(atomics["launches"]):
        first, threads = 1000, 64
        added = 0 if row["operation"].startswith("atomic") else 5
        if space == "shared":
            return (first + (at - shared_start) // 4 +
                    (added if row["operation"] == "load" else 0)).to_bytes(4, "little")
        i = (at - atomics[width]) // width
        value = (first + i) << 33 if width == 8 else first + i
        return (value if not added else first + i % threads + 5).to_bytes(width, "little")
    inverse, offset = False, int(row["cta"]) * 64 * width + at - shared_start
    if space == "global":
        what, offset = next((what, at - start) for what, start, size in buffers
                            if start <= at < start + size)
        if what == "any":
            return value_of(row)
        inverse = what == "out"
    return bytes((o * 7 + 3 & 255) ^ (255 if inverse else 0) for o in range(offset, offset + width))


def values(options):
    run = Run(options, "values", [program(options, "memory_values"), "values"], "--values",
              "--spaces", "global,shared,local")
    buffers = [(what, int(start, 16), int(size)) for what, _, start, size in lines_of(run, "buffer")]
    atomics = {int(width): int(start, 16) for width, start in lines_of(run, "atomics")}
    atomics["launches"] = [0] * 5  # of other kernels before
    launches = [str(row[0]) for row in run.rows("SELECT launch FROM launches ORDER BY op")]
    rows, counts, kept = list(lanes_of(run)), {}, {}
    starts = {}
    for row in rows:
        if row["space"] == "shared":
            starts[row["launch"]] = min(starts.get(row["launch"], row["at"]), row["at"])
    for row in rows:
        index = launches.index(row["launch"])
        wanted = expected_value(row, index, starts.get(row["launch"], 0), buffers, atomics, kept)
        require(value_of(row) == wanted, f"{row}: expected {wanted.hex() if wanted else wanted}")
        key = (index, row["space"], row["operation"].split()[0], row["width"])
        counts[key] = counts.get(key, 0) + 1
    threads, some = 3 * 64, 3 * 22  # every third thread of 64
    for index, width in enumerate((1, 2, 4, 8, 16)):
        for space, operation, count in (("global", "load", threads + some),
                                        ("global", "store", threads + some),
                                        ("shared", "load", threads), ("shared", "store", threads)):
            found = counts.get((index, space, operation, width))
            require(found == count, f"{width} bytes, {space} {operation}s: {found} of {count}")
    for space, width, count in (("shared", 4, threads), ("global", 4, threads // 2),
                                ("global", 8, threads)):
        found = counts.get((5, space, "atomic", width))
        require(found == count, f"atomics of {width} bytes, {space}: {found} of {count}")
    require(counts.get((6, "local", "load", 4)) and counts.get((6, "local", "store", 4)), "no local memory")
    run = Run(options, "values-without", [program(options, "memory_values"), "values"])
    require(all(not row["value"] for row in lanes_of(run)), "values that nobody asked for")
    small = Run(options, "values-small", [program(options, "memory_values"), "values"], "--values",
                "--ring-size", "64K")
    require(small.value(QUERIES["accesses"]) == run.value(QUERIES["accesses"]), "a small ring")
    return f"{len(rows)} values"


def distinct_bytes(run):
    """Distinct bytes read and written of each device allocation, in the order of their calls."""
    allocations = run.rows("SELECT address, size_bytes FROM allocations WHERE kind = 'device' AND call "
                           "= 'cudaMalloc' ORDER BY op")
    found = [[set(), set()] for _ in allocations]
    for row in lanes_of(run):
        if row["space"] != "global":
            continue
        for i, (start, size) in enumerate(allocations):
            if start <= row["at"] < start + size:
                found[i][row["operation"] != "load"].add((row["at"], row["width"]))
    return [[len({address + k for address, width in accesses for k in range(width)})
             for accesses in both] for both in found]


def gemm(options):
    """cuBLAS: the operands of a product are read as a whole, the result is written as a whole."""
    said = []
    for kind in ("single", "double"):
        run = Run(options, "gemm-" + kind, [program(options, "gemm"), kind], "--spaces", "global")
        expected = [int(line.rsplit(" ", 1)[1]) for line in run.output.splitlines()]
        found = distinct_bytes(run)[-3:]
        require([found[0][0], found[1][0], found[2][1]] == expected, f"{kind}: {found}, {expected}")
        require(found[0][1] == found[1][1] == 0, f"{kind}: operands are written: {found}")
        names = run.rows("SELECT DISTINCT name FROM kernels")
        said.append(f"{kind}: {expected} bytes, {[name[0][:60] for name in names]}")
    return "; ".join(said)


def span(row):
    """The first byte of a map's tensor, and the one behind its last."""
    address, element_bytes = row[:2]
    return address, address + element_bytes + sum((size - 1) * stride for size, stride
                                                  in zip(row[2:7], row[7:12]))


def tensors(options):
    """What library kernels copy by TMA lies in the maps of their launches, to the byte."""
    done = subprocess.run([sys.executable, os.path.join(HERE, "tensors.py")], capture_output=True, text=True,
                          timeout=LIMIT_S)
    if done.returncode == SKIPPED:
        raise Skipped(done.stdout.strip())
    run = Run(options, "tensors", [sys.executable, os.path.join(HERE, "tensors.py")], "--spaces", "global")
    checksums = [re.search(r"checksum (.*)", text).group(1) for text in (done.stdout, run.output)]
    spans = {span(row) for row in run.rows(
        "SELECT address, element_bytes, size_0, size_1, size_2, size_3, size_4, stride_0, stride_1, stride_2, "
        "stride_3, stride_4 FROM tensor_maps")}
    said = {}
    for operation, name, address, size in re.findall(r"tensor (\S+) (\S+) (\d+) (\d+)", run.output):
        exact = (int(address), int(address) + int(size)) in spans
        said.setdefault(operation, []).append(name + ("" if exact else " is not there"))
    with_maps = run.value("SELECT count(DISTINCT launch) FROM tensor_maps")
    copies = run.value("SELECT count(*) FROM launches l JOIN kernels k USING (kernel) JOIN skipped s ON "
                       "s.module = k.module AND s.what LIKE 'tensor %(TMA%) in ' || k.name")
    text = (f"{with_maps} launches with maps, {copies} kinds of copies in launches; checksums {checksums}; " +
            "; ".join(f"{operation}: {', '.join(names)}" for operation, names in said.items()))
    require(with_maps, text)
    missing = [operation for operation, names in said.items() if operation.startswith(("bf16", "f16", "batched"))
               and any("not there" in name for name in names)]
    require(not missing, f"{missing} of {text}")
    return text


def cufft(options):
    run = Run(options, "cufft", [program(options, "cufft")])
    return f"{compare(run)} counts; {run.rows('SELECT name FROM kernels')}"


def ranks(options):
    """Both ways to record MPI ranks: one run, a folder per rank."""
    mpirun = shutil.which("mpirun")
    if not mpirun:
        raise Skipped("no mpirun")
    launcher = [mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2"]
    command = [program(options, "memory_ranks")]
    run = Run(options, "ranks", launcher + command)
    checked = compare(run)
    require(all(os.path.isdir(os.path.join(run.path, f"rank-{rank}")) for rank in (0, 1)), "folders")
    path = os.path.join(options.keep, "ranks-each")
    shutil.rmtree(path, ignore_errors=True)
    done = subprocess.run(launcher + [options.ctascope, "record", "-o", path, "--", *command],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S)
    require(done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-600:]}")
    run.path, run.output = path, done.stdout
    return f"{checked + compare(run)} counts"


# ---- libraries ----

def library(options, name, command):
    run = Run(options, name, command)
    kernels = run.rows("SELECT k.name, count(*), sum(l.accesses) FROM launches l JOIN kernels k "
                       "USING (kernel) GROUP BY kernel ORDER BY 3 DESC LIMIT 4")
    require(kernels and kernels[0][2], "no accesses")
    comm = run.comm()
    require(run.value("SELECT count(*) FROM allocations WHERE kind = 'device'"), "no allocations")
    require(comm["totals"]["global_read_unique_bytes"], "nothing was read")
    said = {key: comm["totals"][key] for key in
            ("global_read_unique_bytes", "global_written_unique_bytes", "received_bytes")}
    return (f"{run.errors.strip()}; {kernels}; {said}; {len(comm['allocations'])} allocations, "
            f"{len(comm['kernel_pairs'])} pairs of kernels")


SPECIAL = {
    "nodes": nodes, "values": values, "hang": hang, "kept": kept, "separate": separate, "ranges": ranges,
    "disassembly": disassembly, "python": python_children, "gemm": gemm, "tensors": tensors, "cufft": cufft, "ranks": ranks,
    "late": lambda o: says(o, "late", ["CUDA was initialised before", "refuses"]),
    "subscriber": lambda o: says(o, "subscriber", ["another tool already uses the Sanitizer"]),
    "disk": disk, "profiler": profiler, "bounded": bounded, "short": short_of_memory, "doctor": doctor, "filters": filters, "ring": small_ring, "sample": sampled, "missing": missing, "limit": limit,
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
    outcomes = set()
    for name in options.cases or CASES + MORE + EXAMPLES + list(SPECIAL):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
            outcomes.add(tell(argparse.Namespace(**dict(vars(options), keep=options.keep or temporary)),
                              name))
    return 1 if "FAILED" in outcomes else SKIPPED if outcomes == {"skipped"} else 0


def tell(options, name):
    start, outcome = time.time(), "ok"
    os.makedirs(options.keep, exist_ok=True)
    try:
        text = (case(options, name) if name in CASES + MORE else
                example(options, name) if name in EXAMPLES else SPECIAL[name](options))
    except Skipped as lacking:
        outcome, text = "skipped", lacking
    except (Failure, subprocess.TimeoutExpired, sqlite3.Error) as failure:
        outcome, text = "FAILED", failure
    print(f"{outcome} {name}: {text} ({time.time() - start:.1f} s)", flush=True)
    return outcome


if __name__ == "__main__":
    sys.exit(main())
