#!/usr/bin/env python3
"""Every verb while the n-th call of the system fails: no signal, no hang, no wrong success.

    faults.py BUILD SHIM FOLDER [--only VERB[,CLASS[,KIND]]] [--trace N]

For each verb, each class of calls (shim.c) and each kind of failure, n = 1, 2, ... until no call was
left to fail. Each case must end as it does undisturbed; or with exit status 0 and the loss named; or
with another status and one line that names the cause. A sample of n in the gate, every n under
--long. --trace prints what one case does, and the stack of the call that failed.
"""
import argparse
import concurrent.futures
import errno
import json
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, ".."))
sys.dont_write_bytecode = True
from compiled import compiled  # noqa: E402
from count import test_count  # noqa: E402

LIMIT_S = 120  # ends what hangs; nothing here takes a second
SIGNAL_STATUS = 128
OWN_FAILURE = 125  # of `record`
LOT = 200  # cases that one worker does in a row

# class: the kinds of failure, each with what an error must say of it
MEMORY = "out of memory|no memory|Cannot allocate memory"
INTERRUPTED = "Interrupted system call"
CLASSES = {
    "allocate": {errno.ENOMEM: MEMORY},
    "open": {errno.EMFILE: "Too many open files|unable to open database file",
             errno.EINTR: INTERRUPTED + "|unable to open database file"},
    "read": {errno.EIO: "Input/output error|disk I/O error", errno.EINTR: INTERRUPTED,
             "short": None},
    "write": {errno.ENOSPC: "No space left on device|database or disk is full",
              # a stream does not keep what one write met
              errno.EINTR: INTERRUPTED + "|Input/output error", "short": None},
    "map": {errno.ENOMEM: MEMORY},
    "sync": {errno.EIO: "Input/output error|disk I/O error"},
    "thread": {errno.EAGAIN: "Resource temporarily unavailable"},
}
LOSS = re.compile("lower bound|MISSING|is missing|cannot be read|cannot read")


def kind_name(kind):
    return kind if kind == "short" else errno.errorcode[kind]


class Result:
    def __init__(self, status, stdout, stderr, files):
        self.status, self.stdout, self.stderr, self.files = status, stdout, stderr, files

    def same(self, other):
        return (self.status, self.stdout, self.files) == (other.status, other.stdout, other.files)


class Verb:
    """What is run, in an empty directory each time; `outputs`: files that are compared."""

    def __init__(self, name, *words, outputs=()):
        self.name, self.words, self.outputs = name, words, outputs

    def ended(self, folder, ctascope, done):
        """A file's bytes; of a folder, all of its files'."""
        files = []
        for name in self.outputs:
            path = os.path.join(folder, name)
            parts = [path] if not os.path.isdir(path) else sorted(
                os.path.join(at, file) for at, _, names in os.walk(path) for file in names)
            for part in parts:
                if os.path.exists(part):
                    with open(part, "rb") as file:
                        files.append((os.path.relpath(part, folder), file.read()))
        return Result(done.returncode, done.stdout, done.stderr, files)

    def judge(self, result, good, cause):
        """None, or what is wrong."""
        if result.same(good):
            return None
        if result.status == 0:
            if not LOSS.search(result.stdout + result.stderr):
                return "exit status 0, another result, and no loss named"
            return None
        if cause is None:
            return "failed, though a short count is no failure"
        known = good.stderr.split("\n")
        lines = [line for line in result.stderr.split("\n") if line not in known]
        if len(lines) != 1:
            return f"{len(lines)} more lines on standard error instead of one"
        if not re.search(cause, lines[0]):
            return "the error does not name its cause"
        return None


class Recording(Verb):
    """A verb that makes a run: of its files count what `kept` takes from what `info` says of it."""

    def ended(self, folder, ctascope, done):
        info = subprocess.run([ctascope, "info", "run", "--format", "json"], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)
        kept = self.kept(json.loads(info.stdout)) if info.returncode == 0 else None
        return Result(done.returncode, done.stdout, done.stderr, kept)


class Record(Recording):
    """The program's output and status are its own; what the run lacks is named."""

    def kept(self, said):
        return {key: said["totals"][key] for key in ("complete", "launches", "recorded_launches",
                                                     "accesses", "dropped_accesses")}

    def judge(self, result, good, cause):
        if result.same(good):
            return None
        if result.stdout == "" and result.status == OWN_FAILURE:  # not started
            lines = result.stderr.strip().split("\n")
            if cause is None or len(lines) != 1 or not re.search(cause, lines[0]):
                return "not started, and not one line that names the cause"
            return None
        if result.stdout != good.stdout:
            return "the program printed something else"
        if result.status != good.status:
            return f"exit status {result.status} instead of the program's {good.status}"
        kept = result.files
        if kept and kept["complete"] and not kept["dropped_accesses"]:
            if kept != good.files:
                return "the run lacks something and says that it is complete"
            return None
        if kept is None and not re.search("|".join(filter(None, [cause, "ctascope"])),
                                          result.stderr):
            return "no run, and not a word of it"
        return None


class Import(Recording):
    """What is imported is the same, or nothing, or says what it lacks."""

    def kept(self, said):
        return {key: said["totals"][key] for key in ("complete", "launches", "accesses")} | {
            "timeline": said.get("timeline"), "missing": said["missing"]}

    def judge(self, result, good, cause):
        kept = result.files
        if kept and kept != good.files and kept["complete"] and kept["missing"] == good.files["missing"]:
            return "the run lacks something and says that it is complete"
        if result.status == 0 and kept is None:
            return "exit status 0, and no run that can be read"
        return super().judge(result, good, cause)


def kineto_trace():
    """A trace of PyTorch's profiler: a step whose host waits for two kernels on two streams."""
    def event(category, name, start, length, **args):
        on_device = category in ("kernel", "gpu_memcpy")
        return {"ph": "X", "cat": category, "name": name, "pid": 0 if on_device else 100,
                "tid": args.get("stream", 7) if on_device else 100, "ts": start, "dur": length,
                "args": args | ({"device": 0, "context": 1} if on_device else {})}
    events = [event("user_annotation", "ProfilerStep#1", 1, 1990)]
    for i in range(40):
        at, stream = 10 + 40 * i, 7 + 13 * (i % 2)
        events += [event("cpu_op", f"aten::op{i % 5}", at, 30),
                   event("cuda_runtime", "cudaLaunchKernel", at + 5, 6, correlation=i + 1),
                   event("kernel", f"kernel{i % 5}", at + 20, 35, correlation=i + 1, stream=stream,
                         grid=[8, 1, 1], block=[128, 1, 1])]
    events.append(event("cuda_runtime", "cudaDeviceSynchronize", 1650, 40, correlation=90))
    return json.dumps({"schemaVersion": 1, "baseTimeNanoseconds": 1751410836000000000,
                       "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}],
                       "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1},
                       "traceEvents": events, "traceName": "trace.json"})


def verbs(program):
    trace = "../t/traces.otf2"
    return [
        Verb("info", "info", "../r"),
        Verb("info-json", "info", "../r", "--format", "json"),
        Verb("info-timeline", "info", trace),
        Verb("dump", "dump", "../r"),
        Verb("dump-accesses", "dump", "../r", "--accesses", "--lanes"),
        Verb("dump-timeline", "dump", trace, "--timeline", "--format", "csv"),
        Verb("comm", "comm", "../r", "--threads", "2"),
        Verb("comm-json", "comm", "../r", "--threads", "2", "--format", "json"),
        Verb("access", "access", "../r", "--threads", "2"),
        Verb("flow", "flow", "../r"),
        Verb("query", "query", "../r", "SELECT operation, count(*) FROM requests GROUP BY 1"),
        Verb("partition", "partition", "../r", "-n", "2"),
        Verb("diff", "diff", "../r", "../r2", "--threads", "2"),
        Verb("diff-time", "diff", "--time", trace, "../t2/traces.otf2"),
        Verb("path", "path", trace, "--format", "csv"),
        Verb("whatif", "whatif", trace, "--remove", "compute", "--format", "csv"),
        Verb("report", "report", "../r", "-o", "page.html", "--threads", "2",
             outputs=["page.html"]),
        Verb("report-timeline", "report", trace, "-o", "page.html", "--threads", "2",
             outputs=["page.html"]),
        Verb("export-trc", "export", "../r", "-o", "x.trc", outputs=["x.trc"]),
        Verb("export-csv", "export", "../r", "-o", "x.csv", "--format", "csv", outputs=["x.csv"]),
        Verb("export-json", "export", "../r", "-o", "x", "--format", "json", outputs=["x"]),
        Import("import", "import", "../kineto.json", "-o", "run"),
        Import("import-nsys", "import", "../nsys.sqlite", "-o", "run"),
        Import("import-trc", "import", "../x.trc", "-o", "run"),
        Record("record", "record", "-o", "run", "--", program, "2", "2"),
    ]


def empty(folder):
    """Makes the folder, or removes what is in it."""
    os.makedirs(folder, exist_ok=True)
    for entry in list(os.scandir(folder)):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.remove(entry.path)


class Server:
    """A verb's process, started once, which shim.c forks for each case."""

    REPLY = struct.Struct("i60s")

    def __init__(self, trial, verb, class_name, kind):
        self.trial, self.verb = trial, verb
        self.folder = tempfile.mkdtemp(prefix="case-", dir=trial.folder)
        self.outputs = self.folder + ".served"
        kept = trial.environment(class_name, kind, FAULT_FIRST="0", FAULT_REPORT="-",
                                 FAULT_SERVE=self.outputs)
        self.process = subprocess.Popen([trial.ctascope, *verb.words], cwd=self.folder, env=kept,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        shutil.rmtree(self.folder)

    def answer(self, byte_count):
        """None: not within the limit."""
        got = b""
        while len(got) < byte_count:
            if not select.select([self.process.stdout], [], [], LIMIT_S)[0]:
                return None
            more = self.process.stdout.read(byte_count - len(got))
            if not more:
                raise SystemExit(f"{self.verb.name}: the shim's server has ended")
            got += more
        return got

    def case(self, n):
        """One case's result, and what the shim reports ("": nothing failed)."""
        empty(self.folder)
        self.process.stdin.write(struct.pack("l", n))
        child = struct.unpack("i", self.answer(4))[0]
        reply, hangs = self.answer(self.REPLY.size), ""
        if reply is None:
            os.killpg(child, signal.SIGKILL)
            reply, hangs = self.answer(self.REPLY.size), "HANGS"
        status, report = self.REPLY.unpack(reply)
        texts = []
        for suffix in (".out", ".err"):
            with open(self.outputs + suffix, encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
        done = subprocess.CompletedProcess(self.verb.words, os.waitstatus_to_exitcode(status),
                                           texts[0], texts[1] + hangs)
        return (self.verb.ended(self.folder, self.trial.ctascope, done),
                report.rstrip(b"\0").decode())


class Trial:
    def __init__(self, build, shim, folder):
        self.ctascope = os.path.join(build, "bin", "ctascope")
        self.build, self.shim, self.folder = build, shim, folder

    def prepare(self):
        """The runs and timelines that are read; the program that is recorded."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        tests = os.path.join(self.build, "tests")

        def run(*words):
            subprocess.run(words, cwd=self.folder, check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE)
        run(os.path.join(tests, "make-run"), "complete", "r")
        run(os.path.join(tests, "make-run"), "complete", "r2")
        generate = shutil.which("path-generate", path=f"{self.build}/bin:{self.build}/examples:"
                                f"{tests}")
        run(generate, "messages", "30", "2", "t")
        run(generate, "messages", "40", "2", "t2")
        with open(os.path.join(self.folder, "kineto.json"), "w", encoding="utf-8") as file:
            file.write(kineto_trace())
        shutil.copy(os.path.join(HERE, "..", "fuzz", "corpus", "nsys", "new"),
                    os.path.join(self.folder, "nsys.sqlite"))
        run(self.ctascope, "export", "r", "-o", "x.trc")
        return compiled(self.ctascope, "-O2", os.path.join(HERE, "..", "record", "programs", "launches.cu"))

    def environment(self, class_name, kind, **more):
        kept = {key: value for key, value in os.environ.items()
                if not key.startswith(("CTASCOPE_", "FAULT_", "OMPI_", "PMIX_", "PMI_"))}
        kept.update(LD_PRELOAD=self.shim, FAULT_PROGRAM="ctascope", FAULT_CLASS=class_name,
                    FAULT_ERRNO=str(kind), LC_ALL="C", NO_COLOR="1", **more)
        return kept

    def traced(self, verb, class_name, kind, n):
        """Runs one case; its result, and the stack of the call that failed."""
        folder = os.path.join(self.folder, "traced")
        report = folder + ".report"
        empty(folder)
        kept = self.environment(class_name, kind, FAULT_FIRST=str(n), FAULT_REPORT=report,
                                FAULT_TRACE="1")
        with open(report, "w", encoding="utf-8"):
            pass
        done = subprocess.run([self.ctascope, *verb.words], cwd=folder, env=kept, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, errors="replace", timeout=LIMIT_S,
                              check=False)
        with open(report, encoding="utf-8") as file:
            return verb.ended(folder, self.ctascope, done), file.read()

    def wrong(self, verb, result, good, cause):
        if "HANGS" in result.stderr:
            return "hangs"
        if result.status < 0 or result.status > SIGNAL_STATUS:
            return f"ended by signal {abs(result.status) % SIGNAL_STATUS}"
        return verb.judge(result, good, cause)

    def sweep(self, verb, class_name, kind):
        """The undisturbed result, and which n there are, in lots that workers share."""
        with Server(self, verb, class_name, kind) as server:
            good, counted = server.case(0)
        if good.status != 0 and not isinstance(verb, Record):
            raise SystemExit(f"{verb.name} fails undisturbed: {good.stderr}")
        count, numbers, n = int(counted.split()[1]), [], 1
        while n <= count:  # all, or ever fewer
            numbers.append(n)
            n += 1 + test_count(1, 0) * n
        if class_name == "allocate":  # what prints, at the end, has often nobody to tell
            numbers = sorted({*numbers, *range(max(1, count - 80), count + 1, test_count(8, 1))})
        return good, [numbers[i:i + LOT] for i in range(0, len(numbers), LOT)] or [[]]

    def try_lot(self, verb, class_name, kind, good, numbers):
        """Cases tried, and lines on those that failed."""
        tried, failures = 0, []
        with Server(self, verb, class_name, kind) as server:
            for n in numbers:
                result, injected = server.case(n)
                if not injected:  # threads that shared the work otherwise
                    continue
                tried += 1
                wrong = self.wrong(verb, result, good, CLASSES[class_name][kind])
                if wrong:
                    failures.append(f"{verb.name},{class_name},{kind_name(kind)} n = {n} "
                                    f"({injected.split()[0]}): {wrong}; status {result.status}: "
                                    f"{result.stderr.strip()[:300]}")
        return tried, failures


def run_all(trial, sweeps, jobs):
    """The table's rows, and lines on what failed."""
    rows, failures = [], []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        begun = []
        for verb, class_name, kind in sweeps:
            good, lots = trial.sweep(verb, class_name, kind)
            begun.append([pool.submit(trial.try_lot, verb, class_name, kind, good, lot)
                          for lot in lots])
        for (verb, class_name, kind), lots in zip(sweeps, begun):
            tried = sum(lot.result()[0] for lot in lots)
            failed = [line for lot in lots for line in lot.result()[1]]
            if not tried and class_name in ("allocate", "open", "read"):  # every verb does these
                failed.append(f"{verb.name},{class_name},{kind_name(kind)}: nothing failed")
            for line in failed:
                print("FAILED", line, flush=True)
            rows.append((verb.name, class_name, kind_name(kind), tried, tried - len(failed)))
            failures += failed
    return rows, failures


def print_table(rows):
    print(f"{'verb':<16}{'class':<10}{'failure':<10}{'tried':>7}{'passed':>8}")
    for row in rows:
        print(f"{row[0]:<16}{row[1]:<10}{row[2]:<10}{row[3]:>7}{row[4]:>8}")
    tried, passed = sum(row[3] for row in rows), sum(row[4] for row in rows)
    print(f"{'all':<36}{tried:>7}{passed:>8}")


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("shim")
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--trace", type=int, default=0)
    return parser.parse_args()


def main():
    chosen = read_arguments()
    wanted = (chosen.only.split(",") + ["", "", ""])[:3]
    trial = Trial(os.path.abspath(chosen.build), os.path.abspath(chosen.shim),
                  os.path.abspath(chosen.folder))
    program = trial.prepare()
    sweeps = [(verb, class_name, kind) for verb in verbs(program) for class_name, kinds in
              CLASSES.items() for kind in kinds
              if wanted[0] in ("", verb.name) and wanted[1] in ("", class_name)
              and wanted[2] in ("", kind_name(kind))]
    if chosen.trace:
        for verb, class_name, kind in sweeps:
            good, _ = trial.traced(verb, class_name, kind, 0)
            result, injected = trial.traced(verb, class_name, kind, chosen.trace)
            print(injected, trial.wrong(verb, result, good, CLASSES[class_name][kind]),
                  result.status, result.stdout, result.stderr, sep="\n")
        return 0
    rows, failures = run_all(trial, sweeps, chosen.jobs)
    print_table(rows)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
