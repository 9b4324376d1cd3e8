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
import shutil
import signal
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, ".."))
sys.dont_write_bytecode = True
from count import test_count  # noqa: E402

LIMIT_S = 120  # ends what hangs; nothing here takes a second
SIGNAL_STATUS = 128
OWN_FAILURE = 125  # of `record`

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


class Record(Verb):
    """The program's output and status are its own; what the run lacks is named."""

    def ended(self, folder, ctascope, done):
        info = subprocess.run([ctascope, "info", "run", "--format", "json"], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)
        kept = None
        if info.returncode == 0:
            totals = json.loads(info.stdout)["totals"]
            kept = {key: totals[key] for key in ("complete", "launches", "recorded_launches",
                                                 "accesses", "dropped_accesses")}
        return Result(done.returncode, done.stdout, done.stderr, kept)

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
        if result.status not in (good.status, OWN_FAILURE):
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
        Record("record", "record", "-o", "run", "--", program, "2", "2"),
    ]


class Table:
    """Cases tried and passed, and those that did not."""

    def __init__(self):
        self.lock = threading.Lock()
        self.rows, self.failures = [], []

    def add(self, verb, class_name, kind, tried, failures):
        with self.lock:
            self.rows.append((verb, class_name, kind, tried, tried - len(failures)))
            self.failures += failures

    def print(self):
        print(f"{'verb':<16}{'class':<10}{'failure':<10}{'tried':>7}{'passed':>8}")
        for row in self.rows:
            print(f"{row[0]:<16}{row[1]:<10}{row[2]:<10}{row[3]:>7}{row[4]:>8}")
        tried, passed = sum(row[3] for row in self.rows), sum(row[4] for row in self.rows)
        print(f"{'all':<36}{tried:>7}{passed:>8}")


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
        program = os.path.join(self.folder, "program")
        run(self.ctascope, "cc", os.path.join(HERE, "..", "record", "programs", "launches.cu"), "-O2",
            "-o", program)
        return program

    def case(self, verb, class_name, kind, n, with_stack=False):
        """Runs one; its result, and what the shim reports ("": nothing failed)."""
        folder = os.path.join(self.folder, f"case-{threading.get_ident()}")
        report = folder + ".report"
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        with open(report, "w", encoding="utf-8"):
            pass
        kept = {key: value for key, value in os.environ.items()
                if not key.startswith(("CTASCOPE_", "FAULT_", "OMPI_", "PMIX_", "PMI_"))}
        kept.update(LD_PRELOAD=self.shim, FAULT_PROGRAM="ctascope", FAULT_CLASS=class_name,
                    FAULT_FIRST=str(n), FAULT_ERRNO=str(kind), FAULT_REPORT=report, LC_ALL="C",
                    NO_COLOR="1")
        if with_stack:
            kept["FAULT_TRACE"] = "1"
        process = subprocess.Popen([self.ctascope, *verb.words], cwd=folder, env=kept,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True, text=True,
                                   errors="replace")
        try:
            stdout, stderr = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
            stderr += "HANGS"
        done = subprocess.CompletedProcess(verb.words, process.returncode, stdout, stderr)
        with open(report, encoding="utf-8") as file:
            injected = file.read()
        return verb.ended(folder, self.ctascope, done), injected

    def wrong(self, verb, result, good, cause):
        if "HANGS" in result.stderr:
            return "hangs"
        if result.status < 0 or result.status > SIGNAL_STATUS:
            return f"ended by signal {abs(result.status) % SIGNAL_STATUS}"
        return verb.judge(result, good, cause)

    def numbers(self):
        """Which n: all, or ever fewer."""
        n, step = 1, test_count(1, 0)
        while True:
            yield n
            n += 1 + step * (n // 3)

    def sweep(self, verb, class_name, kind, table):
        good, nothing = self.case(verb, class_name, kind, 0)
        if nothing or (good.status != 0 and not isinstance(verb, Record)):
            raise SystemExit(f"{verb.name} fails undisturbed: {good.stderr}")
        tried, failures = 0, []
        for n in self.numbers():
            result, injected = self.case(verb, class_name, kind, n)
            if not injected:
                break
            tried += 1
            wrong = self.wrong(verb, result, good, CLASSES[class_name][kind])
            if wrong:
                failures.append(f"{verb.name},{class_name},{kind_name(kind)} n = {n} "
                                f"({injected.split()[0]}): {wrong}; status {result.status}: "
                                f"{result.stderr.strip()[:300]}")
        if not tried and class_name in ("allocate", "open", "read"):  # every verb does these
            failures.append(f"{verb.name},{class_name},{kind_name(kind)}: nothing was made to fail")
        table.add(verb.name, class_name, kind_name(kind), tried, failures)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("shim")
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--trace", type=int, default=0)
    chosen = parser.parse_args()
    wanted = (chosen.only.split(",") + ["", "", ""])[:3]
    trial = Trial(os.path.abspath(chosen.build), os.path.abspath(chosen.shim),
                  os.path.abspath(chosen.folder))
    program = trial.prepare()
    table = Table()
    sweeps = [(verb, class_name, kind) for verb in verbs(program) for class_name, kinds in
              CLASSES.items() for kind in kinds
              if wanted[0] in ("", verb.name) and wanted[1] in ("", class_name)
              and wanted[2] in ("", kind_name(kind))]
    if chosen.trace:
        for verb, class_name, kind in sweeps:
            good, _ = trial.case(verb, class_name, kind, 0)
            result, injected = trial.case(verb, class_name, kind, chosen.trace, with_stack=True)
            print(injected, trial.wrong(verb, result, good, CLASSES[class_name][kind]),
                  result.status, result.stdout, result.stderr, sep="\n")
        return 0
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        list(pool.map(lambda sweep: trial.sweep(*sweep, table), sweeps))
    table.print()
    for failure in table.failures:
        print("FAILED", failure)
    return 1 if table.failures else 0


if __name__ == "__main__":
    sys.exit(main())
