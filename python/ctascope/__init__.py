"""Reads recordings of CUDA programs that ctascope made.

    import ctascope

    run = ctascope.open("run")
    for launch in run.launches:
        print(launch.kernel.name, launch.grid, launch.accesses)
    a = run.accesses(run.launches[0])          # NumPy arrays: a.address, a.site, a.lane
    loads = [s.site for s in run.sites if s.reads and s.space == "global"]
    print(ctascope.numpy.isin(a.site, loads).sum(), "loads from global memory")
    for finding in run.findings():
        print(finding.finding, finding.place, finding.evidence)
    time = run.timeline()
    print(time.activities(time.locations[0]).end_ns.max())

Units: addresses and sizes are in bytes, times in ns. An access belongs to one lane; one execution of a
memory instruction by a warp makes up to 32 accesses.

The analyses (communication, findings, partition, path) run the ctascope program, which must be on PATH
(or in $CTASCOPE). Tables and arrays come from libctascope, which is searched in the program's
installation (or in $CTASCOPE_LIBRARY).
"""

import ctypes
import dataclasses
import json
import subprocess
import typing

import numpy

from . import _library

__all__ = ["open", "open_timeline", "version", "Run", "Timeline", "Kernel", "Launch", "Site",
           "Allocation", "Location", "Region", "Accesses", "Activities", "Record", "AnalysisError"]


class AnalysisError(RuntimeError):
    """An analysis failed. The text is the error message of the program."""


class Record(dict):
    """A row of an analysis result: a dictionary whose members can also be read as attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no member '{name}' (members: {', '.join(self)})") from None


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel. `name` is as in the source; `line` 0 means unknown."""

    kernel: int
    name: str
    mangled_name: typing.Optional[str]
    path: typing.Optional[str]
    line: int
    static_shared_bytes: int
    is_instrumented: bool


@dataclasses.dataclass(frozen=True)
class Launch:
    """One execution of a kernel. `recorded` says how many of its accesses were recorded: "all",
    "sample" (some thread blocks) or "none"."""

    launch: int
    kernel: Kernel
    rank: int
    device: int
    stream: int
    ordinal: int
    grid: tuple
    block: tuple
    dynamic_shared_bytes: int
    recorded: str
    op: int
    call_ns: int
    start_ns: int
    end_ns: int
    records: int
    accesses: int
    dropped_accesses: int


@dataclasses.dataclass(frozen=True)
class Site:
    """One memory instruction. `operation` is "load", "store", "atomic add", ...; `space` is "global",
    "shared", "local", "constant", or "generic" if it is known only at run time."""

    site: int
    operation: str
    space: str
    reads: bool
    writes: bool
    width_bytes: int
    function: typing.Optional[str]
    path: typing.Optional[str]
    line: int
    column: int
    inlined_at: typing.Optional[str]
    type: typing.Optional[str]
    variable: typing.Optional[str]


@dataclasses.dataclass(frozen=True)
class Allocation:
    """An allocation. `freed_op` is None if it was never freed."""

    allocation: int
    rank: int
    device: int
    address: int
    size_bytes: int
    op: int
    freed_op: typing.Optional[int]
    kind: str
    call: typing.Optional[str]
    variable: typing.Optional[str]
    type: typing.Optional[str]
    path: typing.Optional[str]
    function: typing.Optional[str]
    element_bytes: int
    line: int
    column: int


@dataclasses.dataclass(frozen=True)
class Accesses:
    """Accesses as arrays of equal length. A column that was not requested is None. Accesses of a launch
    are contiguous; accesses of a thread block (CTA) are in recorded order."""

    address: typing.Optional[numpy.ndarray] = None
    site: typing.Optional[numpy.ndarray] = None
    lane: typing.Optional[numpy.ndarray] = None
    launch: typing.Optional[numpy.ndarray] = None
    cta: typing.Optional[numpy.ndarray] = None
    warp: typing.Optional[numpy.ndarray] = None

    def __len__(self):
        return next((len(c) for c in vars(self).values() if c is not None), 0)


@dataclasses.dataclass(frozen=True)
class Location:
    """A host thread or a device stream. `events` 0 means unknown."""

    location: int
    name: str
    process: typing.Optional[str]
    rank: int
    is_stream: bool
    events: int
    is_missing: bool


@dataclasses.dataclass(frozen=True)
class Region:
    """A function, an API call or a kernel."""

    region: int
    name: str
    path: typing.Optional[str]
    line: int


@dataclasses.dataclass(frozen=True)
class Activities:
    """Activities of one location as arrays, sorted by start, callers before callees."""

    start_ns: numpy.ndarray
    end_ns: numpy.ndarray
    region: numpy.ndarray
    depth: numpy.ndarray

    def __len__(self):
        return len(self.start_ns)


def _text(value):
    return None if value is None else value.decode("utf-8", "replace")


def _row(row_type, info, **given):
    """Makes a row of a dataclass from a struct of the library, by copying members of the same name."""
    members = {}
    for field in dataclasses.fields(row_type):
        if field.name in given:
            members[field.name] = given[field.name]
            continue
        value = getattr(info, field.name)
        if value is None or isinstance(value, bytes):
            value = _text(value)
        elif field.type is bool:
            value = bool(value)
        members[field.name] = value
    return row_type(**members)


_COLUMNS = {"address": ("addresses", numpy.uint64), "site": ("sites", numpy.uint32),
            "lane": ("lanes", numpy.uint8), "launch": ("launches", numpy.uint32),
            "cta": ("ctas", numpy.uint32), "warp": ("warps", numpy.uint32)}


class Run:
    """A recording, opened by open(). Tables are read when it is opened, accesses when they are requested."""

    def __init__(self, path):
        self.path = path
        self._handle = _library.open_handle("cts_run_open", path)
        rows, handle = _library.rows, self._handle
        self.kernels = [_row(Kernel, k) for k in rows("run_kernel", handle, _library.KernelInfo)]
        self.launches = [
            _row(Launch, launch, kernel=self.kernels[launch.kernel], grid=tuple(launch.grid),
                 block=tuple(launch.block), recorded=_library.RECORDED[launch.recorded])
            for launch in rows("run_launch", handle, _library.LaunchInfo)]
        self.sites = [_row(Site, site) for site in rows("run_site", handle, _library.SiteInfo)]
        self.allocations = [
            _row(Allocation, a, freed_op=None if a.freed_op == _library.NEVER else a.freed_op)
            for a in rows("run_allocation", handle, _library.AllocationInfo)]

    def close(self):
        """Frees the memory of the run. Arrays and rows that it returned stay valid."""
        if self._handle:
            _library.library().cts_run_close(self._handle)
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()

    def __repr__(self):
        return f"<ctascope run '{self.path}': {len(self.launches)} launches of {len(self.kernels)} kernels>"

    def key(self, name):
        """Returns the value of a key of the run ("command", "host", "created", ...), or None."""
        return _text(_library.library().cts_run_key(self._open_handle(), name.encode()))

    @property
    def is_complete(self):
        """Whether every recording process ended normally and nothing is missing from the run."""
        return bool(_library.library().cts_run_is_complete(self._open_handle()))

    @property
    def dropped_accesses(self):
        """Number of accesses not recorded because a size limit was reached or the disk was full."""
        return _library.library().cts_run_dropped_accesses(self._open_handle())

    def _open_handle(self):
        if not self._handle:
            raise ValueError(f"the run '{self.path}' is closed")
        return self._handle

    def accesses(self, launch=None, columns=("address", "site", "lane")):
        """Returns the accesses of a launch as NumPy arrays.

        launch: a Launch or its id. None: all launches.
        columns: any of "address", "site", "lane", "launch", "cta", "warp". Per access, addresses take
        8 bytes, lanes 1 byte, and every other column 4 bytes.
        """
        unknown = [c for c in columns if c not in _COLUMNS]
        if unknown:
            raise ValueError(f"unknown column '{unknown[0]}' (one of: {', '.join(_COLUMNS)})")
        number = _library.UNKNOWN if launch is None else getattr(launch, "launch", launch)
        library, handle = _library.library(), ctypes.c_void_p()
        error = ctypes.create_string_buffer(_library.ERROR_BYTES)
        _library.check(library.cts_accesses_open(self._open_handle(), number, ctypes.byref(handle), error,
                                                 _library.ERROR_BYTES), error.value)
        try:
            count = library.cts_accesses_left(handle)
            request, arrays = _library.AccessColumns(), {}
            request.capacity = count
            for column in columns:
                member, kind = _COLUMNS[column]
                arrays[column] = numpy.empty(count, kind)
                setattr(request, member, arrays[column].ctypes.data)
            filled = library.cts_accesses_fill(handle, ctypes.byref(request)) if count else 0
            if filled != count:
                raise ValueError(_text(library.cts_accesses_error(handle)) or
                                 f"'{self.path}' has {filled} accesses where its index says {count}")
            return Accesses(**arrays)
        finally:
            library.cts_accesses_close(handle)

    def timeline(self):
        """Opens the timeline of the run. ValueError if the run was recorded without --timeline."""
        return Timeline(self.path)

    def analyse(self, verb, *options):
        """Runs `ctascope VERB RUN OPTIONS --format json` and returns its output as a Record."""
        return _analyse(verb, self.path, options)

    def communication(self, *options):
        """Runs `ctascope comm`: how thread blocks communicate (docs/communication.md)."""
        return self.analyse("comm", *options)

    def findings(self, *options):
        """Runs `ctascope access` and returns its findings, worst first (docs/access.md)."""
        return self.analyse("access", *options).findings

    def partition(self, *options):
        """Runs `ctascope partition`: the cost of splitting the grid over several GPUs (docs/partition.md)."""
        return self.analyse("partition", *options)

    def critical_path(self, *options):
        """Runs `ctascope path`: the critical path, wait states and blame (docs/path.md)."""
        return self.analyse("path", *options)


class Timeline:
    """The timeline of a run, or an OTF2 archive of another tool, opened by open_timeline()."""

    def __init__(self, path):
        self.path = path
        self._handle = _library.open_handle("cts_archive_open", path)
        rows, handle = _library.rows, self._handle
        self.locations = [_row(Location, l) for l in rows("archive_location", handle, _library.LocationInfo)]
        self.regions = [_row(Region, r) for r in rows("archive_region", handle, _library.RegionInfo)]

    def close(self):
        """Frees the memory of the timeline. Arrays and rows that it returned stay valid."""
        if self._handle:
            _library.library().cts_archive_close(self._handle)
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()

    def __repr__(self):
        return f"<ctascope timeline '{self.path}': {len(self.locations)} locations, {len(self.regions)} regions>"

    def activities(self, location):
        """Returns the activities of a location (a Location or its index) as NumPy arrays."""
        if not self._handle:
            raise ValueError(f"the timeline '{self.path}' is closed")
        number = getattr(location, "location", location)
        columns = _library.ActivityColumns()
        count = self._fill(number, columns)
        arrays = {"start_ns": numpy.empty(count, numpy.uint64), "end_ns": numpy.empty(count, numpy.uint64),
                  "region": numpy.empty(count, numpy.uint32), "depth": numpy.empty(count, numpy.uint32)}
        columns.capacity = count
        columns.starts_ns, columns.ends_ns = (arrays[a].ctypes.data for a in ("start_ns", "end_ns"))
        columns.regions, columns.depths = (arrays[a].ctypes.data for a in ("region", "depth"))
        if count:
            self._fill(number, columns)
        return Activities(**arrays)

    def _fill(self, number, columns):
        count, error = ctypes.c_uint64(), ctypes.create_string_buffer(_library.ERROR_BYTES)
        _library.check(_library.library().cts_archive_activities(
            self._handle, number, ctypes.byref(columns), ctypes.byref(count), error, _library.ERROR_BYTES),
            error.value)
        return count.value

    def critical_path(self, *options):
        """Runs `ctascope path`: the critical path, wait states and blame (docs/path.md)."""
        return _analyse("path", self.path, options)


def _analyse(verb, path, options):
    program = _library.program_path()
    if not program:
        raise AnalysisError("the ctascope program is not found: put it on PATH, or set CTASCOPE to its path")
    done = subprocess.run([program, verb, *map(str, options), "--format", "json", "--", str(path)],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise AnalysisError(done.stderr.strip() or f"ctascope {verb} ended with {done.returncode}")
    return json.loads(done.stdout, object_hook=Record)


def open(path):  # noqa: A001 (the module's name is before it)
    """Opens a run directory and returns a Run. Raises OSError or ValueError with one line of text."""
    return Run(path)


def open_timeline(path):
    """Opens the timeline of a run directory, or an OTF2 archive (its anchor file), as a Timeline."""
    return Timeline(path)


def version():
    """Returns the library's version."""
    return _text(_library.library().cts_version())
