"""Traces of PyTorch's profiler, written as its versions write them, imported and compared with what
was written: kineto.py CTASCOPE WORK [TEST...].

    kineto.py CTASCOPE WORK --files FILE...

compares real traces instead: the counts of each category, and busy and idle time of the devices,
with a reading of the JSON in a few lines of Python and exact fractions."""
import collections
import contextlib
import gzip
import json
import os
import random
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import unittest
from fractions import Fraction

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from count import test_count

CTASCOPE, WORK = sys.argv[1], sys.argv[2]
BASE_NS = 1751410836000000000


# ---- writing -----------------------------------------------------------------------------------

class Trace:
    """What a version writes: `version` is 1.11, 1.13 or 2.6."""

    def __init__(self, version="2.6", rank=0, world_size=1, pid=100):
        self.version, self.rank, self.world_size, self.pid = version, rank, world_size, pid
        self.events = []

    def time(self, us):
        """Before 2.2 times were whole us since 1970, now they have fractions and a base."""
        if self.version == "2.6":
            return us
        return BASE_NS // 1000 + int(us)

    def duration(self, us):
        return us if self.version == "2.6" else int(us)

    def add(self, category, name, start, length, tid=None, pid=None, **args):
        old = {"cpu_op": "Operator", "cuda_runtime": "Runtime", "kernel": "Kernel",
               "gpu_memcpy": "Memcpy", "gpu_memset": "Memset"}
        if self.version == "1.11":
            category = old.get(category, category)
            args = {key: str(value) for key, value in args.items()}
        self.events.append({"ph": "X", "cat": category, "name": name,
                            "pid": self.pid if pid is None else pid,
                            "tid": self.pid if tid is None else tid,
                            "ts": self.time(start), "dur": self.duration(length), "args": args})

    def call(self, name, start, length, correlation, category="cuda_runtime", **more):
        self.add(category, name, start, length, cbid=211, correlation=correlation, **more)

    def kernel(self, name, start, length, correlation, stream=7, **more):
        self.add("kernel", name, start, length, pid=0, tid=stream, device=0, context=1,
                 stream=stream, correlation=correlation, grid=[128, 2, 1], block=[256, 1, 1],
                 **{"registers per thread": 32, "shared memory": 2112, **more})

    def copy(self, name, start, length, correlation, stream=7, **more):
        self.add("gpu_memcpy", name, start, length, pid=0, tid=stream, device=0, context=1,
                 stream=stream, correlation=correlation, bytes=4096, **more)

    def sync(self, kind, start, length, correlation, stream, **more):
        self.add("cuda_sync", kind, start, length, pid=0, tid=stream, device=0, context=1,
                 stream=stream, correlation=correlation, cuda_sync_kind=kind, **more)

    def flow(self, correlation, start):
        for phase in "sf":
            self.events.append({"ph": phase, "id": correlation, "pid": self.pid, "tid": self.pid,
                                "ts": self.time(start), "cat": "ac2g", "name": "ac2g"})

    def names(self):
        for what, name in (("process_name", "python3"), ("thread_name", "thread 100 (python3)")):
            self.events.append({"ph": "M", "name": what, "pid": self.pid,
                                "tid": self.pid if what == "thread_name" else 0,
                                "ts": self.time(0), "args": {"name": name}})

    def text(self):
        outer = {"schemaVersion": 1,
                 "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}],
                 "distributedInfo": {"backend": "nccl", "rank": self.rank,
                                     "world_size": self.world_size},
                 "traceEvents": self.events, "traceName": "trace.json"}
        if self.version == "2.6":
            outer["baseTimeNanoseconds"] = BASE_NS
        return json.dumps(outer, indent=1)


def a_step(trace):
    """A step whose waits are known: a kernel that the host waits for, and one on another stream
    that an event holds back."""
    trace.names()
    trace.add("python_function", "train.py(83): step", 0, 2000)
    trace.add("user_annotation", "ProfilerStep#1", 1, 1990)
    trace.add("cpu_op", "aten::mm", 10.5, 30.25)
    trace.call("cudaLaunchKernel", 20.125, 5.5, 1)
    trace.flow(1, 20.125)
    trace.kernel("gemm", 40, 500.5, 1)
    trace.call("cudaEventRecord", 45, 2, 2)
    trace.call("cudaStreamWaitEvent", 50, 3, 3)
    trace.sync("Stream Wait Event", 50, 3, 3, 20, wait_on_stream=7,
               wait_on_cuda_event_record_corr_id=2, wait_on_cuda_event_id=8)
    trace.call("cuLaunchKernel", 60, 5, 4, category="cuda_driver")
    trace.kernel("other", 545, 100.25, 4, stream=20)
    trace.call("cudaStreamSynchronize", 80, 600, 5)
    trace.sync("Stream Sync", 80, 600, 5, 20)
    trace.call("cudaMemcpyAsync", 700, 10, 6)
    trace.copy("Memcpy DtoH (Device -> Pinned)", 720, 30, 6)
    trace.call("cudaDeviceSynchronize", 730, 40, 7)
    trace.sync("Context Sync", 730, 40, 7, -1)
    trace.events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",
                         "pid": 100, "tid": 100, "ts": trace.time(800), "args": {"Bytes": 512}})
    return trace


def zstd_stored(data):
    """A frame of zstd whose blocks are stored as they are."""
    frame, at, most = struct.pack("<I", 0xFD2FB528) + b"\x00\x58", 0, 1 << 16
    while True:
        part = data[at:at + most]
        at += len(part)
        frame += struct.pack("<I", len(part) << 3 | (at == len(data)))[:3] + part
        if at == len(data):
            return frame


# ---- importing ---------------------------------------------------------------------------------

def work_path(name):
    return os.path.join(WORK, name)


def write(name, data):
    path = work_path(name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return path


def import_trace(*paths, run="run", options=()):
    target = work_path(run)
    shutil.rmtree(target, ignore_errors=True)
    done = subprocess.run([CTASCOPE, "import", *paths, "-o", target, *options],
                          capture_output=True, text=True, errors="replace")
    return done.returncode, done.stderr, target


def imported(case, *paths, run="run", options=()):
    code, messages, target = import_trace(*paths, run=run, options=options)
    case.assertEqual(code, 0, messages)
    return messages, target


def answer(*arguments):
    done = subprocess.run([CTASCOPE, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


def path_of(run):
    return json.loads(answer("path", run, "--format", "json", "--limit", "0"))


def counts_told(messages, name):
    """The line of counts as a dictionary."""
    for line in messages.splitlines():
        match = re.search(re.escape(repr(name)) + r": rank \d+: [\d,]+ events?: (.*)", line)
        if match:
            return {text.split(" ", 1)[1]: int(text.split(" ", 1)[0])
                    for text in match.group(1).split(", ")}
    raise AssertionError("no counts in " + messages)


def counts_read(trace):
    counts = collections.Counter()
    for event in trace["traceEvents"]:
        phase, category = event.get("ph", ""), event.get("cat", "")
        counts[(category or phase) if phase == "X" or not category else
               category + " " + phase] += 1
    return dict(counts)


def busy_and_span(trace):
    """Of device 0, in ns: the union of its activities, and first to last."""
    busy, end, times = Fraction(0), None, []
    for event in trace["traceEvents"]:
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            start = Fraction(event["ts"])
            times.append((start, start + Fraction(event["dur"])))
    for start, stop in sorted(times):
        busy += max(stop - max(start, start if end is None else end), 0)
        end = stop if end is None else max(end, stop)
    return busy * 1000, (end - min(times)[0]) * 1000 if times else 0


def waits_of(run):
    return {row["pattern"]: row["time_ns"] for row in path_of(run)["patterns"] if row["time_ns"]}


class Versions(unittest.TestCase):
    def check_counts(self, version):
        trace = a_step(Trace(version))
        file = write(f"v{version}.json", trace.text())
        messages, run = imported(self, file)
        self.assertEqual(counts_told(messages, f"v{version}.json"), counts_read(json.loads(trace.text())))
        return path_of(run)

    def test_waits_of_a_step(self):
        """Times are exact to the ns; each wait has the length that follows from what was written."""
        path = self.check_counts("2.6")
        self.assertEqual(path["last_ns"], 2000000)
        self.assertEqual(waits_of(work_path("run")),
                         {"BlameKernel": (645250 - 80000) + (750000 - 730000),
                          "StreamWait": 540500 - 65000})

    def test_earlier_versions(self):
        """Whole us; 1.11's names of categories, and numbers as texts."""
        for version in ("1.13", "1.11"):
            path = self.check_counts(version)
            self.assertEqual(path["last_ns"], 2000000)
            self.assertEqual(waits_of(work_path("run")),
                             {"BlameKernel": (645000 - 80000) + (750000 - 730000),
                              "StreamWait": 540000 - 65000})

    def test_memory_limit(self):
        """What does not fit into the sorter goes to the disk, and the answer stays the same."""
        trace = Trace()
        count = test_count(66000, 140000)  # the sorter has room for 65,536 kernels
        for k in range(count):
            i = k * 7919 % count  # in no order: each part of the sorter is of all times
            if i < test_count(1000, 140000):
                trace.add("cpu_op", f"op {i % 50}", 20 * i, 15)
                trace.call("cudaLaunchKernel", 20 * i + 5, 5, i + 1)
            trace.kernel("k", 20 * i + 12, 10, i + 1)
        file = write("long.json", trace.text())
        paths = []
        for options in ((), ("--memory-limit", "64M", "--threads", "1")):
            messages, run = imported(self, file, options=options)
            self.assertNotIn("shortened", messages)  # as what comes out of order would be
            path = path_of(run)
            self.assertGreater(path["path_ns"], 0)
            paths.append(path)
        self.assertEqual(*paths)
        self.assertEqual(paths[0]["last_ns"], 1000 * (20 * (count - 1) + 22))
        self.assertIn("in order, nested", answer("dump", work_path("run"), "--timeline", "--check"))

    def test_packed(self):
        text = a_step(Trace()).text()
        plain = path_of(imported(self, write("plain.json", text))[1])
        for name, data in (("a.json.gz", gzip.compress(text.encode())),
                           ("two-members.json.gz", gzip.compress(text[:900].encode()) +
                            gzip.compress(text[900:].encode())),
                           ("a.json.zst", zstd_stored(text.encode()))):
            packed = path_of(imported(self, write(name, data))[1])
            plain["run"] = packed["run"] = None
            self.assertEqual(packed, plain, name)

    def test_whatif_and_the_other_verbs(self):
        run = imported(self, write("verbs.json", a_step(Trace()).text()))[1]
        projected = json.loads(answer("whatif", run, "--scale", "gemm=0.5", "--format", "json"))
        same = json.loads(answer("whatif", run, "--scale", "gemm=1", "--format", "json"))
        self.assertEqual(same["projected_ns"], 2000000)
        self.assertEqual(projected["projected_ns"], 2000000 - 250250)
        answer("report", run, "-o", work_path("report.html"))
        self.assertIn("0 ns", answer("diff", run, run, "--format", "table"))

    def test_order_of_events_does_not_matter(self):
        trace = a_step(Trace())
        paths = []
        for _ in range(2):
            path = path_of(imported(self, write("shuffled.json", trace.text()))[1])
            path["activities"].sort(key=lambda row: row["activity"])  # equal ones by first met
            path["instances"] = path["longest_waits"] = None
            paths.append(path)
            random.Random(1).shuffle(trace.events)
        self.assertEqual(*paths)


class Ranks(unittest.TestCase):
    def test_folder_by_distributed_info(self):
        """Files in the order of their names are not in the order of their ranks."""
        for rank, name in ((0, "z"), (1, "m"), (2, "a")):
            trace = Trace(rank=rank, world_size=3, pid=200 + rank)
            trace.names()
            trace.add("cpu_op", f"op of {rank}", 10 * rank, 100)
            write(f"ranks/{name}.pt.trace.json", trace.text())
        write("ranks/notes.json", "{}")
        messages, run = imported(self, work_path("ranks"))
        path = path_of(run)
        self.assertEqual(len([line for line in messages.splitlines() if ": rank " in line]), 3)
        self.assertIn("'a.pt.trace.json': rank 2:", messages)
        self.assertEqual(path["last_ns"], 120000)
        with contextlib.closing(sqlite3.connect(os.path.join(run, "run.db"))) as database:
            rows = database.execute("SELECT rank, pid FROM ranks ORDER BY rank").fetchall()
        self.assertEqual(rows, [(0, 200), (1, 201), (2, 202)])

    def test_same_rank_twice(self):
        for name in "ab":
            trace = Trace(rank=3)
            trace.add("cpu_op", name, 0, 1)
            write(f"twice/{name}.json", trace.text())
        messages, _ = imported(self, work_path("twice/a.json"), work_path("twice/b.json"))
        self.assertIn("'b.json': it says that it is rank 3, which another file is", messages)

    def test_rank_10_after_rank_2(self):
        for rank in (10, 2):
            trace = Trace()
            trace.add("cpu_op", "x", 0, 1)
            text = trace.text().replace('"rank": 0', '"node": 0')
            write(f"named/rank-{rank}.json", text)
        messages, _ = imported(self, work_path("named"))
        self.assertIn("'rank-2.json': rank 0:", messages)
        self.assertIn("'rank-10.json': rank 1:", messages)


class Times(unittest.TestCase):
    def test_decimals(self):
        """No double holds these: 2^53 ns are 104 days, and fractions of us are no binary ones."""
        trace = Trace("1.13")
        trace.add("cpu_op", "first", 0, 1)
        text = trace.text()
        start = f'"ts": {BASE_NS // 1000}'
        for written, later in (("1751410836000000.001", 1), ("1.7514108360000005e15", 500),
                               ("1751410836000000.0004999", 0), ("1751410836000000.0005", 1)):
            other = text.replace('"traceEvents": [', '"traceEvents": [{"ph": "X", "cat": "cpu_op", '
                                 f'"name": "x", "pid": 100, "tid": 101, "ts": {written}, "dur": '
                                 '0},', 1)
            self.assertIn(start, other)
            run = imported(self, write("decimals.json", other))[1]
            self.assertEqual(path_of(run)["last_ns"], 1000)
            self.assertEqual(start_of_second(run), later)

    def test_rounding_keeps_nesting(self):
        """Both ends are rounded after they were added: children stay inside, nothing is cut."""
        trace = Trace()
        draw = random.Random(7)
        for i in range(300):
            outer = [Fraction(i * 10) + Fraction(draw.randrange(10**6), 10**6), 8]
            trace.add("cpu_op", "outer", float(outer[0]), outer[1])
            trace.add("cpu_op", "inner", float(outer[0]), outer[1])
        messages, _ = imported(self, write("nesting.json", trace.text()))
        self.assertNotIn("overlap", messages)

    def test_overlap_is_cut_and_counted(self):
        """Whole us let a child outlive its parent by one."""
        trace = Trace("1.13")
        trace.add("cpu_op", "parent", 0, 10)
        trace.add("cpu_op", "child", 5, 6)
        messages, run = imported(self, write("overlap.json", trace.text()))
        self.assertIn("1 event overlaps the end of another and lost an end, 1000 ns at most "
                      "(rounding)", messages)
        self.assertEqual(path_of(run)["last_ns"], 10000)

    def test_a_step_outlives_the_function_that_begins_it(self):
        trace = Trace()
        trace.add("python_function", "profiler.py(1): start", 0, 10)
        trace.add("user_annotation", "ProfilerStep#1", 5, 1000)
        trace.add("cpu_op", "aten::mm", 20, 30)
        _, run = imported(self, write("outlives.json", trace.text()))
        rows = {row["activity"]: row for row in path_of(run)["activities"]}
        self.assertEqual(rows["ProfilerStep#1"]["inclusive_ns"], 995000)


def start_of_second(run):
    """ns between the first event of the run and that of its second thread."""
    text = subprocess.run(["otf2-print", os.path.join(run, "timeline", "traces.otf2")],
                          capture_output=True, text=True, check=True).stdout
    times = {}
    for line in text.splitlines():
        fields = line.split()
        if fields and fields[0] == "ENTER":
            times.setdefault(fields[1], int(fields[2]))
    return max(times.values()) - min(times.values())


class Damage(unittest.TestCase):
    def left_out(self, text, name="damaged.json"):
        messages, run = imported(self, write(name, text))
        lines = [line for line in messages.splitlines() if "': LEFT OUT" in line]
        return (lines[0].split("': LEFT OUT ")[1] if lines else ""), messages, run

    def test_cut(self):
        text = a_step(Trace()).text()
        cut = text[:text.index("cudaDeviceSynchronize") + 5]
        out, messages, run = self.left_out(cut)
        self.assertEqual(out, f"1 damaged event (byte {len(cut)}: the file ends early)")
        self.assertIn(f"the trace ends early, at byte {len(cut)}: what follows is missing", messages)
        self.assertTrue(path_of(run)["lower_bound"])

    def test_cut_of_packed(self):
        data = gzip.compress(a_step(Trace()).text().encode())
        _, messages, run = self.left_out(data[:-200], "cut.json.gz")
        self.assertIn("the trace ends early", messages)
        self.assertTrue(path_of(run)["lower_bound"])

    def test_no_numbers(self):
        """nan and inf, as C++ prints them, cost the value, not the event."""
        trace = a_step(Trace())
        text = trace.text().replace('"registers per thread": 32', '"registers per thread": -nan')
        out, messages, run = self.left_out(text)
        self.assertRegex(out, r"^2 broken values \(byte \d+: lexical error")
        self.assertEqual(counts_told(messages, "damaged.json"), counts_read(json.loads(trace.text())))
        self.assertFalse(path_of(run)["lower_bound"])
        for word in ("inf", "NaN", "Infinity", "1.2.3", "0x10", "--1", "1e"):
            out, messages, _ = self.left_out(text.replace("-nan", word))
            self.assertIn("broken values", out, word)
            self.assertEqual(counts_told(messages, "damaged.json")["kernel"], 2, word)

    def test_broken_time(self):
        text = a_step(Trace()).text().replace('"ts": 545', '"ts": nan')
        out, _, run = self.left_out(text)
        self.assertRegex(out, "^1 event without a valid time, 1 broken value")
        self.assertTrue(path_of(run)["lower_bound"])

    def test_broken_event(self):
        """Only the event in which the JSON breaks is lost."""
        trace = a_step(Trace())
        text = trace.text().replace('"name": "aten::mm"', '"name" "aten::mm"')
        out, messages, _ = self.left_out(text)
        self.assertRegex(out, r"^1 damaged event \(byte \d+: parse error")
        counts = counts_read(json.loads(trace.text()))
        del counts["cpu_op"]
        self.assertEqual(counts_told(messages, "damaged.json"), counts)

    def test_broken_before_the_events(self):
        trace = a_step(Trace())
        text = trace.text().replace('"schemaVersion": 1,', '"schemaVersion": 1')
        _, messages, _ = self.left_out(text)
        self.assertEqual(counts_told(messages, "damaged.json"), counts_read(json.loads(trace.text())))

    def test_duplicate_keys(self):
        """The last one counts, as in Python."""
        text = a_step(Trace()).text().replace('"ts": 545', '"ts": 1, "ts": 545')
        out, _, run = self.left_out(text)
        self.assertEqual(out, "1 value of duplicate keys (the last one counts)")
        self.assertEqual(waits_of(run)["StreamWait"], 475500)

    def test_unknown_phases_and_categories(self):
        trace = a_step(Trace())
        trace.events += [{"ph": "Q", "ts": 1}, {"ph": "X", "cat": "new_thing", "ts": 1, "dur": 1}, {}]
        out, messages, _ = self.left_out(trace.text())
        self.assertEqual(out, "2 events of unknown phases, 1 event of unknown categories")
        self.assertEqual(counts_told(messages, "damaged.json")["new_thing"], 1)

    def test_hostile_names(self):
        trace = Trace()
        for name in ("a\x00b", "\x1b[31mred", "\ud800", "x" * 100000, "", "é" * 9000):
            trace.add("cpu_op", name, 0, 1)
        imported(self, write("names.json", trace.text()))

    def refused(self, data, name="refused.json"):
        file = write(name, data)
        code, messages, run = import_trace(file)
        self.assertEqual(code, 1, messages)
        self.assertEqual(len(messages.splitlines()), 1, messages)
        self.assertFalse(os.path.exists(run))
        return messages.replace(file, "FILE")

    def test_nothing_usable(self):
        self.assertIn("cannot import 'FILE': none of its 0 events can be used",
                      self.refused('{"schemaVersion": 1, "traceEvents": []}'))
        self.assertIn("it has no list 'traceEvents': byte 17: parse error",
                      self.refused('{"traceEvents": }'))
        self.assertIn("none of its 2 events can be used: 2 events of unknown phases",
                      self.refused('{"traceEvents": [{"ph": "B", "ts": 1}, {"ph": "E", "ts": 2}]}'))
        self.assertIn("none of its 1 event can be used: 1 device activity without a stream",
                      self.refused('{"traceEvents": [{"ph": "X", "cat": "kernel"}]}'))
        self.assertIn("it has no list 'traceEvents': byte 47: the file ends early",
                      self.refused('{"schemaVersion": 1, "deviceProperties": [{}, {'))

    def test_what_is_missing_is_named(self):
        trace = Trace()
        trace.kernel("k", 0, 10, 1)
        messages, _ = imported(self, write("missing.json", trace.text()))
        self.assertIn("no calls of the runtime or the driver", messages)
        trace = Trace(world_size=8)
        trace.add("cpu_op", "aten::mm", 0, 10)
        messages, _ = imported(self, write("missing.json", trace.text()))
        self.assertIn("no kernels and copies", messages)
        self.assertIn("one of 8 ranks", messages)
        trace = a_step(Trace())
        trace.events = [e for e in trace.events if e.get("cat") != "cuda_sync"]
        messages, _ = imported(self, write("missing.json", trace.text()))
        self.assertIn("no synchronisation records (cuda_sync): 2 calls do not say", messages)
        trace.events = [e for e in trace.events if "Stream" not in e["name"]]
        messages, _ = imported(self, write("missing.json", trace.text()))
        self.assertNotIn("cuda_sync", messages)  # cudaDeviceSynchronize needs none

    def test_damaged_files(self):
        """Whatever happens to the bytes: imported, or refused in one line that names the file."""
        text = a_step(Trace()).text().encode()
        draw = random.Random(21)
        for i in range(test_count(50, 1000)):
            data = bytearray(gzip.compress(text) if i % 4 == 3 else text)
            for _ in range(draw.randrange(1, 6)):
                at = draw.randrange(len(data))
                what = draw.randrange(4)
                if what == 0:
                    data[at] = draw.randrange(256)
                elif what == 1:
                    del data[at:at + draw.randrange(1, 60)]
                elif what == 2:
                    data[at:at] = data[draw.randrange(len(data)):][:draw.randrange(1, 200)]
                elif draw.randrange(6) == 0:
                    del data[at:]
                if not data:
                    data = bytearray(b"{")
            file = write("mutant.json", bytes(data))
            code, messages, run = import_trace(file)
            if code == 0 and i % 4 == 0:
                subprocess.run([CTASCOPE, "path", run], check=True, capture_output=True)
            elif code:
                self.assertEqual(code, 1, (i, messages))
                self.assertEqual(len(messages.splitlines()), 1, (i, messages))
                self.assertIn(file, messages, i)
                self.assertFalse(os.path.exists(run), i)


def compare_files(files):
    """Real traces against an independent reading."""
    for file in files:
        with (gzip.open if file.endswith(".gz") else open)(file) as opened:
            trace = json.load(opened, parse_float=Fraction)
        code, messages, run = import_trace(file)
        assert code == 0, messages
        told, read = counts_told(messages, os.path.basename(file)), counts_read(trace)
        assert told == read, (file, told, read)
        devices = path_of(run)["devices"]
        busy, span = busy_and_span(trace)
        told_span = max(d["span_ns"] for d in devices)
        told_busy = told_span - max(d["idle_ns"] for d in devices)
        print(f"{file}: {sum(read.values())} events in {len(read)} categories, as read; device busy "
              f"{told_busy} ns (exactly {float(busy)}), span {told_span} ns (exactly {float(span)})")
        assert abs(told_busy - busy) < 10 and abs(told_span - span) < 10


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    if sys.argv[3:4] == ["--files"]:
        compare_files(sys.argv[4:])
    else:
        unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
