#!/usr/bin/env python3
"""Records a GPU program's timeline and compares the archive, as otf2-print shows it, with what the
program says it did ("expect KEY COUNT") and with what must hold of every timeline:

    check.py --ctascope PROGRAM --programs DIRECTORY [--keep DIRECTORY] [--verbose] CASE...

Ends with 77 and the reason where there is no GPU, or no otf2-print. Without CASE: all of them.
"""
import argparse
import collections
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import kernel_times  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
LIMIT_S, PYTHON_LIMIT_S = 90, 180 # of one program; ctest's limit is beyond two, or one
# How far a device's time may stand outside the calls around it: the error of CUPTI's mapping of
# the device's clock to the host's.
CLOCK_ERROR_NS = 20000

# What a kernel's region says of its launches, in that order; launches say what differs.
SHAPE = ["CTASCOPE_" + key for key in ("GRID_X", "GRID_Y", "GRID_Z", "BLOCK_X", "BLOCK_Y", "BLOCK_Z",
                                       "REGISTERS", "STATIC_SHARED", "DYNAMIC_SHARED")]

OWN_STATUS = {"crash": 139, "kill": 137, "quick-exit": 5, "device-fault": 3}
CUT_OFF = {"crash", "kill", "quick-exit"}
PYTHON = {"training": "training.py", "triton": "triton_kernel.py", "profiled": "profiled.py",
          "nvtx": "nvtx_ranges.py", "nccl": "allreduce.py"}
ACTIVITIES = ["times", "copies", "memsets", "events", "graph", "shapes", "managed", "devices",
              "threads", "no-wait", "forks", "crash", "kill", "quick-exit", "device-fault", "reset"]
CASES = ACTIVITIES + ["cublas", "subscriber", "mpi", "dropped"] + list(PYTHON)


class Event:
    __slots__ = ("kind", "location", "time", "text", "attributes")

    def __init__(self, kind, location, time, text):
        self.kind, self.location, self.time, self.text = kind, location, time, text
        self.attributes = {}

    def region(self):
        return re.search(r'Region: "(.*)" <\d+>', self.text).group(1)


class Timeline:
    """Definitions and events, read from otf2-print's text."""

    def __init__(self, anchor):
        self.names, self.process, self.shapes, self.events = {}, {}, {}, []
        self.properties = collections.defaultdict(dict)
        self.read_definitions(self.print(anchor, "-G"))
        self.read_events(self.print(anchor))
        self.by_location = collections.defaultdict(list)
        for event in self.events:
            self.by_location[event.location].append(event)

    @staticmethod
    def print(anchor, *options):
        done = subprocess.run(["otf2-print", *options, anchor], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace")
        if done.returncode or done.stderr.strip():
            sys.exit(f"otf2-print {anchor}: {done.returncode}: {done.stderr}")
        return done.stdout

    def read_definitions(self, text):
        for line in text.splitlines():
            found = re.match(r'LOCATION +(\d+) +Name: "([^"]*)".*Group: ".*" <(\d+)>', line)
            if found:
                self.names[int(found[1])] = found[2]
                self.process[int(found[1])] = int(found[3])
            found = re.match(r'REGION +\d+ +Name: "(.*?)" <\d+>.*Descr.: "launch: grid (\d+)x(\d+)x'
                             r'(\d+), block (\d+)x(\d+)x(\d+), registers (\d+), static shared (\d+), '
                             r'dynamic shared (\d+)"', line)
            if found:
                self.shapes[found[1]] = dict(zip(SHAPE, map(int, found.groups()[1:])))
            found = re.match(r'LOCATION_PROPERTY.*Location: ".*" <(\d+)>, Name: "([^"]*)".*'
                             r'Value: "([^"]*)"', line)
            if found:
                self.properties[int(found[1])][found[2]] = found[3]

    def read_events(self, text):
        for line in text.splitlines():
            if "ADDITIONAL ATTRIBUTES" in line:
                for name, named, plain in re.findall(
                        r'\("([^"]+)" <\d+>; \w+; (?:"[^"]*" <(\d+)>|(\d+))', line):
                    self.events[-1].attributes[name] = int(named or plain)
                continue
            found = re.match(r"([A-Z_]+) +(\d+) +(\d+) *(.*)", line)
            if found:
                self.events.append(Event(found[1], int(found[2]), int(found[3]), found[4]))
        for event in self.events:
            if event.kind == "ENTER":
                event.attributes = self.shapes.get(event.region(), {}) | event.attributes

    def correlation(self, event):
        """Of a call or an activity, unique in the archive; None."""
        number = event.attributes.get("CTASCOPE_CORRELATION")
        return None if number is None else (self.process[event.location], number)

    def is_stream(self, location):
        return self.names[location].startswith("CUDA[")

    def activities(self):
        """(location, name, enter event, leave event) of what devices did."""
        for location, events in self.by_location.items():
            if not self.is_stream(location):
                continue
            stack, copies = [], {}
            for event in events:
                if event.kind == "ENTER":
                    stack.append(event)
                elif event.kind == "LEAVE":
                    enter = stack.pop()
                    yield location, enter.region(), enter, event
                elif event.kind in ("RMA_GET", "RMA_PUT"):
                    copies[re.search(r"Matching: (\d+)", event.text)[1]] = event
                elif event.kind == "RMA_OP_COMPLETE_BLOCKING":
                    begin = copies.pop(re.search(r"Matching: (\d+)", event.text)[1])
                    yield location, self.copy_kind(begin), begin, event

    def copy_kind(self, event):
        if event.kind == "RMA_PUT":
            return "device-to-host"
        remote = int(re.search(r"Remote: \d+ \(.* <(\d+)>\)", event.text)[1])
        return "device-to-device" if self.is_stream(remote) else "host-to-device"


# ---- what must hold of every timeline ----

def problems_of(timeline, cut_off):
    for location, events in timeline.by_location.items():
        last, stack = 0, []
        for event in events:
            if event.time < last:
                yield f"{timeline.names[location]}: time goes back at {event.time}"
            last = event.time
            if event.kind == "ENTER":
                stack.append(event.region())
            elif event.kind == "LEAVE":
                if not stack or stack.pop() != event.region():
                    yield f"{timeline.names[location]}: LEAVE of {event.region()} unmatched"
        if stack and not cut_off:
            yield f"{timeline.names[location]}: no LEAVE of {stack}"
    yield from problems_of_correlation(timeline)
    yield from problems_of_synchronisation(timeline)


def problems_of_correlation(timeline):
    calls = {}
    for event in timeline.events:
        if event.kind == "ENTER" and not timeline.is_stream(event.location):
            number = timeline.correlation(event)
            if number in calls:
                yield f"two calls have correlation {number}"
            if number is not None:
                calls[number] = event
    early = 0
    for location, name, enter, _ in timeline.activities():
        call = calls.get(timeline.correlation(enter))
        if not call:
            yield f"{name}: no call with its correlation {enter.attributes}"
            continue
        early = max(early, call.time - enter.time)
        stream = call.attributes.get("CUDA_STREAM_REF")
        elsewhere = "Graph" in call.region() or "Peer" in call.region()
        if stream not in (None, location) and not elsewhere:
            yield (f"{name} ran on {timeline.names[location]}, its call says "
                   f"{timeline.names[stream]}")
    if early > CLOCK_ERROR_NS:
        yield f"an activity starts {early} ns before its call"


def problems_of_synchronisation(timeline):
    """Work that was queued before a synchronisation began has ended when it returns."""
    calls = {timeline.correlation(event): event for event in timeline.events
             if event.kind == "ENTER" and not timeline.is_stream(event.location)}
    work = [(calls[timeline.correlation(enter)].time, leave.time, location)
            for location, _, enter, leave in timeline.activities()
            if timeline.correlation(enter) and timeline.correlation(enter) in calls]
    work.sort()
    latest = 0
    for events in timeline.by_location.values():
        stack = []
        for event in events:
            if event.kind == "ENTER":
                stack.append(event)
            if event.kind != "LEAVE" or timeline.is_stream(event.location) or not stack:
                continue
            begin, stream = stack.pop(), event.attributes.get("CUDA_STREAM_REF")
            of_stream = event.region() == "cuStreamSynchronize" and stream is not None
            of_context = event.region() in ("cuCtxSynchronize", "cuCtxSynchronize_v2")
            if event.attributes.get("CUDA_DRV_API_RESULT", 0) or not (of_stream or of_context):
                continue
            own = [name for location, name in timeline.names.items() if name.startswith("CUDA[")
                   and timeline.process[location] == timeline.process[event.location]]
            if of_context and len({name.split(":")[0] for name in own}) > 1:
                continue # whose context it is, is not said
            for called, ended, location in work:
                if called >= begin.time:
                    break
                of_process = timeline.process[location] == timeline.process[event.location]
                if of_process and (of_context or location == stream):
                    latest = max(latest, ended - event.time)
    if latest > CLOCK_ERROR_NS:
        yield f"an activity ends {latest} ns after a synchronisation with it returned"


# ---- what the program says ----

def count_of(timeline, key):
    kind, _, name = key.partition(" ")
    activities = list(timeline.activities())
    streams = {location for location, *_ in activities}
    hosts = [event for event in timeline.events if not timeline.is_stream(event.location)]
    if kind == "kernel":
        return sum(1 for _, region, *_ in activities if region == name)
    if kind == "kernel-named":
        return sum(1 for _, region, *_ in activities if name in region)
    if kind == "at-least-kernels":
        return sum(1 for _, _, enter, _ in activities if "CTASCOPE_GRID_X" in enter.attributes)
    if kind == "copy":
        return sum(1 for _, what, *_ in activities if what == name)
    if kind == "bytes":
        return sum(int(re.search(r"Bytes: (\d+)", enter.text)[1])
                   for _, what, enter, _ in activities if what == name)
    if kind == "calls":
        return sum(1 for event in hosts if event.kind == "ENTER" and event.region() == name)
    if kind == "failed":
        return sum(1 for event in hosts if event.kind == "LEAVE" and event.region() == name
                   and event.attributes.get("CUDA_DRV_API_RESULT", 0))
    if kind == "streams":
        return len(streams)
    if kind == "null":
        return sum(1 for l in streams if "CUDA_NULL_STREAM" in timeline.properties[l])
    if kind == "non-blocking":
        return sum(1 for l in streams if "CUDA_STREAM_FLAGS" in timeline.properties[l])
    if kind == "processes":
        return len({timeline.process[event.location] for event in hosts})
    if kind == "threads":
        return len({event.location for event in hosts})
    if kind == "devices":
        return len({timeline.names[location].split(":")[0] for location in streams})
    if kind == "shape":
        name, shape = name.rsplit(" ", 8)[0], [int(word) for word in name.split(" ")[-8:]]
        keys = ["GRID_X", "GRID_Y", "GRID_Z", "BLOCK_X", "BLOCK_Y", "BLOCK_Z", "STATIC_SHARED",
                "DYNAMIC_SHARED"]
        defaults = [None, 1, 1, None, 1, 1, 0, 0] # what goes without saying
        return sum(1 for _, region, enter, _ in activities if region == name and shape ==
                   [enter.attributes.get("CTASCOPE_" + key, default)
                    for key, default in zip(keys, defaults)])
    sys.exit(f"check.py: unknown key '{key}'")


# ---- running ----

class Skip(Exception):
    """The reason why this machine cannot run a case."""


def command_of(case, options, run):
    record = [options.ctascope, "record", "--timeline", "-o", run, "--"]
    if case in PYTHON:
        return record + [sys.executable, os.path.join(HERE, PYTHON[case])]
    if case in ACTIVITIES:
        return record + [program(options, "activities"), case]
    if case == "dropped":
        return record + [program(options, "launches"), "20000", "1", "1"]
    if case == "mpi" and not shutil.which("mpirun"):
        raise Skip("no mpirun")
    launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]
    return (launcher if case == "mpi" else []) + record + [program(options, case)]


def program(options, name):
    path = os.path.join(options.programs, name)
    if not os.path.exists(path):
        raise Skip(f"'{path}' is not there: build.sh makes it where nvcc and its library are")
    return path


def finish(command, limit_s=LIMIT_S, **environment):
    """Runs the command to its end; what hangs is killed with all that it started."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, **environment), start_new_session=True) as running:
        try:
            output, said = running.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            output, said = running.communicate()
            said += f"\nkilled after {limit_s} s"
    return running.returncode, output, said


def figures(timeline, run, case, seconds):
    """What is worth reading of a good run."""
    activities = sum(1 for _ in timeline.activities())
    size = sum(os.path.getsize(os.path.join(folder, file)) for folder, _, files in
               os.walk(os.path.join(run, "timeline")) for file in files)
    count = max(len(timeline.events), 1)
    return (f"{case}: {len(timeline.events):,} events, {activities:,} activities of devices, "
            f"{size / count:.1f} bytes an event, {seconds:.1f} s")


def check_special(case, status, said):
    """The two without an archive to compare: what must be said."""
    if case == "subscriber":
        if not any("another tool" in line for line in said.splitlines()):
            return [f"no line about the other subscriber: {said}"]
        return [] if status in (0, 125) else [f"ended with {status}"]
    if "LOST" in said and status == 0:
        return []
    return [f"nothing is said to be lost: {status}: {said}"]


def check(case, options, where):
    run = os.path.join(where, case)
    shutil.rmtree(run, ignore_errors=True)
    start = time.monotonic()
    environment = {"CTASCOPE_CUPTI_BUFFERS": "1"} if case == "dropped" else {}
    status, output, said = finish(command_of(case, options, run),
                                  PYTHON_LIMIT_S if case in PYTHON else LIMIT_S, **environment)
    if options.verbose:
        print(said, end="")
    if status == SKIPPED:
        raise Skip(output.strip() or said.strip() or "the program has not what it needs")
    if case in ("subscriber", "dropped"):
        print("\n".join(f"{case}: {line}" for line in said.strip().splitlines()[-3:]))
        return check_special(case, status, said)
    problems = []
    if status != OWN_STATUS.get(case, 0):
        problems.append(f"ended with {status}: {output[-500:]}{said[-2000:]}")
    anchor = os.path.join(run, "timeline", "traces.otf2")
    if not os.path.exists(anchor):
        return problems + [f"no archive: {said[-2000:]}"]
    timeline = Timeline(anchor)
    print(figures(timeline, run, case, time.monotonic() - start))
    problems += list(problems_of(timeline, case in CUT_OFF))[:10]
    expected = re.findall(r"^expect (.*) (\d+)$", output, re.M)
    if not expected:
        problems.append("the program expects nothing")
    for key, count in expected:
        seen = count_of(timeline, key)
        if seen < int(count) if key == "at-least-kernels" else seen != int(count):
            problems.append(f"'{key}' is {seen}, should be {count}")
    if case == "times":
        problems += check_times(timeline, output, options)
    return problems


def check_times(timeline, output, options):
    status, unrecorded, said = finish([program(options, "activities"), "times"])
    if status:
        return [f"unrecorded, it ended with {status}: {said}"]
    kernels = [(enter.time, leave.time) for _, name, enter, leave in timeline.activities()
               if name.startswith("timed(")]
    lines, problems = kernel_times.compare(kernels, output, unrecorded)
    print("\n".join(lines))
    return problems[:10]


def check_and_tell(case, options, where):
    """"good", "FAILED" or "skipped"."""
    try:
        problems = check(case, options, where)
    except Skip as reason:
        print(f"{case}: skipped: {reason}")
        return "skipped"
    outcome = "FAILED" if problems else "good"
    print(f"{case}: {outcome}")
    for problem in problems:
        print(f"    {problem}")
    return outcome


def why_not_here():
    """What this machine lacks; None."""
    if not shutil.which("otf2-print"):
        return "no otf2-print"
    try:
        subprocess.run(["nvidia-smi", "-L"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=LIMIT_S)
    except (OSError, subprocess.CalledProcessError):
        return "no NVIDIA GPU"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ctascope", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--keep", metavar="DIRECTORY", help="where the runs stay")
    parser.add_argument("--verbose", action="store_true", help="what record says")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    lacking = why_not_here()
    if lacking:
        print(lacking)
        sys.exit(SKIPPED)
    outcomes = []
    with tempfile.TemporaryDirectory() as temporary:
        for case in options.cases or CASES:
            outcomes.append(check_and_tell(case, options, options.keep or temporary))
            if not options.keep:
                shutil.rmtree(os.path.join(temporary, case), ignore_errors=True)
    only_skipped = options.cases and set(outcomes) == {"skipped"}
    sys.exit(1 if "FAILED" in outcomes else SKIPPED if only_skipped else 0)


if __name__ == "__main__":
    main()
