#!/usr/bin/env python3
"""What the memory recorder does without a GPU, with a driver and a Sanitizer that are none: where it
cannot record, the program's own result and status stay what they were, and one line says why; launches
that are played are recorded.

    check.py CTASCOPE PROGRAM FAKES WORK CASE
"""
import os
import shutil
import sqlite3
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

# name: the driver, the Sanitizer (None: missing), environment, options, what is said
CASES = {
    "no-gpu": (None, "new", {}, [], "no recorder ran in"),
    "no-launch": ("new", "new", {}, [], "launched no kernel"),
    "missing": ("new", None, {}, [], "CTASCOPE_SANITIZER: /nowhere/libsanitizer-public.so"),
    "old-sanitizer": ("new", "old", {}, [], "has no sanitizerStreamSynchronize: it is too old"),
    "old-driver": ("old", "new", {}, [], "the driver has no cuCtxPushCurrent"),
    "another": ("new", "new", {"FAKE_SUBSCRIBE": "10"}, [], "another tool already uses the Sanitizer"),
    "refuses": ("new", "new", {"FAKE_SUBSCRIBE": "13"}, [],
                "refuses: Sanitizer is unable to initialize"),
    "unsupported": ("new", "new", {"FAKE_ENABLE": "14"}, [], "refuses: The attempted operation"),
    "large-ring": ("new", "new", {}, ["--ring-size", "64G"],
                   "a ring of 65536 MiB is more than half of the "),
    "spaces": ("new", "new", {"CTASCOPE_SPACES": "shared"}, [], "the list must include global"),
    "bad-value": ("new", "new", {"CTASCOPE_RING_SIZE": "tiny"}, [], "CTASCOPE_RING_SIZE='tiny'"),
    "launcher": ("new", "new", {}, [], "no recorder ran in"), # MPI's are no ranks of the run
    "no-patches": ("new", "new", {}, [], "no patches at"),
}
# nodes of launches of graphs: what, which launch, number
NODES = ("SELECT * FROM (SELECT coalesce(k.name, c.kind, 'function'), dense_rank() OVER (ORDER BY launch_op) "
         "- 1, node FROM graph_nodes n LEFT JOIN launches l USING (op) LEFT JOIN kernels k USING (kernel) "
         "LEFT JOIN copies c USING (op) LEFT JOIN host_functions h USING (op) ORDER BY n.op)")
EDGES = "SELECT * FROM (SELECT 'edge', node, after FROM graph_edges ORDER BY node, after)"
GRAPH_NODES = [(what, launch, node) for launch in (0, 1) for what, node in
               (("one", 0), ("memset", 1), ("DtoD", 2), ("function", 3), ("two", 4), ("one", 6))]
# name: words of launches, environment, options, status, what is said, then SQL on the run and its answer
PLAYED = {
    "launches": ("one two:3 one", {}, [], 0, "3 launches, 160 accesses in 5 records",
                 "SELECT k.name, l.accesses, l.recorded FROM launches l JOIN kernels k USING (kernel) "
                 "ORDER BY op", [("one", 32, "all"), ("two", 96, "all"), ("one", 32, "all")]),
    "cluster": ("one cluster:4", {}, [], 0, "2 launches",
                "SELECT k.name, cluster_x, cluster_y, cluster_z FROM clusters JOIN launches l USING "
                "(launch) JOIN kernels k USING (kernel)", [("cluster", 2, 1, 1)]),
    "left-out": ("one two one", {}, ["--kernel-name", "two"], 0, "3 launches (1 recorded), 32 accesses",
                 "SELECT recorded, records FROM launches ORDER BY op",
                 [("none", 0), ("all", 1), ("none", 0)]),
    "regex": ("one two one", {}, ["--kernel-name", "regex:^o"], 0, "3 launches (2 recorded), 64 accesses",
              "SELECT recorded, records FROM launches ORDER BY op",
              [("all", 1), ("none", 0), ("all", 1)]),
    # what is copied by TMA is bounded by the maps among the parameters
    "tensor-maps": ("one tensor_store tensor_load", {"FAKE_CUBIN": "tensor.cubin"}, [], 0, "3 launches",
                    "SELECT k.name, parameter_bytes, address, element_type, dimensions, size_0, size_1, "
                    "stride_1, box_0, box_1, may_load, may_store FROM tensor_maps JOIN launches l USING "
                    "(launch) JOIN kernels k USING (kernel) ORDER BY op",
                    [("tensor_store", 64, 0x7f0000000000, "f32", 2, 512, 256, 2048, 64, 16, 0, 1),
                     ("tensor_load", 64, 0x7f0000000000, "f32", 2, 512, 256, 2048, 64, 16, 1, 0)]),
    # asking for the parameters loads the module
    "tensor-lazy": ("tensor_store", {"FAKE_CUBIN": "tensor.cubin", "FAKE_LAZY": "1"}, [], 0, "1 launch",
                    "SELECT count(*), sum(registers > 0) FROM tensor_maps JOIN launches USING (launch) JOIN "
                    "kernels USING (kernel)", [(1, 1)]),
    "tensor-skipped": ("tensor_store tensor_changed", {"FAKE_CUBIN": "tensor.cubin"}, [], 0, "2 launches",
                       "SELECT what, count FROM skipped ORDER BY what",
                       [("tensor maps made on the device in tensor_changed", 1),
                        ("tensor reductions (TMA with a descriptor) in tensor_changed", 1),
                        ("tensor stores (TMA with a descriptor) in tensor_store", 1)]),
    # a chosen part, and CTAs of it
    "window": ("one:8:5", {}, ["--launch-skip", "1", "--launch-count", "2"], 0,
               "5 launches (2 recorded), 512 accesses",
               "SELECT recorded, records FROM launches ORDER BY op",
               [("none", 0), ("all", 8), ("all", 8), ("none", 0), ("none", 0)]),
    # more records than the ring has room for
    "small-ring": ("many:20000", {}, ["--ring-size", "64K"], 0, "640,000 accesses in 20,000 records",
                   "SELECT sum(accesses) FROM launches", [(640000,)]),
    "no-room": ("one two:3", {"FAKE_FREE_MIB": "200"}, [], 0,
                "nothing was recorded: 2 launches left no record while 200 MiB of device memory were free: "
                "the stack of patched code takes about 396 MiB",
                "SELECT recorded FROM launches", [("none",), ("none",)]),
    "some-room": ("before one before:2", {"FAKE_FREE_MIB": "200"}, [], 0,
                  "3 launches (2 recorded), 96 accesses in 3 records, ",
                  "SELECT recorded FROM launches ORDER BY op", [("all",), ("none",), ("all",)]),
    "room": ("one silent", {"FAKE_FREE_MIB": "400"}, [], 0, "2 launches, 32 accesses in 1 record",
             "SELECT count(*) FROM messages", [(0,)]),
    # numbers of launches are used again
    "many": ("one:1:70000 two", {}, [], 0, "70,001 launches, 2,240,032 accesses in 70,001 records",
             "SELECT count(*), min(accesses), max(accesses) FROM launches", [(70001, 32, 32)]),
    "silent": ("silent", {}, [], 0, "no access of 1 launches arrived: they accessed no memory, or",
               "SELECT recorded FROM launches", [("all",)]),
    "late": ("one", {"FAKE_LATE": "1"}, [], 0, "CUDA was initialised before the recorder was loaded",
             "SELECT recorded FROM launches", [("none",)]),
    "crash": ("one:7 crash", {}, [], 134, "224 accesses in 7 records, ",
              "SELECT sum(accesses) FROM launches", [(224,)]),
    "leave": ("one:7 leave", {}, [], 5, "224 accesses in 7 records, ",
              "SELECT sum(accesses) FROM launches", [(224,)]),
    # what a synchronisation has returned for survives whatever comes then
    "kept": ("one:7 two:300:20 sync one:5 sync kill", {}, [], 137, "192,384 accesses in 6,012 records, ",
             "SELECT count(*), sum(accesses), sum(end_ns NOT NULL) FROM launches", [(22, 192384, 22)]),
    # graphs: the nodes of two launches of an instance, and its edges
    "graph": ("before graph=k,m0,p1,h2,l0,e34,k5", {}, [], 0, "7 launches, 32 accesses",
              f"{NODES} UNION ALL {EDGES}", GRAPH_NODES + [
                  ("edge", 1, 0), ("edge", 2, 1), ("edge", 3, 2), ("edge", 4, 0), ("edge", 5, 3),
                  ("edge", 5, 4), ("edge", 6, 5)]),
    # its nodes are known by their type, function and order when the graph is gone
    "destroyed": ("before destroyed=k,m0,p1,h2,l0,e34,k5", {}, [], 0, "7 launches", NODES, GRAPH_NODES),
    # a child has a number for its begin and one for its end
    "child": ("before graph=k,c0,k1", {}, [], 0, "9 launches", f"{NODES} UNION ALL {EDGES}", [
        ("one", 0, 0), ("one", 0, 2), ("one", 0, 3), ("one", 0, 5),
        ("one", 1, 0), ("one", 1, 2), ("one", 1, 3), ("one", 1, 5),
        ("edge", 1, 0), ("edge", 2, 1), ("edge", 3, 2), ("edge", 4, 1), ("edge", 4, 3), ("edge", 5, 4)]),
    # copies that are told with their node, or not at all
    "copies": ("before graph=a,p0,q1,r2,f3", {}, [], 0, "1 launch",
               "SELECT kind, destination - source, width_bytes, node, (SELECT count(*) FROM copies) "
               "FROM copies JOIN graph_nodes USING (op) ORDER BY op",
               [("DtoD", 256, 64, node, 6) for node in (1, 2, 3)] * 2),
    # nodes are listed before those that precede them: numbers are not in that order
    "unordered": ("before graph=k1,l", {}, [], 0, "5 launches", f"{NODES} UNION ALL {EDGES}", [
        ("one", 0, 1), ("two", 0, 0), ("one", 1, 1), ("two", 1, 0), ("edge", 1, 0)]),
    # what a graph waits for and allocates comes before its nodes, what it frees behind them
    "parts": ("before graph=w,a0,k1,f2", {}, [], 0, "3 launches",
              "SELECT kind, a.op < (SELECT min(launch_op) FROM graph_nodes), "
              "freed_op > (SELECT min(op) FROM launches), freed_op < (SELECT max(op) FROM launches), "
              "(SELECT count(*) FROM calls c WHERE c.op IN (a.op, freed_op) AND stream IS NOT NULL) "
              "FROM allocations a UNION ALL SELECT kind, s.op < (SELECT min(launch_op) FROM graph_nodes), "
              "0, 0, event FROM syncs s",
              [("device", 1, 1, 1, 2), ("device", 0, 1, 0, 2), ("stream wait", 1, 0, 0, 0x77),
               ("stream wait", 0, 0, 0, 0x77)]),
    "pool": ("one pool one", {}, [], 0, "2 launches",
             "SELECT c.api, d.api, c.stream, d.stream FROM allocations a JOIN calls c USING (op) LEFT JOIN "
             "calls d ON d.op = a.freed_op ORDER BY a.op",
             [("cuMemAllocAsync", "cuMemFreeAsync", 0, 0), ("cuMemAllocAsync", None, 0, None)]),
    # memory of variables is an allocation from the beginning; that of __managed__ ones is told
    "variables": ("use", {"FAKE_CUBIN": "variables.cubin"},
                  [], 0, "1 launch",
                  "SELECT v.name, v.kind, v.size_bytes, a.kind, a.op < (SELECT min(op) FROM launches) "
                  "FROM variables v LEFT JOIN allocations a USING (address) ORDER BY v.name",
                  [("counter", "device", 4, "variable", 1), ("scale", "device", 256, "variable", 1),
                   ("total", "managed", 8, None, None), ("weights", "constant", 64, "variable", 1)]),
    "functions": ("one functions one", {}, [], 0, "2 launches",
                  "SELECT stream, begin_op > op, end_op > begin_op FROM host_functions",
                  [(0, 1, 1), (0, 1, 1)]),
    "full-file": ("one:7 one:3", {}, ["--max-size", "1K"], 0, "DROPPED",
                  "SELECT sum(accesses + dropped_accesses) FROM launches", [(320,)]),
}


def fail(text, done):
    sys.exit(f"{text}\n{done.stdout}{done.stderr}")


def record(ctascope, words, environment):
    return subprocess.run([ctascope, "record", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env=environment, timeout=1200)


def play(ctascope, program, run, environment, case):
    words, variables, options, status, text, query, answer = PLAYED[case]
    environment.update(variables)
    if "FAKE_CUBIN" in variables:
        environment["FAKE_CUBIN"] = os.path.join(HERE, "..", "fixtures", "cubin", variables["FAKE_CUBIN"])
    done = record(ctascope, ["-o", run, *options, "--", program, "launch", *words.split()], environment)
    if done.stdout.strip() != "CUDA works" or done.returncode != status:
        fail(f"ended with {done.returncode}", done)
    if done.stderr.count("\n") != 1 or text not in done.stderr:
        fail(f"'{text}' is not the one line", done)
    if case in ("crash", "leave", "kept") and "incomplete, the program ended early" not in done.stderr:
        fail("that it ended early is not told", done)
    if case == "some-room" and "failure: 1 launches left no record" not in done.stderr:
        fail("the launch that ran without patches is not told", done)
    with sqlite3.connect(f"file:{run}/run.db?mode=ro", uri=True) as database:
        found = database.execute(query).fetchall()
    if found != answer:
        fail(f"{query}: {found}", done)


def main():
    ctascope, program, fakes, work, case = sys.argv[1:]
    run = os.path.join(work, case)
    shutil.rmtree(run, ignore_errors=True)
    os.makedirs(work, exist_ok=True)
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith("CTASCOPE_")}
    if case in PLAYED:
        environment["CTASCOPE_SANITIZER"] = os.path.join(fakes, "new", "libsanitizer-public.so")
        environment["LD_LIBRARY_PATH"] = os.path.join(fakes, "new")
        play(ctascope, program, run, environment, case)
        return
    driver, sanitizer, variables, options, text = CASES[case]
    environment["CTASCOPE_SANITIZER"] = os.path.join(fakes, sanitizer, "libsanitizer-public.so") \
        if sanitizer else "/nowhere/libsanitizer-public.so"
    if driver:
        environment["LD_LIBRARY_PATH"] = os.path.join(fakes, driver)
    environment.update(variables)
    if case == "large-ring" and os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") > 1 << 37:
        return # it fits
    if case == "launcher":
        program = shutil.copy(program, os.path.join(work, "mpirun.any"))
    if case == "no-patches": # an installation without them
        own = os.path.join(work, "installation")
        shutil.rmtree(own, ignore_errors=True)
        shutil.copytree(os.path.join(os.path.dirname(ctascope), "..", "lib"), os.path.join(own, "lib"),
                        ignore=shutil.ignore_patterns("*.fatbin", "*plugin*", "*.bc"))
        os.mkdir(os.path.join(own, "bin"))
        ctascope = shutil.copy(ctascope, os.path.join(own, "bin"))
    elif not os.path.exists(os.path.join(os.path.dirname(ctascope), "..", "lib", "ctascope",
                                         "ctascope_patches.fatbin")):
        text = "no patches at" if case in ("no-launch", "another", "refuses", "unsupported") else text
    said = "CUDA works" if driver else "no CUDA"
    done = record(ctascope, ["-o", run, *options, "--", program], environment)
    if done.stdout.strip() != said:
        fail("the program did not do what it does", done)
    if done.returncode != 0 or done.stderr.count("\n") != 1 or text not in done.stderr:
        fail(f"ended with {done.returncode}; '{text}' is not the one line", done)
    own = record(ctascope, ["--force", "-o", run, *options, "--", program, "fails"], environment)
    if own.returncode != 7 or own.stdout.strip() != said:
        fail(f"ended with {own.returncode}, not with the program's 7", own)


if __name__ == "__main__":
    main()
