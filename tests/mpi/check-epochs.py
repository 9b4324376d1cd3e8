#!/usr/bin/env python3
"""Records epochs.c and asks `ctascope path` who waited for whom.

    check-epochs.py CTASCOPE MPIRUN RANKS PROGRAM

One rank is late: a wait of the pattern must be in the call that has to wait, for the rank that was
late; and all groups are known. On a loaded machine the others may be later still, so that who is late
takes longer until somebody has to wait for it."""
import json
import os
import re
import subprocess
import sys
import tempfile

from check import ANY_MACHINE

LATE_MS = (150, 600, 2400, 9600)
# kind: pattern, the calls that may wait, who waits (ranks), for whom
KINDS = {"post": ("late post", {"MPI_Win_start", "MPI_Win_complete"}, "other", 1),
         "complete": ("late complete", {"MPI_Win_wait"}, "target", 0),
         "lock": ("wait for lock", {"MPI_Win_lock", "MPI_Win_unlock"}, "second", 0)}


class Failure(Exception):
    pass


def fail(text):
    raise Failure(text)


def path(ctascope, run, *options):
    done = subprocess.run([ctascope, "path", run, "--format", "json", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=1200)
    if done.returncode:
        fail(f"path ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def check(ctascope, mpirun, count, program, kind, late_ms, where):
    run = os.path.join(where, f"{kind}-{late_ms}")
    environment = dict(os.environ, **ANY_MACHINE)
    done = subprocess.run([ctascope, "record", "--timeline", "-o", run, "--", mpirun, "-n",
                           str(count), program, kind, str(late_ms)], env=environment, timeout=1200,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        fail(f"record ended with {done.returncode}: {done.stdout}")
    report = path(ctascope, run)
    pattern, calls, who, culprit = KINDS[kind]
    text = json.dumps(report)
    if "without their group" in text:
        fail(f"{kind}: groups are not known: {report['warnings']}")
    found = [i for i in report["instances"] if i["pattern"] == pattern]
    if not found:
        fail(f"{kind}: no '{pattern}' among {report['patterns']}")
    waiting = {"other": lambda r: r != 1, "target": lambda r: r == 1,
               "second": lambda r: r == 1}[who]
    pairs = [[int(re.match(r"rank (\d+)", one[key])[1]) for key in ("location", "waits_for")]
             for one in found]
    right = [(pair[0], one) for pair, one in zip(pairs, found)
             if waiting(pair[0]) and pair[1] == culprit]
    if not right:
        fail(f"{kind}: {found}")
    rank, first = right[0]
    activity = [row for row in report["activities"] if row["activity"] in calls]
    if not activity:
        fail(f"{kind}: none of {calls} was called")
    return f"{kind}: rank {rank} waits {first['duration_ns'] / 1e6:.0f} ms for rank {culprit}"


def main():
    ctascope, mpirun, count, program = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    with tempfile.TemporaryDirectory() as where:
        for kind in KINDS:
            for late_ms in LATE_MS:
                try:
                    print(check(ctascope, mpirun, count, program, kind, late_ms, where))
                    break
                except Failure as failure:
                    if late_ms == LATE_MS[-1]:
                        sys.exit(f"check: {failure}")


if __name__ == "__main__":
    main()
