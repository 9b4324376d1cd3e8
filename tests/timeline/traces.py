"""What the tests of timelines share: recording with `record --timeline`, and the archive as OTF2's own
otf2-print shows it, so that our reader takes no part.

    NAME.py CTASCOPE PROGRAM_DIRECTORY [unittest's arguments]

A Trace has locations, each with its events in order and its activities (matched ENTER and LEAVE).
Times are ns.
"""
import collections
import glob
import os
import re
import subprocess
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "record"))
sys.dont_write_bytecode = True
import support  # noqa: E402  (tests/record/support.py)

main = support.main
MS = 1000000

# ---- programs ----


def _header_state():
    """Changes with the headers of the examples, which support.compiled does not look into."""
    state = 0
    for path in sorted(glob.glob(os.path.join(support.EXAMPLES, "timeline", "*.h"))):
        with open(path, "rb") as file:
            state = zlib.crc32(file.read(), state)
    return state


def _mpi_flags(wrapper):
    """What the compiler wrapper of an MPI adds, before and behind the sources."""
    done = subprocess.run([wrapper, "-show"], stdout=subprocess.PIPE, text=True, check=True)
    words = done.stdout.split()[1:]
    return ([word for word in words if word.startswith("-I")],
            [word for word in words if word.startswith(("-L", "-l"))])


def example(name, mpi=None):
    """The program of examples/timeline/NAME.cu; `mpi`: "openmpi" or "mpich"."""
    words = ["-O2", f"-DEXAMPLE_HEADERS={_header_state()}"]
    before, after = _mpi_flags(f"mpicc.{mpi}") if mpi else ([], [])
    return support.compiled(*words, *before, f"timeline/{name}.cu", *after, example=True)


def program(name, *words):
    """The program of tests/timeline/programs/NAME.cu."""
    return support.compiled("-O2", *words, os.path.join(HERE, "programs", f"{name}.cu"))


# ---- archives ----

SHAPE = re.compile(r"launch: grid (\d+)x(\d+)x(\d+), block (\d+)x(\d+)x(\d+), registers (\d+), "
                   r"static shared (\d+), dynamic shared (\d+)")
SHAPE_NAMES = [f"CTASCOPE_{name}" for name in (
    "GRID_X", "GRID_Y", "GRID_Z", "BLOCK_X", "BLOCK_Y", "BLOCK_Z", "REGISTERS", "STATIC_SHARED",
    "DYNAMIC_SHARED")]


def with_shape(attributes, description):
    """A launch's attributes with those that its kernel's region says for all."""
    match = SHAPE.fullmatch(description)
    if match:
        for name, value in zip(SHAPE_NAMES, match.groups()):
            attributes.setdefault(name, int(value))


Event = collections.namedtuple("Event", "kind time fields attributes")


class Activity:
    """`enter` and `leave` are the attributes of the two events, `inside` what lies between them but
    for other activities."""
    def __init__(self, name, start, enter):
        self.name, self.start, self.enter = name, start, enter
        self.end, self.leave, self.inside = None, None, []

    def __repr__(self):
        return f"{self.name}[{self.start}..{self.end}]"

    def shape(self, what):
        """`what`: "GRID" or "BLOCK"; extents that are 1 may be left out."""
        return tuple(self.enter.get(f"CTASCOPE_{what}_{axis}", 1) for axis in "XYZ")

    @property
    def length(self):
        return self.end - self.start

    def overlaps(self, other):
        return self.start < other.end and other.start < self.end


# `remote` is the number of a location: the host's, or another stream's.
Copy = collections.namedtuple("Copy", "kind start end bytes remote attributes")


class Location:
    def __init__(self, number, name, kind, rank):
        self.number, self.name, self.kind, self.rank = number, name, kind, rank
        self.properties = {}
        self.events, self._activities, self._copies = [], None, None
        match = re.fullmatch(r"CUDA\[(\d+):(\d+)\]", name)
        self.device, self.ordinal = (int(match[1]), int(match[2])) if match else (None, None)

    def activities(self, pattern=None):
        """In order of their starts; those that were never left have no end."""
        if self._activities is None:
            self._activities = self._find_activities()
        return [a for a in self._activities if pattern is None or re.fullmatch(pattern, a.name)]

    def _find_activities(self):
        result, stack = [], []
        for event in self.events:
            if event.kind == "ENTER":
                stack.append(Activity(event.fields["Region"], event.time, event.attributes))
                result.append(stack[-1])
            elif event.kind == "LEAVE":
                assert stack, f"{self.name}: LEAVE {event.fields['Region']} without ENTER"
                activity = stack.pop()
                assert activity.name == event.fields["Region"], (activity.name, event)
                activity.end, activity.leave = event.time, event.attributes
            elif stack:
                stack[-1].inside.append(event)
        return result

    def copies(self):
        """RMA operations with their completions, in order of their starts."""
        if self._copies is None:
            self._copies = self._find_copies()
        return self._copies

    def _find_copies(self):
        result, pending = [], collections.defaultdict(list)
        for event in self.events:
            if event.kind in ("RMA_GET", "RMA_PUT"):
                pending[event.fields["Matching"]].append(event)
            elif event.kind.startswith("RMA_OP_COMPLETE"):
                start = pending[event.fields["Matching"]].pop(0)
                remote = _reference(start.fields["Remote"])
                result.append(Copy(start.kind, start.time, event.time, int(start.fields["Bytes"]),
                                   remote, start.attributes))
        assert not any(pending.values()), f"{self.name}: a copy without completion"
        return sorted(result, key=lambda copy: copy.start)


DEFINITION = re.compile(r"(LOCATION_GROUP|LOCATION_PROPERTY|LOCATION|REGION|CLOCK_PROPERTIES)"
                        r"\s+(\d*)\s*(.*)")
EVENT = re.compile(r"([A-Z_0-9]+)\s+(\d+)\s+(\d+)\s*(.*)")
FIELD = re.compile(r'(?:^|, )([A-Z#][A-Za-z #.]*): '
                   r'("(?:[^"\\]|\\.)*"(?: <\d+>)?|[^,("]*(?:\((?:[^)"]|"(?:[^"\\]|\\.)*")*\))?)')
ATTRIBUTE = re.compile(r'\("([^"]+)" <\d+>; (\w+); (.*?)\)(?=, \(|$)')


def _plain(value):
    match = re.fullmatch(r'"(.*)" <\d+>|"(.*)"', value)
    if not match:
        return value
    return match[1] if match[1] is not None else match[2]


def _reference(value):
    return int(re.search(r"<(\d+)>", value)[1])


class Trace:
    def __init__(self, anchor):
        self.anchor = anchor
        self.locations, self.regions = {}, {}
        self.warnings = []
        self._read_definitions()
        self._read_events()

    def _print(self, *options):
        done = subprocess.run(["otf2-print", *options, self.anchor], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode or done.stderr or "error" in done.stdout[-2000:].lower():
            self.warnings.append(f"{done.returncode} {done.stderr} {done.stdout[-2000:]}")
        return done.stdout.splitlines()

    def _read_definitions(self):
        groups = {}
        for line in self._print("-G"):
            match = DEFINITION.match(line)
            if not match:
                continue
            kind, number, rest = match.groups()
            fields = dict(FIELD.findall(rest))
            if kind == "LOCATION_GROUP":
                creator = re.search(r"Creator: .*<(\d+)>", rest)
                groups[int(number)] = (_plain(fields["Name"]), creator and int(creator[1]))
            elif kind == "LOCATION":
                group = groups[_reference(fields["Group"])]
                if group[1] is not None:
                    group = groups[group[1]]
                rank = re.search(r"(\d+)$", group[0])
                self.locations[int(number)] = Location(int(number), _plain(fields["Name"]),
                                                       fields["Type"],
                                                       int(rank[1]) if rank else 0)
            elif kind == "LOCATION_PROPERTY":
                location = self.locations[_reference(fields["Location"])]
                location.properties[_plain(fields["Name"])] = _plain(fields["Value"])
            elif kind == "REGION":
                self.regions[_plain(fields["Name"])] = {key: _plain(value)
                                                        for key, value in fields.items()}

    def _read_events(self):
        last = None
        for line in self._print():
            if "ADDITIONAL ATTRIBUTES:" in line and last:
                for name, kind, value in ATTRIBUTE.findall(line):
                    last.attributes[name] = (self.locations[_reference(value)]
                                             if kind == "LOCATION" else int(value))
                continue
            match = EVENT.match(line)
            if not match or int(match[2]) not in self.locations:
                continue
            fields = {key: _plain(value) for key, value in FIELD.findall(match[4])}
            last = Event(match[1], int(match[3]), fields, {})
            self.locations[int(match[2])].events.append(last)
        for location in self.locations.values():
            for event in location.events:
                if event.kind == "ENTER":
                    region = self.regions[event.fields["Region"]]
                    with_shape(event.attributes, region["Descr."])

    def streams(self, rank=None):
        return sorted((one for one in self.locations.values()
                       if one.kind in ("ACCELERATOR_STREAM", "GPU") and rank in (None, one.rank)),
                      key=lambda one: (one.rank, one.device, one.ordinal))

    def threads(self, rank=None):
        return sorted((one for one in self.locations.values()
                       if one.kind == "CPU_THREAD" and rank in (None, one.rank)),
                      key=lambda one: (one.rank, one.number))

    def calls(self, pattern=None, rank=None):
        """Activities of all threads (of a rank) in order of their starts."""
        found = [a for thread in self.threads(rank) for a in thread.activities(pattern)]
        return sorted(found, key=lambda a: a.start)

    def kernels(self, pattern=None, rank=None):
        """Activities of streams; names are matched up to the parameters."""
        expression = None if pattern is None else rf"{pattern}(\(.*\))?"
        found = [a for stream in self.streams(rank) for a in stream.activities(expression)]
        return sorted(found, key=lambda a: a.start)

    def copies(self, rank=None):
        return sorted((copy for stream in self.streams(rank) for copy in stream.copies()),
                      key=lambda copy: copy.start)

    def counts(self, rank=None):
        """Name of a call -> how often."""
        return collections.Counter(a.name for a in self.calls(rank=rank))


class TimelineTest(support.RecordTest):
    """Tests whose programs run for times of their own run several kernels side by side, on however
    few cores."""
    ENVIRONMENT = {"CTASCOPE_WORKERS": 4}

    def record_timeline(self, run, *words, options=(), env=None, **more):
        variables = {**self.ENVIRONMENT, **(env or {})}
        return self.record(run, *words, options=["--timeline", *options],
                           env=support.environment(**variables), **more)

    def trace(self, run):
        trace = Trace(os.path.join(run, "timeline", "traces.otf2"))
        self.assertEqual(trace.warnings, [], "otf2-print complains")
        self.check_sound(trace)
        return trace

    def check_sound(self, trace):
        """What holds for every archive: order of times, nesting, works after their calls."""
        correlated = {}
        for location in trace.locations.values():
            times = [event.time for event in location.events]
            self.assertEqual(times, sorted(times), f"{location.name}: times go back")
            if location.kind != "CPU_THREAD":
                continue
            for call in location.activities():
                number = call.enter.get("CTASCOPE_CORRELATION")
                if number is not None:
                    self.assertNotIn((location.rank, number), correlated, "two calls share it")
                    correlated[location.rank, number] = call
        for stream in trace.streams():
            works = [(a.start, a.enter) for a in stream.activities()]
            works += [(copy.start, copy.attributes) for copy in stream.copies()]
            for start, attributes in works:
                call = correlated.get((stream.rank, attributes.get("CTASCOPE_CORRELATION")))
                self.assertIsNotNone(call, f"{stream.name}: work at {start} without a call")
                self.assertLessEqual(call.start, start)
                self.assertIs(call.enter["CUDA_STREAM_REF"], stream)

    def only(self, items, count=1):
        self.assertEqual(len(items), count, items)
        return next(iter(items)) if count == 1 else items
