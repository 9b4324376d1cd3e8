#!/usr/bin/env python3
"""Programs that end badly, or begin before us: their status is what it is without us, and what was
recorded up to there is readable.

    check-ends.py MPIRUN LIBRARIES TEXT_RECORDER PROGRAM
    check-ends.py --archive CTASCOPE MPIRUN PROGRAM"""
import os
import re
import subprocess
import sys
import tempfile
import time

import check


# What must be said in the one line of `record`, or else (its launcher may kill it) in `info`.
CUT_OFF = "ended early|did not terminate normally"
SAID = {"exit": CUT_OFF, "kill": CUT_OFF, "abort": CUT_OFF, "late": "MPI was initialised before"}


# A rank that exits with 3, or the other one, which the launcher kills then: whichever it hears of
# first gives the launcher's status.
EITHER_RANK = {"exit": {3, 9}}


def read_info(ctascope, run_path):
    """What `info` says; the launcher may return while a `record` that it killed is still there."""
    for _ in range(12000):
        done = subprocess.run([ctascope, "info", run_path], timeout=1200, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if "is still being recorded" not in done.stderr:
            break
        time.sleep(0.1)
    if done.returncode:
        check.fail(done.stderr)
    return done.stdout


def check_archive(ctascope, mode, bare, command, environment, where, inside):
    """One program under `record`, or `record` under the launcher; `bare`: its status without us."""
    run_path = os.path.join(where, "inside" if inside else "outside")
    record = [ctascope, "record", "--timeline", "-o", run_path, "--"]
    words = command[:3] + record + command[3:] if inside else record + command
    done = subprocess.run(words, env=environment, timeout=1200, stderr=subprocess.PIPE, text=True)
    accepted = {bare} | EITHER_RANK.get(mode, set())
    # A launcher that gives a signal's number (9) for a rank that it killed has 137 of its `record`.
    if inside:
        accepted |= {128 + status for status in accepted}
    if done.returncode not in accepted:
        check.fail(f"{mode}: record ended with {done.returncode}, without it {bare}")
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
    environment = dict(os.environ, **check.ANY_MACHINE)
    for mode in SAID:
        with tempfile.TemporaryDirectory() as where:
            expected = dict(environment, EXPECTED=where)
            command = [mpirun, "-n", "2", program, mode]
            bare = subprocess.run(command, env=expected, timeout=1200,
                                  stderr=subprocess.DEVNULL).returncode
            for inside in (False, True):
                check_archive(ctascope, mode, bare, command, expected, where, inside)
    print("check: statuses are the programs' own, one line says what is missing, archives are "
          "readable as far as they go")


def main():
    if sys.argv[1] == "--archive":
        check_archives(*sys.argv[2:])
        return
    mpirun, libraries, recorder, program = sys.argv[1:]
    for mode in ("exit", "kill", "abort", "late", "none", "spawned"):
        with tempfile.TemporaryDirectory() as bare, tempfile.TemporaryDirectory() as where:
            expected = {"late": 0, "none": 7, "spawned": 0, "abort": 5}.get(mode)
            if expected is None: # how mpirun says that a rank died is its own affair
                expected = check.run(mpirun, 2, "", "", [program, mode], bare)
            got = check.run(mpirun, 2, libraries, recorder, [program, mode], where,
                            {"CTASCOPE_MPI_CLOCKS": "always"})
            if got != expected and got not in EITHER_RANK.get(mode, ()):
                check.fail(f"{mode}: the program ended with {got}, without us with {expected}")
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
