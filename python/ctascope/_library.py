"""The C library through ctypes: its structs and functions, as ctascope.h declares them."""

import ctypes
import ctypes.util
import os
import shutil

ERROR_BYTES = 1000
UNKNOWN = 0xFFFFFFFF
NEVER = 0xFFFFFFFFFFFFFFFF
RECORDED = ("none", "sample", "all")

_u32, _u64, _text = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_char_p


class Info(ctypes.Structure):
    """A struct that the caller allocates: it begins with its size."""

    def __init__(self):
        super().__init__()
        self.struct_size = ctypes.sizeof(self)


def _info(name, fields):
    return type(name, (Info,), {"_fields_": [("struct_size", _u32)] + fields})


KernelInfo = _info("KernelInfo", [
    ("kernel", _u32), ("is_instrumented", ctypes.c_int), ("name", _text), ("mangled_name", _text),
    ("path", _text), ("line", _u32), ("static_shared_bytes", _u32)])

LaunchInfo = _info("LaunchInfo", [
    ("launch", _u32), ("rank", _u32), ("device", _u32), ("stream", _u32), ("ordinal", _u32),
    ("kernel", _u32), ("grid", _u32 * 3), ("block", _u32 * 3), ("dynamic_shared_bytes", _u32),
    ("recorded", ctypes.c_int), ("op", _u64), ("call_ns", _u64), ("start_ns", _u64),
    ("end_ns", _u64), ("records", _u64), ("accesses", _u64), ("dropped_accesses", _u64)])

SiteInfo = _info("SiteInfo", [
    ("site", _u32), ("operation", _text), ("space", _text), ("reads", ctypes.c_int),
    ("writes", ctypes.c_int), ("width_bytes", _u32), ("function", _text), ("path", _text),
    ("line", _u32), ("column", _u32), ("inlined_at", _text), ("type", _text), ("variable", _text)])

AllocationInfo = _info("AllocationInfo", [
    ("allocation", _u32), ("rank", _u32), ("device", _u32), ("address", _u64), ("size_bytes", _u64),
    ("op", _u64), ("freed_op", _u64), ("kind", _text), ("call", _text), ("variable", _text),
    ("type", _text), ("path", _text), ("function", _text), ("element_bytes", _u32), ("line", _u32),
    ("column", _u32)])

AccessColumns = _info("AccessColumns", [
    ("capacity", ctypes.c_size_t), ("addresses", ctypes.c_void_p), ("launches", ctypes.c_void_p),
    ("sites", ctypes.c_void_p), ("ctas", ctypes.c_void_p), ("warps", ctypes.c_void_p),
    ("lanes", ctypes.c_void_p)])

LocationInfo = _info("LocationInfo", [
    ("location", _u32), ("is_stream", ctypes.c_int), ("rank", _u32), ("name", _text),
    ("process", _text), ("events", _u64), ("is_missing", ctypes.c_int)])

RegionInfo = _info("RegionInfo", [
    ("region", _u32), ("name", _text), ("path", _text), ("line", _u32)])

ActivityColumns = _info("ActivityColumns", [
    ("capacity", ctypes.c_size_t), ("starts_ns", ctypes.c_void_p), ("ends_ns", ctypes.c_void_p),
    ("regions", ctypes.c_void_p), ("depths", ctypes.c_void_p)])


def _candidates():
    """Where the library may be, best first: as told, beside the program on PATH, as the system finds it."""
    told = os.environ.get("CTASCOPE_LIBRARY")
    if told:
        yield told
        return
    program = program_path()
    if program:
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(program)))
        lib = os.path.join(prefix, "lib")
        yield os.path.join(lib, "libctascope.so.0")
        if os.path.isdir(lib):
            for folder in sorted(os.listdir(lib)):  # lib/x86_64-linux-gnu
                yield os.path.join(lib, folder, "libctascope.so.0")
    yield "libctascope.so.0"


def program_path():
    """The ctascope program: $CTASCOPE, or the one on PATH; None: there is none."""
    return os.environ.get("CTASCOPE") or shutil.which("ctascope")


def _declare(library):
    run, accesses, archive, text = (ctypes.c_void_p,) * 3 + (ctypes.c_char_p,)
    size, out = ctypes.c_size_t, ctypes.POINTER
    functions = {
        "version": (text, []),
        "run_open": (ctypes.c_int, [text, out(run), text, size]),
        "run_close": (None, [run]),
        "run_key": (text, [run, text]),
        "run_is_complete": (ctypes.c_int, [run]),
        "run_dropped_accesses": (_u64, [run]),
        "accesses_open": (ctypes.c_int, [run, _u32, out(accesses), text, size]),
        "accesses_left": (_u64, [accesses]),
        "accesses_fill": (ctypes.c_int64, [accesses, out(AccessColumns)]),
        "accesses_error": (text, [accesses]),
        "accesses_close": (None, [accesses]),
        "archive_open": (ctypes.c_int, [text, out(archive), text, size]),
        "archive_close": (None, [archive]),
        "archive_activities": (ctypes.c_int, [archive, size, out(ActivityColumns), out(_u64), text, size]),
    }
    for table, owner, info in (("run_kernel", run, KernelInfo), ("run_launch", run, LaunchInfo),
                               ("run_site", run, SiteInfo), ("run_allocation", run, AllocationInfo),
                               ("archive_location", archive, LocationInfo),
                               ("archive_region", archive, RegionInfo)):
        functions[table] = (ctypes.c_int, [owner, size, out(info)])
        functions[table + "_count"] = (size, [owner])
    for name, (result, arguments) in functions.items():
        function = getattr(library, "cts_" + name)
        function.restype, function.argtypes = result, arguments
    return library


_library = None


def library():
    """The library, loaded at first use. OSError: it is not found, and where it was looked for."""
    global _library
    if _library is None:
        tried = []
        for path in _candidates():
            try:
                _library = _declare(ctypes.CDLL(path))
                break
            except (OSError, AttributeError) as failure:
                tried.append(f"{path} ({failure})")
        else:
            raise OSError("libctascope is not found; set CTASCOPE_LIBRARY to its path. Tried: " + "; ".join(tried))
    return _library


def rows(table, owner, info_type):
    """All rows of one of the library's tables, as structs."""
    count = getattr(library(), f"cts_{table}_count")(owner)
    get = getattr(library(), f"cts_{table}")
    for index in range(count):
        info = info_type()
        if get(owner, index, ctypes.byref(info)):
            raise RuntimeError(f"{table} {index} cannot be read")
        yield info


def open_handle(function, path):
    """What a function cts_..._open() opens; OSError or ValueError with its text."""
    handle, error = ctypes.c_void_p(), ctypes.create_string_buffer(ERROR_BYTES)
    result = getattr(library(), function)(os.fsencode(path), ctypes.byref(handle), error, ERROR_BYTES)
    check(result, error.value)
    return handle


def check(result, text):
    """Raises what an enum cts_result other than 0 means."""
    if result == 0:
        return
    kinds = {1: OSError, 5: MemoryError}
    raise kinds.get(result, ValueError)(text.decode("utf-8", "replace"))
