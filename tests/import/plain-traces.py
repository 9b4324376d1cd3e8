#!/usr/bin/env python3
"""Traces as PyTorch's profiler writes them by default: no synchronisation records, threads that hand over without a
word, helper threads that outlive the program. What `ctascope path` infers, and where it must not.

plain-traces.py CTASCOPE WORK"""
import json
import os
import shutil
import subprocess
import sys

CTASCOPE, WORK = sys.argv[1:3]
MAIN, BACKWARD, HELPER = 100, 101, 102


class Trace:
    """Times in us. A launch takes 10 us; correlations tie it to its kernel."""

    def __init__(self):
        self.events, self.correlation = [], 0

    def host(self, thread, name, start, end, category="cpu_op", correlation=None):
        args = {} if correlation is None else {"correlation": correlation}
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 100, "tid": thread, "ts": start,
                            "dur": end - start, "args": args})

    def call(self, thread, name, start):
        self.correlation += 1
        self.host(thread, name, start, start + 5, "cuda_runtime", self.correlation)

    def launch(self, thread, at, kernel, stream, start, end):
        self.correlation += 1
        self.host(thread, "cudaLaunchKernel", at, at + 10, "cuda_runtime", self.correlation)
        self.events.append({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": stream, "ts": start,
                            "dur": end - start, "args": {"correlation": self.correlation, "stream": stream,
                                                         "device": 0, "grid": [1, 1, 1], "block": [32, 1, 1]}})

    def path(self, name):
        folder = os.path.join(WORK, name)
        os.makedirs(folder)
        trace, run = os.path.join(folder, "trace.json"), os.path.join(folder, "run")
        with open(trace, "w") as file:
            json.dump({"traceEvents": self.events}, file)
        subprocess.run([CTASCOPE, "import", trace, "-o", run], check=True, stderr=subprocess.DEVNULL)
        done = subprocess.run([CTASCOPE, "path", run, "--format", "json", "--limit", "0"], check=True,
                              stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)


def shares(answer):
    """Exclusive time on the path by activity, in us."""
    return {row["activity"]: row["path_ns"] / 1000 for row in answer["activities"] if row["path_ns"]}


def warned(answer, text):
    return any(text in note["text"] for note in answer["warnings"])


def crossing(contradicts):
    """A long kernel on stream 7; a record and a wait; a kernel on stream 20 that follows it (or began before it ended,
    so that it cannot have waited for it)."""
    trace = Trace()
    trace.host(MAIN, "step", 0, 3000)
    trace.launch(MAIN, 10, "long_kernel", 7, 30, 2030)
    trace.call(MAIN, "cudaEventRecord", 40)
    trace.call(MAIN, "cudaStreamWaitEvent", 50)
    start = 100 if contradicts else 2035
    trace.launch(MAIN, 60, "side_kernel", 20, start, start + 500)
    trace.call(MAIN, "cudaDeviceSynchronize", 2900 if contradicts else 70)
    trace.events[-1]["dur"] = 50 if contradicts else 2500
    return trace


def check(condition, *values):
    if not condition:
        sys.exit(f"plain-traces: {values}")


def stream_waits():
    answer = crossing(False).path("waits")
    check(shares(answer).get("long_kernel") == 2000 and shares(answer).get("side_kernel") == 500, shares(answer))
    check(warned(answer, "waits of streams for events"), answer["warnings"])
    answer = crossing(True).path("contradicts")
    check("long_kernel" not in shares(answer) or not warned(answer, "waits of streams for events"), shares(answer))


def backward(gap, inside):
    """The main thread calls backward(): another thread launches for 4,000 us, from `gap` us after the main thread's
    last operation. `inside`: the main thread does something meanwhile, so that it cannot have waited."""
    trace = Trace()
    trace.host(MAIN, "forward", 0, 1000)
    for i in range(40):
        at = 1000 + gap + i * 100
        trace.host(BACKWARD, "backward_op", at, at + 95)
        trace.launch(BACKWARD, at + 20, "kernel", 7, at + 40, at + 60)
    if inside:
        trace.host(MAIN, "logging", 2000, 2500)
    trace.host(MAIN, "optimizer", 5000 + gap + 100, 7000)
    return trace


def hand_overs():
    answer = backward(300, False).path("backward")
    check(warned(answer, "stands still"), answer["warnings"])
    check(shares(answer).get("backward_op", 0) + shares(answer).get("cudaLaunchKernel", 0) > 3500, shares(answer))
    check(shares(answer).get("forward") == 1000 and shares(answer).get("optimizer", 0) > 1500, shares(answer))
    for name, trace in (("late", backward(2500, False)), ("busy", backward(300, True))):
        answer = trace.path(name)
        check(not warned(answer, "stands still"), name, answer["warnings"])


def helper(works):
    """A thread that asks for an event again and again, also after the main thread's end; or works all the time."""
    trace = Trace()
    trace.host(MAIN, "main_work", 0, 10000)
    if works:
        trace.host(HELPER, "helper_work", 100, 12000)
    else:
        for at in (500, 3000, 7000, 11000, 12000):
            trace.call(HELPER, "cudaEventQuery", at)
    return trace


def helpers():
    answer = helper(False).path("polls")
    check(shares(answer).get("main_work") == 10000, shares(answer))
    check(warned(answer, "that nothing waits for"), answer["warnings"])
    answer = helper(True).path("works")
    check(shares(answer).get("helper_work") == 11900, shares(answer))
    check(not warned(answer, "that nothing waits for"), answer["warnings"])


shutil.rmtree(WORK, ignore_errors=True)
os.makedirs(WORK)
stream_waits()
hand_overs()
helpers()
print("plain traces: as expected")
