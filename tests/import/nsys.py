"""Exports of Nsight Systems, written as its versions write them, imported and compared with what was
written: nsys.py CTASCOPE WORK [TEST...].

    nsys.py CTASCOPE WORK --files FILE...

compares real exports instead: their rows with a reading by a few lines of SQL."""
import contextlib
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import unittest

from kineto import (CTASCOPE, WORK, answer, counts_told, import_trace, imported, path_of, test_count,
                    waits_of, work_path)

EPOCH_NS, BOOT_NS = 1751410836000000000, 35000000000
PID = 100

TIMES = "start INTEGER NOT NULL, end INTEGER"
ON_DEVICE = TIMES + ", deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER"


class Export:
    """What a version writes. `new`: stream ids with flags, records of events, times since boot;
    without: as in 2020. Times are given in ns from the session's start."""

    def __init__(self, new=True, pid=PID):
        self.new, self.pid, self.rows, self.strings = new, pid, [], {}
        process = ", globalPid INTEGER"
        self.tables = {
            "StringIds": "id INTEGER PRIMARY KEY, value TEXT NOT NULL",
            "CUPTI_ACTIVITY_KIND_RUNTIME": TIMES + ", eventClass INTEGER, globalTid INTEGER, "
            "correlationId INTEGER, nameId INTEGER, returnValue INTEGER",
            "CUPTI_ACTIVITY_KIND_KERNEL": ON_DEVICE + process + ", demangledName INTEGER, "
            "shortName INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, "
            "gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, "
            "staticSharedMemory INTEGER, dynamicSharedMemory INTEGER",
            "CUPTI_ACTIVITY_KIND_MEMCPY": ON_DEVICE + process + ", bytes INTEGER, copyKind INTEGER",
            "CUPTI_ACTIVITY_KIND_MEMSET": ON_DEVICE + process + ", value INTEGER, bytes INTEGER",
            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": ON_DEVICE + process + ", syncType INTEGER, "
            "eventId INTEGER" + (", eventSyncId INTEGER" if new else ""),
            "NVTX_EVENTS": TIMES + ", eventType INTEGER, text TEXT, globalTid INTEGER, "
            "endGlobalTid INTEGER, textId INTEGER, domainId INTEGER",
        }
        if new:
            self.tables["CUPTI_ACTIVITY_KIND_CUDA_EVENT"] = (
                "deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, "
                "globalPid INTEGER, eventId INTEGER, eventSyncId INTEGER")
            self.tables["TARGET_INFO_CUDA_STREAM"] = (
                "streamId INTEGER, hwId INTEGER, vmId INTEGER, processId INTEGER, "
                "contextId INTEGER, priority INTEGER, flag INTEGER")
            self.tables["TARGET_INFO_SESSION_START_TIME"] = (
                "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT, systemClockNs INTEGER")
            self.add("TARGET_INFO_SESSION_START_TIME", EPOCH_NS, "", "", BOOT_NS)
            self.tables["TARGET_INFO_GPU"] = "id INTEGER, name TEXT"
            self.add("TARGET_INFO_GPU", 0, "NVIDIA H200")

    def add(self, table, *values):
        self.rows.append((table, values))

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 20
            self.add("StringIds", self.strings[text], text)
        return self.strings[text]

    def time(self, ns):
        return ns + (BOOT_NS if self.new else 0)

    def process(self):
        return (1 << 48) | (self.pid << 24)

    def thread(self, tid=None):
        return self.process() | (self.pid if tid is None else tid)

    def call(self, name, start, length, correlation, driver=False, tid=None):
        self.add("CUPTI_ACTIVITY_KIND_RUNTIME", self.time(start), self.time(start + length),
                 int(driver), self.thread(tid), correlation, self.string(name), 0)

    def place(self, start, length, stream, correlation, device=0):
        return (self.time(start), self.time(start + length), device, device + 1, stream, correlation,
                self.process())

    def kernel(self, name, start, length, correlation, stream=7, device=0):
        self.add("CUPTI_ACTIVITY_KIND_KERNEL", *self.place(start, length, stream, correlation, device),
                 self.string(name), self.string(name.split("<")[0]), 32, 128, 2, 1, 256, 1, 1, 2048, 64)

    def copy(self, kind, start, length, correlation, stream=7):
        self.add("CUPTI_ACTIVITY_KIND_MEMCPY", *self.place(start, length, stream, correlation), 4096,
                 kind)

    def sync(self, kind, start, length, correlation, stream, sync_id=0):
        self.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                 *self.place(start, length, stream, correlation), kind, 8,
                 *((sync_id,) if self.new else ()))

    def record(self, stream, correlation, sync_id):
        if self.new:
            self.add("CUPTI_ACTIVITY_KIND_CUDA_EVENT", 0, 1, stream, correlation, self.process(), 8,
                     sync_id)

    def range(self, text, start, length, tid=None, registered=False, kind=59):
        self.add("NVTX_EVENTS", self.time(start), None if length is None else self.time(start + length),
                 kind, None if registered else text, self.thread(tid), None,
                 self.string(text) if registered else None, 0)

    def stream(self, number, flag, context=1):
        self.add("TARGET_INFO_CUDA_STREAM", number, 0, 1, self.pid, context, 0, flag)

    def write(self, name, join=None, page_size=4096):
        path = work_path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute(f"PRAGMA page_size = {page_size}")
            for table, columns in self.tables.items():
                database.execute(f"CREATE TABLE {table} ({columns})")
            for table, values in self.rows + (join.rows if join else []):
                marks = ",".join("?" * len(values))
                database.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", values)
            database.commit()
        return path


def a_step(export):
    """The step of kineto.py, whose waits are known."""
    export.range("step", 1000, 1999000)
    export.range("aten::mm, op_id = 17, seq = 4", 10500, 30250)
    export.call("cudaLaunchKernel_v7000", 20125, 5500, 1)
    export.kernel("gemm<float>(int)", 40000, 500500, 1)
    export.call("cudaEventRecord_ptsz_v7000", 45000, 2000, 2)
    export.record(7, 2, 55)
    export.call("cudaStreamWaitEvent_v3020", 50000, 3000, 3)
    export.sync(2, 50000, 3000, 3, 20, sync_id=55)
    export.call("cuLaunchKernel", 60000, 5000, 4, driver=True)
    export.kernel("other", 545000, 100250, 4, stream=20)
    export.call("cudaStreamSynchronize_v3020", 80000, 600000, 5)
    export.sync(3, 80000, 600000, 5, 20)
    export.call("cudaMemcpyAsync_v3020", 700000, 10000, 6)
    export.copy(2, 720000, 30000, 6)
    export.call("cudaDeviceSynchronize_v3020", 730000, 40000, 7)
    export.sync(4, 730000, 40000, 7, 0xFFFFFFFF)
    if export.new:
        export.stream(20, 2)
    return export


HOST_WAITS = (645250 - 80000) + (750000 - 730000)


def activities(path):
    return {row["activity"] for row in path["activities"]}


class Versions(unittest.TestCase):
    def test_waits_of_a_step(self):
        messages, run = imported(self, a_step(Export()).write("new.sqlite"))
        self.assertEqual(counts_told(messages, "new.sqlite"),
                         {"cuda_runtime": 6, "cuda_sync": 3, "kernel": 2, "cpu_op": 1, "cuda_driver": 1,
                          "gpu_memcpy": 1, "user_annotation": 1})
        self.assertNotIn("stream 7", messages)
        self.assertEqual(path_of(run)["last_ns"], 2000000 - 1000)
        self.assertEqual(waits_of(run), {"BlameKernel": HOST_WAITS, "StreamWait": 540500 - 65000})

    def test_2020_says_what_it_lacks(self):
        """No flags of streams, and nothing ties a wait to the record of its event."""
        messages, run = imported(self, a_step(Export(new=False)).write("old.sqlite"))
        self.assertIn("'old.sqlite': no list of streams: stream 7 is taken as the null stream", messages)
        self.assertIn("1 synchronisation record does not say which cudaEventRecord", messages)
        self.assertEqual(waits_of(run)["BlameKernel"], HOST_WAITS)
        self.assertNotIn("StreamWait", waits_of(run))

    def test_names(self):
        """Versions of the API and numbers of operators are no part of a name."""
        export = a_step(Export())
        export.range("registered", 1500, 20, registered=True)
        names = activities(path_of(imported(self, export.write("names.sqlite"))[1]))
        for name in ("cudaLaunchKernel", "cudaEventRecord", "cudaStreamSynchronize", "cuLaunchKernel",
                     "aten::mm", "step", "registered", "gemm<float>(int)"):
            self.assertTrue(any(name in activity for activity in names), (name, names))

    def test_clock(self):
        """Times since boot in one file, since the session's start in the other; that began 1 s later."""
        later = a_step(Export(new=False, pid=101))
        later.tables["TARGET_INFO_SESSION_START_TIME"] = "utcEpochNs INTEGER, utcTime TEXT"
        later.add("TARGET_INFO_SESSION_START_TIME", EPOCH_NS + 10 ** 9, "")
        run = imported(self, a_step(Export()).write("earlier.sqlite"), later.write("later.sqlite"))[1]
        self.assertEqual(path_of(run)["last_ns"], 10 ** 9 + 2000000 - 1000)

    def test_whatif(self):
        run = imported(self, a_step(Export()).write("whatif.sqlite"))[1]
        projected = json.loads(answer("whatif", run, "--scale", "gemm<float>(int)=0.5", "--format", "json"))
        self.assertEqual(projected["projected_ns"], 1999000 - 250250)


class Streams(unittest.TestCase):
    def properties(self, run):
        """Of streams: which is the null stream, which are non-blocking."""
        done = subprocess.run(["otf2-print", "-G", os.path.join(run, "timeline/traces.otf2")],
                              capture_output=True, text=True, check=True)
        return dict(re.findall(r'LOCATION_PROPERTY +Location: "(\S+)".*Name: "(CUDA_\w+)"', done.stdout))

    def test_kinds(self):
        """Listed streams are blocking or not, as their flag says; one that is not listed is a null
        stream, whatever its number is. Numbers are those of a context."""
        export = Export()
        for number, flag in ((20, 1), (21, 2), (23, 3)):
            export.stream(number, flag)
        export.stream(15, 2, context=9)
        for correlation, stream in enumerate((20, 21, 23, 15), 1):
            export.call("cudaLaunchKernel_v7000", 10000 * correlation, 5000, correlation)
            export.kernel("k", 10000 * correlation + 6000, 3000, correlation, stream=stream)
        run = imported(self, export.write("kinds.sqlite"))[1]
        self.assertEqual(self.properties(run),
                         {"CUDA[0:21]": "CUDA_STREAM_FLAGS", "CUDA[0:23]": "CUDA_NULL_STREAM",
                          "CUDA[0:15]": "CUDA_NULL_STREAM"})


class Processes(unittest.TestCase):
    def test_two_in_a_file(self):
        first, second = a_step(Export(pid=120)), a_step(Export(pid=110))
        second.strings = {}
        messages, run = imported(self, first.write("two.sqlite", join=second))
        self.assertIn("'two.sqlite': rank 0:", messages)
        self.assertIn("'two.sqlite': rank 1:", messages)
        with contextlib.closing(sqlite3.connect(os.path.join(run, "run.db"))) as database:
            rows = database.execute("SELECT rank, pid FROM ranks ORDER BY rank").fetchall()
        self.assertEqual(rows, [(0, 110), (1, 120)])
        self.assertEqual(waits_of(run)["BlameKernel"], 2 * HOST_WAITS)

    def test_ranks_of_mpi(self):
        first, second = a_step(Export(pid=110)), a_step(Export(pid=120))
        first.tables["MPI_RANKS"] = "globalTid INTEGER, rank INTEGER"
        for export, rank in ((first, 1), (second, 0)):
            export.add("MPI_RANKS", export.thread(), rank)
        _, run = imported(self, first.write("mpi.sqlite", join=second))
        with contextlib.closing(sqlite3.connect(os.path.join(run, "run.db"))) as database:
            rows = database.execute("SELECT rank, pid FROM ranks ORDER BY rank").fetchall()
        self.assertEqual(rows, [(0, 120), (1, 110)])

    def test_file_per_rank(self):
        paths = [a_step(Export(pid=100 + rank)).write(f"rank-{rank}.sqlite") for rank in (0, 1)]
        messages, run = imported(self, *paths)
        self.assertIn("'rank-1.sqlite': rank 1:", messages)
        self.assertEqual(waits_of(run)["BlameKernel"], 2 * HOST_WAITS)

    def test_process_without_cuda(self):
        export = a_step(Export())
        other = Export(pid=333)
        other.range("data loader", 0, 1000)
        messages, _ = imported(self, export.write("loader.sqlite", join=other))
        self.assertIn("'loader.sqlite': 1 process without CUDA left out", messages)
        self.assertNotIn("rank 1", messages)


class Damage(unittest.TestCase):
    def test_ignored_tables_are_named(self):
        export = a_step(Export())
        export.tables["GPU_METRICS"] = "timestamp INTEGER, value INTEGER"
        export.tables["CUDA_UM_CPU_PAGE_FAULT_EVENTS"] = "start INTEGER"
        export.add("GPU_METRICS", 1, 2)
        messages, _ = imported(self, export.write("ignored.sqlite"))
        self.assertIn("not imported: GPU_METRICS (1 row)", messages)

    def test_values_of_wrong_kinds(self):
        export = a_step(Export())
        export.add("CUPTI_ACTIVITY_KIND_KERNEL", "soon", export.time(5), 0, 1, 7, 9, export.process(),
                   *[None] * 11)
        export.add("CUPTI_ACTIVITY_KIND_KERNEL", export.time(5), export.time(3), 0, 1, 7, 9,
                   export.process(), *[None] * 11)
        export.add("CUPTI_ACTIVITY_KIND_KERNEL", export.time(5), export.time(9), 0, 1, -3, 9,
                   export.process(), *[None] * 11)
        export.add("NVTX_EVENTS", export.time(5), None, 59, "never ends", export.thread(), None, None, 0)
        messages, run = imported(self, export.write("kinds.sqlite"))
        self.assertIn("LEFT OUT 3 events without a valid time, 1 device activity without a stream, "
                      "1 broken value", messages)
        self.assertEqual(waits_of(run)["BlameKernel"], HOST_WAITS)

    def test_other_databases(self):
        path = work_path("other.sqlite")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
            database.execute("CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start")
            database.commit()
        code, messages, run = import_trace(path)
        self.assertEqual(code, 1)
        self.assertIn("other.sqlite' is in none of the supported formats", messages)
        self.assertFalse(os.path.exists(run))

    def test_unfinished(self):
        path = a_step(Export()).write("open.sqlite")
        with open(path + "-wal", "wb") as log:
            log.write(b"x" * 40)
        code, messages, run = import_trace(path)
        os.unlink(path + "-wal")
        self.assertEqual(code, 1)
        self.assertIn("open.sqlite' is still being written, or was not finished", messages)
        self.assertFalse(os.path.exists(run))

    def test_nothing_in_it(self):
        code, messages, run = import_trace(Export().write("empty.sqlite"))
        self.assertEqual(code, 1)
        self.assertIn("empty.sqlite' holds no events", messages)
        self.assertFalse(os.path.exists(run))

    def test_damaged_files(self):
        """Each gives a run, or one error that names the file and leaves nothing."""
        with open(a_step(Export()).write("whole.sqlite", page_size=512), "rb") as file:
            whole = file.read()
        source = random.Random(7)
        refused = 0
        for i in range(test_count(60, 1000)):
            data = bytearray(whole)
            if i % 3 == 0:
                del data[source.randrange(len(data)):]
            for _ in range(0 if i % 3 == 0 else source.choice((1, 4, 64))):
                data[source.randrange(len(data))] = source.randrange(256)
            path = work_path("damaged.sqlite")
            with open(path, "wb") as file:
                file.write(data)
            code, messages, run = import_trace(path)
            self.assertIn(code, (0, 1), messages)
            if code:
                refused += 1
                self.assertIn("damaged.sqlite", messages)
                self.assertEqual(len(messages.strip().splitlines()), 1, messages)
                self.assertFalse(os.path.exists(run), messages)
            else:
                path_of(run)
        self.assertGreater(refused, 10)


class Files(unittest.TestCase):
    """Real exports, given on the command line."""
    paths = []

    def test_rows(self):
        for path in self.paths:
            messages, run = imported(self, path)
            name = os.path.basename(path)
            with contextlib.closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as database:
                for table, categories in (("CUPTI_ACTIVITY_KIND_KERNEL", ("kernel",)),
                                          ("CUPTI_ACTIVITY_KIND_MEMCPY", ("gpu_memcpy",)),
                                          ("CUPTI_ACTIVITY_KIND_MEMSET", ("gpu_memset",)),
                                          ("CUPTI_ACTIVITY_KIND_RUNTIME", ("cuda_runtime", "cuda_driver")),
                                          ("NVTX_EVENTS", ("cpu_op", "user_annotation"))):
                    rows = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                    told = 0
                    for line in messages.splitlines():
                        if f"'{name}': rank " in line:
                            told += sum(counts_told(line, name).get(each, 0) for each in categories)
                    self.assertEqual(told, rows, table)
            print(f"{name}: {len(path_of(run)['activities'])} activities")


if __name__ == "__main__":
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    arguments = sys.argv[3:]
    if arguments[:1] == ["--files"]:
        Files.paths, arguments = arguments[1:], ["Files"]
    elif not arguments:
        arguments = ["Versions", "Streams", "Processes", "Damage"]
    unittest.main(argv=[sys.argv[0], *arguments])
