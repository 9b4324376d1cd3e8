#!/usr/bin/env python3
"""The GPU recorder without a GPU: a program that plays CUDA, and a CUPTI that is none.

    check.py CTASCOPE PROGRAM FAKE_CUPTI WORK_DIRECTORY CASE

Counts are compared through otf2-print as tests/gpu/check.py does; messages as `ctascope info` has
them or `record` says them."""
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu"))
import check as gpu  # noqa: E402

# name: program, environment, what must be said, whether there is an archive
CASES = {
    "plain": ("plain", {}, None, True),
    "all": ("plain", {"CTASCOPE_CUDA_CALLS": "all"}, None, True),
    "driver": ("plain", {"CTASCOPE_CUDA_CALLS": "driver"}, None, True),
    "runtime": ("plain", {"CTASCOPE_CUDA_CALLS": "runtime"}, None, True),
    "bad-choice": ("plain", {"CTASCOPE_CUDA_CALLS": "none"},
                   "unknown CTASCOPE_CUDA_CALLS value 'none' .one of: both, driver, runtime, all.", True),
    "reuse": ("reuse", {}, None, True),
    "internal-stream": ("internal-stream", {}, None, True),
    "default-streams": ("default-streams", {}, None, True),
    "peer": ("peer", {}, None, True),
    "host-functions": ("host-functions", {}, None, True),
    "overhead": ("overhead", {}, r"CUPTI itself took 3000 us for resources \(1x\)", True),
    "unended": ("overhead", {}, "had not ended when the program did: 1", True),
    "forks": ("forks", {}, None, True),
    "threads": ("threads", {}, None, True),
    "dropped": ("many", {"CTASCOPE_CUPTI_BUFFERS": "1", "FAKE_KEEP": "1"}, "LOST", True),
    "bounded": ("many", {"CTASCOPE_CUPTI_BUFFERS": "2", "CTASCOPE_CUDA_CALLS": "driver"}, None, True),
    "bad-buffers": ("plain", {"CTASCOPE_CUPTI_BUFFERS": "0"},
                    "CTASCOPE_CUPTI_BUFFERS='0' is not a number of buffers", True),
    "without-records": ("without-records", {}, "12 launches but no kernel was recorded", True),
    "second-subscriber": ("plain", {"FAKE_SUBSCRIBE": "39"}, "another tool .* already uses CUPTI",
                          False),
    "subscribe-fails": ("plain", {"FAKE_SUBSCRIBE": "27"}, "CUPTI: CUPTI_ERROR_NOT_SUPPORTED", False),
    "enable-fails": ("plain", {"FAKE_ENABLE": "27"},
                     "CUPTI's records of memsets: CUPTI_ERROR_NOT_SUPPORTED", False),
    "missing": ("plain", {"CTASCOPE_CUPTI": "/nowhere/libcupti.so"}, "CTASCOPE_CUPTI: .*/nowhere/",
                False),
    "old": ("plain", {"CTASCOPE_CUPTI": "libc.so.6"}, "it is older than CUDA 11.6", False),
}


def differs(case, key, seen, count):
    if case == "driver" and "cuda" in key:
        return seen != 0
    if case == "runtime" and (" cu" in key and " cuda" not in key):
        return seen != 0
    return seen != count


def problems_of(case, done, run, ctascope):
    _, _, message, has_archive = CASES[case]
    if done.returncode:
        yield f"ended with {done.returncode}"
    anchor = os.path.join(run, "timeline", "traces.otf2")
    said = done.stderr
    if has_archive:
        said += subprocess.run([ctascope, "info", run], stdout=subprocess.PIPE, text=True,
                               check=True).stdout
    if message and not re.search(message, said):
        yield f"'{message}' is not said"
    if not has_archive:
        if len(done.stderr.strip().splitlines()) != 1:
            yield "not one line"
        return
    timeline = gpu.Timeline(anchor)
    if case == "dropped":
        return
    yield from gpu.problems_of(timeline, False)
    for key, count in re.findall(r"^expect (.*) (\d+)$", done.stdout, re.M):
        seen = gpu.count_of(timeline, key)
        if differs(case, key, seen, int(count)):
            yield f"'{key}' is {seen}, should be {count}"
    level = "cuda" if case == "runtime" else "cu"
    for event in timeline.events: # what is known of a call stands on one of the two
        has_any = set(event.attributes) & {"CUDA_STREAM_REF", "CTASCOPE_CORRELATION"}
        if has_any and not timeline.is_stream(event.location) and \
                event.region().startswith("cuda") != (level == "cuda"):
            yield f"{event.region()} has {has_any}"


def main():
    ctascope, program, fake, work, case = sys.argv[1:]
    run = os.path.join(work, case)
    os.makedirs(work, exist_ok=True)
    shutil.rmtree(run, ignore_errors=True)
    environment = dict(os.environ, CTASCOPE_CUPTI=fake)
    environment.update(CASES[case][1])
    done = subprocess.run([ctascope, "record", "--timeline", "-o", run, "--", program,
                           CASES[case][0]], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env=environment, timeout=1200)
    problems = list(problems_of(case, done, run, ctascope))
    for problem in problems[:10]:
        print(problem)
    if problems:
        print(done.stdout[-2000:], done.stderr[-2000:])
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
