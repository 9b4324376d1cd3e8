"""The variables of shared memory that the server names, against the addresses of the accesses that
name them; also of a recording that was exported and imported again.

    shared.py CTASCOPE SHARED.CU WORK"""
import csv
import io
import os
import shutil
import subprocess
import sys

from serve import Server

ctascope, source, work = sys.argv[1:]
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)


def run(*arguments):
    return subprocess.run([ctascope, *arguments], capture_output=True, check=True, text=True).stdout


def accesses(path):
    """Of each launch and name of a shared variable: the first and the last byte."""
    run("export", path, "-o", f"{work}/all.csv", "--format", "csv", "--space", "shared")
    with open(f"{work}/all.csv", encoding="utf-8") as file:
        found = {}
        for row in csv.DictReader(io.StringIO(file.read())):
            name = row["variable"].split("->")[0].split(".")[0]
            first = int(row["address"], 16)
            last = first + int(row["size"]) - 1
            old = found.get((int(row["launch"]), name), (first, last))
            found[int(row["launch"]), name] = (min(old[0], first), max(old[1], last))
    os.remove(f"{work}/all.csv")
    return found


def check(path, expected, unknown=()):
    """Where the variables lie; those that are unknown are not those of a kernel alone."""
    touched = {key: value for key, value in accesses(path).items() if key[1] not in unknown}
    with Server(ctascope, path) as server:
        for launch, wanted in enumerate(expected):
            told = {it["variable"]: it for it in server.json("launch", launch=launch)["shared"]}
            assert {name: it["declaration"] for name, it in told.items()} == wanted, told
            for name, it in told.items():
                first, last = touched.pop((launch, name))
                assert it["address"] == first and last < first + it["size"], (name, it, first, last)
                assert it["path"] is None or it["path"].endswith("shared.cu") and it["line"] > 0, it
    assert not touched, touched


run("cc", "-O2", "-g", source, "-o", f"{work}/shared")
run("record", "-o", f"{work}/shared.run", "--", f"{work}/shared")
check(f"{work}/shared.run", (
    {"tile": "int tile[64]"}, {"tile": "int tile[72]"},
    {"letters": "char letters[50]", "pairs": "pair pairs", "turn": "int turn[64]",
     "more": "double more[64]"}))
run("export", f"{work}/shared.run", "-o", f"{work}/folder", "--format", "json")
run("import", f"{work}/folder", "-o", f"{work}/again.run")
check(f"{work}/again.run", ({"tile": "int tile[64]"}, {"tile": "int tile[72]"},
                            {"letters": "char letters[50]", "pairs": "pair pairs"}), {"turn", "more"})
