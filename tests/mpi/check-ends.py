#!/usr/bin/env python3
"""Programs that end badly, or begin before us: their status is what it is without us, and what was
recorded up to there is readable.

How a launcher reports a rank that exited early or was killed is a race in the launcher, also without us:
MPICH 4.2's returns 9 or 0. A shell between the launcher and each rank therefore says how that rank ended.

    check-ends.py MPIRUN LIBRARIES TEXT_RECORDER PROGRAM
    check-ends.py --archive CTASCOPE MPIRUN PROGRAM"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import check


# What must be said in the one line of `record`, or else (its launcher may kill it) in `info`.
CUT_OFF = "ended early|did not terminate normally"
SAID = {"exit": CUT_OFF, "kill": CUT_OFF, "abort": CUT_OFF, "late": "MPI was initialised before"}


# A shell that writes the status of a rank, or of its `record`.
WITNESS = ["/bin/sh", "-c", '"$@"; code=$?; echo $code >"$EXPECTED/status.$$"; exit $code', "sh"]
# How ranks end by themselves; the launcher kills the others (SIGTERM, SIGKILL).
OWN_STATUS = {"exit": 3, "kill": 137}
KILLED = {137, 143}


def own_statuses(mode, directory):
    """Whether a rank was seen to end as the program says; any other end but the launcher's is ours."""
    seen = set()
    for name in os.listdir(directory):
        if name.startswith("status."):
            with open(os.path.join(directory, name)) as file:
                seen.update(int(line) for line in file)
    if seen - KILLED - {OWN_STATUS[mode]}:
        check.fail(f"{mode}: ranks ended with {sorted(seen)}, not with {OWN_STATUS[mode]}")
    return OWN_STATUS[mode] in seen


def write_launcher(where, mpirun):
    """The launcher under a name that `record` knows, which also writes its status."""
    path = os.path.join(where, os.path.basename(mpirun))
    with open(path, "w") as file:
        file.write(f'#!/bin/sh\n{shutil.which(mpirun)} "$@"\ncode=$?\necho $code >"$0.status"\nexit $code\n')
    os.chmod(path, 0o755)
    return path


def read_info(ctascope, run_path):
    """What `info` says; the launcher may return while a `record` that it killed is still there."""
    for _ in range(12000):
        done = subprocess.run([ctascope, "info", run_path], timeout=1200, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if "is still being recorded" not in done.stdout + done.stderr:
            break
        time.sleep(0.1)
    if done.returncode:
        check.fail(done.stderr)
    return done.stdout


def check_archive(ctascope, mode, mpirun, program, where, inside):
    """One program under `record`, or `record` under the launcher."""
    expected = os.path.join(where, "expected")
    os.makedirs(expected, exist_ok=True)
    environment = dict(os.environ, EXPECTED=expected, **check.ANY_MACHINE)
    launcher = write_launcher(where, mpirun)
    run_path = os.path.join(where, "inside" if inside else "outside")
    record = [ctascope, "record", "--timeline", "-o", run_path, "--"]
    launch, program = [launcher, "-n", "2"], [program, mode]
    words = launch + WITNESS + record + program if inside else record + launch + program
    done = subprocess.run(words, env=environment, timeout=1200, stderr=subprocess.PIPE, text=True)
    with open(launcher + ".status") as file:
        launched = int(file.read())
    if done.returncode != launched:
        check.fail(f"{mode}: record ended with {done.returncode}, the launcher with {launched}")
    if inside and mode in OWN_STATUS:
        own_statuses(mode, expected) # the launcher may kill a `record` whose rank has just ended
    lines = [line for line in done.stderr.splitlines() if "ctascope" in line and "timeline" in line]
    told = read_info(ctascope, run_path)
    if len(lines) != 1 and not inside or not re.search(SAID[mode], "\n".join(lines) or told):
        check.fail(f"{mode}: it is not said in one line: {done.stderr}")
    ranks = check.read_archive(os.path.join(run_path, "timeline", "traces.otf2"))
    if sorted(ranks) != [0, 1]:
        check.fail(f"{mode}: ranks {sorted(ranks)} in the archive")
    for rank in ranks.values():
        check.check_threads(rank, finished=False)
        if not any(e["kind"] == "COLLECTIVE_END" for e in rank.events):
            check.fail(f"{mode}: rank {rank.rank} has no barrier")


def check_archives(ctascope, mpirun, program):
    for mode in SAID:
        with tempfile.TemporaryDirectory() as where:
            for inside in (False, True):
                check_archive(ctascope, mode, mpirun, program, where, inside)
    print("check: statuses are the programs' own, one line says what is missing, archives are "
          "readable as far as they go")


def run_to_end(mpirun, libraries, recorder, program, mode, top):
    """Runs the program, again if the launcher killed all that would have said how a rank ended; where it ran."""
    expected = {"late": 0, "none": 7, "spawned": 0, "abort": 5}.get(mode)
    for attempt in range(20):
        where = os.path.join(top, str(attempt))
        got = check.run(mpirun, 2, libraries, recorder, WITNESS + [program, mode], where,
                        {"CTASCOPE_MPI_CLOCKS": "always"})
        if expected is not None and got != expected:
            check.fail(f"{mode}: the program ended with {got}, not with {expected}")
        if mode not in OWN_STATUS or own_statuses(mode, os.path.join(where, "expected")):
            return where
    return check.fail(f"{mode}: no rank was seen to end with {OWN_STATUS[mode]} in 20 attempts")


def main():
    if sys.argv[1] == "--archive":
        check_archives(*sys.argv[2:])
        return
    mpirun, libraries, recorder, program = sys.argv[1:]
    for mode in ("exit", "kill", "abort", "late", "none", "spawned"):
        with tempfile.TemporaryDirectory() as top:
            where = run_to_end(mpirun, libraries, recorder, program, mode, top)
            ranks = check.read_ranks(where)
            if mode == "none":
                if ranks:
                    check.fail("none: ranks without MPI")
                continue
            if sorted(ranks) != [0, 1]:
                check.fail(f"{mode}: recorded ranks {sorted(ranks)}")
            for rank in ranks.values():
                check.check_threads(rank, finished=mode in ("late", "spawned"))
                barriers = [e for e in rank.events if e["kind"] == "COLLECTIVE_END"]
                if not barriers:
                    check.fail(f"{mode}: rank {rank.rank} has no barrier")
                said = any("MPI was initialised before" in m for m in rank.messages)
                if said != (mode == "late"):
                    check.fail(f"{mode}: rank {rank.rank} says {rank.messages}")
                # Two readings (at the begin and the end) of rank 1's clock, which is rank 0's.
                readings = 0 if rank.rank == 0 or mode == "late" else \
                    2 if mode == "spawned" else 1
                if len(rank.clocks) != readings:
                    check.fail(f"{mode}: rank {rank.rank} read the clock {len(rank.clocks)} times")
                for clock in rank.clocks:
                    # Read in the middle of a question's way there and back, which is over when it is told.
                    if abs(int(clock["offset"])) > int(clock["told"]) - int(clock["local"]):
                        check.fail(f"{mode}: one clock is {clock['offset']} ns from itself")
            if mode in ("late", "spawned"):
                names, members = check.check_communicators(ranks)
                for rank in ranks.values():
                    check.check_expected(where, rank, names)
    print("check: statuses are the programs' own, and what they did is readable")


main()
