#!/usr/bin/env python3
"""What a recorder calls inside the recorded program fails: the program's output and status are its
own, its CUDA calls succeed, and the run says what it lacks.

    inside.py BUILD SHIM FOLDER [--only RECORDER[,CLASS[,KIND]]] [--trace N]

As faults.py; the calls are those of the recorders' parts of libctascope_*.so alone (shim.c,
FAULT_PARTS), of a program that checks all of its results (inside.cu). What the CPU device itself
calls is left alone: it may fail as a driver does. That the list of parts is whole is checked: the
rest of the device calls from the same places, recorded or not.
"""
import concurrent.futures
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, ".."))
sys.dont_write_bytecode = True
from count import test_count  # noqa: E402
from faults import kind_name, print_table, read_arguments  # noqa: E402

LIMIT_S = 300  # ends what hangs
STATUS = 7  # of inside.cu
CLASSES = {
    "allocate": [errno.ENOMEM],
    "open": [errno.EMFILE, errno.EINTR],
    "read": [errno.EIO, errno.EINTR, "short"],
    "write": [errno.ENOSPC, errno.EIO, errno.EINTR, "short"],
    "map": [errno.ENOMEM],
    "sync": [errno.EIO],
    "thread": [errno.EAGAIN],
}
RECORDERS = {"memory": [], "timeline": ["--timeline"], "both": ["--memory", "--timeline"]}
# In the gate both recorders at once, whose calls are those of either; of one alone only what fails first.
QUICK = {"memory": ["allocate"], "timeline": ["allocate"], "both": list(CLASSES)}
# Sources whose code runs for a recording alone; what is in neither list is the device.
RECORDER_SOURCES = ("src/trace/", "src/record/timeline/", "src/record/cpu/runtime/record",
                    "src/record/cpu/runtime/cpu-timeline", "src/record/cpu/runtime/hosts",
                    "src/record/wrappers/thread", "src/record/cpu/engine/log",
                    "src/record/cpu/engine/slots")
COMMON_SOURCES = ("src/common/",)
# What these call depends on which thread is faster.
TIMED_SOURCES = ("src/record/cpu/runtime/stream.c", "src/record/cpu/runtime/event.c",
                 "src/record/cpu/runtime/work.c", "src/record/cpu/runtime/memory-pool.c",
                 "src/record/cpu/engine/pool.c")


def parts_of(library):
    """Lines on a library's functions, from its symbols and their lines."""
    text = subprocess.run(["nm", "-n", "-l", "--defined-only", library], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    symbols = []
    for line in text.splitlines():
        words = line.split(None, 3)
        if words[1] not in "tTwWi":
            continue
        source = words[3].rsplit(":", 1)[0] if len(words) > 3 else ""
        source = os.path.normpath(source)
        source = source[max(source.rfind("/src/") + 1, 0):]
        kind = "r" if source.startswith(RECORDER_SOURCES) else \
            "c" if source.startswith(COMMON_SOURCES) else "o"
        if len(words) < 4:  # of an archive, which has no lines
            kind = "-"
        symbols.append((int(words[0], 16), "t" if source in TIMED_SOURCES else kind))
    name, lines = os.path.basename(library), []
    symbols = [symbol for i, symbol in enumerate(symbols) if not i or symbols[i - 1][1] != symbol[1]]
    for (first, kind), (after, _) in zip(symbols, symbols[1:] + [(symbols[-1][0] + 1000000, "")]):
        if after > first:
            lines.append(f"{name} {first:x} {after - 1:x} {kind}\n")
    return lines


class Trial:
    def __init__(self, build, shim, folder):
        self.ctascope = os.path.join(build, "bin", "ctascope")
        self.library = os.path.join(build, "lib", "ctascope")
        self.shim, self.folder = shim, folder

    def prepare(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.program = os.path.join(self.folder, "inside")
        subprocess.run([self.ctascope, "cc", "-O2", os.path.join(HERE, "inside.cu"), "-o",
                        self.program], check=True)
        self.parts = os.path.join(self.folder, "parts")
        with open(self.parts, "w", encoding="utf-8") as file:
            for name in ("libctascope_cpu.so", "libctascope_timeline.so"):
                file.writelines(parts_of(os.path.join(self.library, name)))

    def environment(self, class_name, kind, n, report, **more):
        kept = {key: value for key, value in os.environ.items()
                if not key.startswith(("CTASCOPE_", "FAULT_", "OMPI_", "PMIX_", "PMI_"))}
        kept.update(LD_PRELOAD=self.shim, FAULT_PROGRAM="inside", FAULT_CLASS=class_name,
                    FAULT_ERRNO=str(kind), FAULT_FIRST=str(n), FAULT_REPORT=report,
                    FAULT_PARTS=self.parts, LC_ALL="C", **more)
        return kept

    def run(self, words, folder, kept=None):
        return subprocess.run(words, cwd=folder, env=kept, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=LIMIT_S, check=False)

    def case(self, recorder, class_name, kind, n, **more):
        """How the recording ended, what the shim reports, the folder, which the caller removes."""
        folder = tempfile.mkdtemp(prefix="case-", dir=self.folder)
        report = os.path.join(folder, "report")
        with open(report, "w", encoding="utf-8"):
            pass
        words = [self.ctascope, "record", *RECORDERS[recorder], "-o", "run", "--", self.program,
                 "600"]
        try:
            done = self.run(words, folder, self.environment(class_name, kind, n, report, **more))
        except subprocess.TimeoutExpired:
            done = subprocess.CompletedProcess(words, -9, "", "HANGS")
        with open(report, encoding="utf-8") as file:
            return done, file.read(), folder

    def json(self, folder, *words):
        """A verb's answer, or None and its error."""
        done = self.run([self.ctascope, *words, "--format", "json"], folder)
        return (json.loads(done.stdout), "") if done.returncode == 0 else (None, done.stderr)

    def totals(self, folder, recorder):
        """What was recorded, and whether the run says that it is all."""
        info, error = self.json(folder, "info", "run")
        if info is None:
            return None, error
        kept = dict(info["totals"])
        events = info["timeline"]["events"] if info.get("timeline") else None
        return {key: kept[key] for key in ("complete", "launches", "recorded_launches", "accesses",
                                           "dropped_accesses", "copies")} | {"events": events}, ""

    def judge(self, recorder, folder, done, good):
        """None, or what is wrong."""
        if "HANGS" in done.stderr:
            return "hangs"
        if done.stdout != "right\n":
            return f"the program printed {done.stdout!r}"
        if done.returncode != STATUS:
            return f"exit status {done.returncode} instead of the program's {STATUS}"
        if not os.path.exists(os.path.join(folder, "run")):
            return None if "ctascope" in done.stderr else "no run, and not a word of it"
        totals, error = self.totals(folder, recorder)
        if totals is None:
            return None if error.count("\n") == 1 else f"info: {error}"
        if totals == good:
            return None
        if totals["complete"] and not totals["dropped_accesses"] and \
                totals["recorded_launches"] == totals["launches"]:
            return f"the run lacks something and says that it is complete: {totals}, not {good}"
        if "ctascope record: " not in done.stderr:
            return "the run lacks something, and record does not say so"
        return self.sound(folder, totals, good)

    def sound(self, folder, totals, good):
        """What lacks something is a lower bound; of a whole timeline, path is sound, whatever the
        recording of memory lacks."""
        verbs = []
        if any(totals[key] != good[key] for key in ("launches", "accesses", "copies")):
            verbs += [("comm", "run"), ("access", "run"), ("partition", "run", "-n", "2")]
        if totals["events"] != good["events"]:
            verbs.append(("path", "run"))
        for words in verbs:
            answer, error = self.json(folder, *words)
            if answer is None:
                if error.count('{"error": ') != 1:
                    return f"{words[0]}: not one line: {error}"
                continue
            soundness = answer.get("soundness", answer)
            if not soundness.get("lower_bound"):
                return f"{words[0]}: no lower bound: {json.dumps(soundness)[:200]}"
        return None

    def check_parts(self, recorder):
        """Places of the device that call in a recording and not without one: parts were forgotten."""
        found = {}
        for recorded in (False, True):
            others = os.path.join(self.folder, f"others-{recorder}-{recorded}")
            for class_name, kinds in CLASSES.items():
                if recorded:
                    _, _, folder = self.case(recorder, class_name, kinds[0], 0,
                                             FAULT_OTHERS=others)
                    shutil.rmtree(folder)
                else:
                    kept = self.environment(class_name, kinds[0], 0, "/dev/null",
                                            FAULT_OTHERS=others)
                    self.run([self.program, "600"], self.folder, kept)
            with open(others, encoding="utf-8") as file:
                found[recorded] = set(file.read().split())
        return sorted(found[True] - found[False])

    def numbers(self, count):
        numbers, n = [], 1
        while n <= count:
            numbers.append(n)
            n += 1 + test_count(1, 0) * n
        return numbers

    def try_one(self, recorder, class_name, kind, n, good):
        done, report, folder = self.case(recorder, class_name, kind, n)
        wrong = self.judge(recorder, folder, done, good) if report else None
        shutil.rmtree(folder)
        line = f"{recorder},{class_name},{kind_name(kind)} n = {n} ({report.strip()}): {wrong}; " \
               f"status {done.returncode}: {done.stderr.strip()[:300]}" if wrong else None
        return bool(report), line


def sweep_all(trial, sweeps, pool):
    begun, goods = [], {}
    for recorder, class_name, kind in sweeps:
        done, counted, folder = trial.case(recorder, class_name, kind, 0)
        if recorder not in goods:
            goods[recorder] = trial.totals(folder, recorder)[0]
            wrong = trial.judge(recorder, folder, done, goods[recorder])
            if wrong or not goods[recorder]["complete"]:
                raise SystemExit(f"{recorder}: {wrong}: {done.stderr}")
        shutil.rmtree(folder)
        count = int(counted.split()[1])
        begun.append([pool.submit(trial.try_one, recorder, class_name, kind, n, goods[recorder])
                      for n in trial.numbers(count)])
    rows, failures = [], []
    for (recorder, class_name, kind), cases in zip(sweeps, begun):
        results = [case.result() for case in cases]
        tried = sum(injected for injected, _ in results)
        failed = [line for _, line in results if line]
        if not tried and class_name in ("allocate", "open"):
            failed.append(f"{recorder},{class_name},{kind_name(kind)}: nothing failed")
        for line in failed:
            print("FAILED", line, flush=True)
        rows.append((recorder, class_name, kind_name(kind), tried, tried - len(failed)))
        failures += failed
    return rows, failures


def main():
    chosen = read_arguments()
    wanted = (chosen.only.split(",") + ["", "", ""])[:3]
    trial = Trial(os.path.abspath(chosen.build), os.path.abspath(chosen.shim),
                  os.path.abspath(chosen.folder))
    trial.prepare()
    sweeps = [(recorder, class_name, kind) for recorder in RECORDERS for class_name, kinds in
              CLASSES.items() for kind in kinds
              if class_name in test_count(QUICK[recorder], list(CLASSES)) + wanted[1:2]
              and wanted[0] in ("", recorder) and wanted[1] in ("", class_name)
              and wanted[2] in ("", kind_name(kind))]
    if chosen.trace:
        for recorder, class_name, kind in sweeps:
            _, _, folder = trial.case(recorder, class_name, kind, 0)
            good, _ = trial.totals(folder, recorder)
            done, report, folder = trial.case(recorder, class_name, kind, chosen.trace,
                                              FAULT_TRACE="1")
            print(report, trial.judge(recorder, folder, done, good), done.returncode, done.stdout,
                  done.stderr, folder, sep="\n")
        return 0
    forgotten = [place for recorder in sorted({sweep[0] for sweep in sweeps})
                 for place in trial.check_parts(recorder)]
    if forgotten:
        print("FAILED these places of the device call for a recording alone:", *forgotten)
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        rows, failures = sweep_all(trial, sweeps, pool)
    print_table(rows)
    return 1 if failures or forgotten else 0


if __name__ == "__main__":
    sys.exit(main())
