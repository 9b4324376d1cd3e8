#!/usr/bin/env python3
"""Records a GPU program's timeline and compares the archive, as otf2-print shows it, with what the
program says it did ("expect KEY COUNT") and with what must hold of every timeline:

    check.py --ctascope PROGRAM --programs DIRECTORY [--keep DIRECTORY] [--verbose] CASE...

Ends with 77 where there is no GPU. Without CASE: all of them.
"""
import argparse
import collections
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
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


Batch = collections.namedtuple("Batch", "us size events kernels own")


def batches_of(output):
    """What the program measured: events around a batch, and the device's clock inside its kernels."""
    batches = []
    for word, us, size, ns in re.findall(r"^(batch|kernel) (\d+)(?: (\d+))?: (\d+)$", output, re.M):
        if word == "batch":
            batches.append(Batch(int(us), int(size), int(ns), [], []))
        else:
            batches[-1].own.append(int(ns))
    return batches


def slope(batches, us, time_of):
    """Of kernels of a length: the time of one more in a batch."""
    sizes = sorted({batch.size for batch in batches})[-2:]
    small, large = (statistics.median(time_of(batch) for batch in batches
                                      if (batch.us, batch.size) == (us, size)) for size in sizes)
    return (large - small) / (sizes[1] - sizes[0])


def compare_times(timeline, output, unrecorded):
    """Kernel times against CUDA events around batches of the same launches, and against the
    kernels' own looks at the clock: within 2%, or 1 us. One more in a batch is a kernel and the gap
    before it, for the events as in the timeline; beside an empty kernel, the gap falls out."""
    batches, alone = batches_of(output), batches_of(unrecorded)
    kernels = sorted((enter.time, leave.time) for _, name, enter, leave in timeline.activities()
                     if name.startswith("timed("))
    if len(kernels) != sum(batch.size for batch in batches):
        yield f"{len(kernels)} kernels, {sum(batch.size for batch in batches)} were launched"
        return
    for batch in batches:
        batch.kernels.extend(kernels[:batch.size])
        del kernels[:batch.size]
    print("times: ns, medians. kernel: as recorded; own: by the clock inside it; gap: to the next; "
          "period: kernel and gap, as recorded, by events, and by events of a run without recorder;"
          " around one: events around one kernel, less the kernel")
    print("times:      us   kernel      own    gap    period    events   without  around one")
    empty = None
    for us in sorted({batch.us for batch in batches}):
        empty, problems = compare_length(us, batches, alone, empty)
        yield from problems


def compare_length(us, batches, alone, empty):
    """`empty`: kernel and events' time of the shortest; returns it, and what is wrong."""
    own_batches = [batch for batch in batches if batch.us == us]
    median = statistics.median
    kernel = median(end - start for batch in own_batches for start, end in batch.kernels)
    own = median(ns for batch in own_batches for ns in batch.own)
    gap = median(batch.kernels[i + 1][0] - batch.kernels[i][1]
                 for batch in own_batches for i in range(batch.size - 1))
    around = median(batch.events - (batch.kernels[0][1] - batch.kernels[0][0])
                    for batch in own_batches if batch.size == 1)
    period = slope(batches, us, lambda batch: batch.kernels[-1][1] - batch.kernels[0][0])
    events = slope(batches, us, lambda batch: batch.events)
    without = slope(alone, us, lambda batch: batch.events)
    print(f"times: {us:7} {kernel:8.0f} {own:8.0f} {gap:6.0f} {period:9.0f} {events:9.0f} "
          f"{without:9.0f} {around:11.0f}")
    empty = empty or (kernel, events)
    problems = []
    for what, ours, theirs in (("kernel and gap, by events", period, events),
                               ("beyond an empty one, by events", kernel - empty[0],
                                events - empty[1]),
                               ("kernel, by its own clock", kernel, own),
                               ("kernel and gap, by events without recorder", period, without)):
        if abs(ours - theirs) > max(0.02 * theirs, 1000):
            problems.append(f"kernel of {us} us: {what}: {ours:.0f} ns, not {theirs:.0f} ns")
    for batch in own_batches:
        for (start, end), ns in zip(batch.kernels, batch.own):
            if abs(end - start - ns) > max(0.02 * ns, 1000):
                problems.append(f"kernel of {us} us: one took {end - start} ns, by its own clock "
                                f"{ns} ns")
    return empty, problems


# ---- running ----

def command_of(case, options, run):
    record = [options.ctascope, "record", "--timeline", "-o", run, "--"]
    if case in PYTHON:
        return record + [sys.executable, os.path.join(HERE, PYTHON[case])]
    if case in ACTIVITIES:
        return record + [os.path.join(options.programs, "activities"), case]
    if case == "dropped":
        return record + [os.path.join(options.programs, "launches"), "20000", "1", "1"]
    launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]
    return (launcher if case == "mpi" else []) + record + [os.path.join(options.programs, case)]


def check(case, options, where):
    run = os.path.join(where, case)
    shutil.rmtree(run, ignore_errors=True)
    environment = dict(os.environ, CTASCOPE_CUPTI_BUFFERS="1") if case == "dropped" else None
    if case == "mpi" and not (shutil.which("mpirun") and
                              os.path.exists(os.path.join(options.programs, "mpi"))):
        return None
    done = subprocess.run(command_of(case, options, run), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300, env=environment)
    if options.verbose:
        print(done.stderr, end="")
    if done.returncode == SKIPPED:
        return None
    said = done.stderr.strip().splitlines()
    if case == "subscriber":
        if not any("another tool" in line for line in said):
            return [f"no line about the other subscriber: {done.stderr}"]
        return [] if done.returncode in (0, 125) else [f"ended with {done.returncode}"]
    if case == "dropped":
        lost = any("LOST" in line for line in said) and done.returncode == 0
        return [] if lost else [f"nothing is said to be lost: {done.returncode}: {done.stderr}"]
    problems = []
    if done.returncode != OWN_STATUS.get(case, 0):
        problems.append(f"ended with {done.returncode}: {done.stdout[-500:]}{done.stderr[-2000:]}")
    anchor = os.path.join(run, "timeline", "traces.otf2")
    if not os.path.exists(anchor):
        return problems + [f"no archive: {done.stderr[-2000:]}"]
    timeline = Timeline(anchor)
    problems += list(problems_of(timeline, case in CUT_OFF))[:10]
    expected = re.findall(r"^expect (.*) (\d+)$", done.stdout, re.M)
    if not expected:
        problems.append("the program expects nothing")
    for key, count in expected:
        seen = count_of(timeline, key)
        if seen < int(count) if key == "at-least-kernels" else seen != int(count):
            problems.append(f"'{key}' is {seen}, should be {count}")
    if case == "times":
        unrecorded = subprocess.run([os.path.join(options.programs, "activities"), "times"],
                                    stdout=subprocess.PIPE, text=True, timeout=300, check=True)
        problems += list(compare_times(timeline, done.stdout, unrecorded.stdout))[:10]
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ctascope", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--keep", metavar="DIRECTORY", help="where the runs stay")
    parser.add_argument("--verbose", action="store_true", help="what record says")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    try:
        subprocess.run(["nvidia-smi", "-L"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        print("no NVIDIA GPU")
        sys.exit(SKIPPED)
    failed = skipped = 0
    with tempfile.TemporaryDirectory() as temporary:
        for case in options.cases or CASES:
            problems = check(case, options, options.keep or temporary)
            skipped += problems is None
            failed += bool(problems)
            print(f"{case}: {'skipped' if problems is None else 'FAILED' if problems else 'good'}")
            for problem in problems or []:
                print(f"    {problem}")
    sys.exit(1 if failed else SKIPPED if options.cases and skipped == len(options.cases) else 0)


if __name__ == "__main__":
    main()
