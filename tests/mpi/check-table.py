#!/usr/bin/env python3
"""Every row of the wrappers' table is called by a test program: each function of the table that this
MPI has (its wrapper is exported) is a region of one of their recordings.

    check-table.py TABLE WRAPPERS MPIRUN LIBRARIES TEXT_RECORDER FAMILIES ENDS

FAMILIES and ENDS: the programs that together call all; ENDS (mode abort) calls those that end."""
import subprocess
import sys
import tempfile

import check


def rows(path):
    """Names of the functions that are wrapped."""
    with open(path) as file:
        lines = [line.split("#")[0].split() for line in file]
    return {"MPI_" + words[0] for words in lines if words and words[2] != "none"}


def exported(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True,
                          stdout=subprocess.PIPE, timeout=1200)
    return {line.split()[2] for line in done.stdout.splitlines()}


def called(mpirun, libraries, recorder, program):
    with tempfile.TemporaryDirectory() as where:
        check.run(mpirun, 2, libraries, recorder, program, where)
        return {event["region"] for rank in check.read_ranks(where).values()
                for event in rank.events if event["kind"] == "ENTER"}


def main():
    table, wrappers, mpirun, libraries, recorder, families, ends = sys.argv[1:]
    wanted = rows(table) & exported(wrappers)
    if "MPI_Send" not in wanted:
        check.fail(f"{wrappers} does not wrap what {table} lists")
    seen = called(mpirun, libraries, recorder, [families])
    seen |= called(mpirun, libraries, recorder, [ends, "abort"])
    if wanted - seen:
        check.fail("called by no test program: " + " ".join(sorted(wanted - seen)))
    print(f"check: each of the {len(wanted)} functions of the table is called")


main()
