"""The Python module on recordings of the examples, against the catalogue and the dump.

check.py CTASCOPE EXAMPLES: compiles two examples, records them, and compares what the module gives
with the catalogue (sqlite3), with `ctascope dump --accesses` and with `ctascope dump --timeline`."""

import csv
import io
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
from compiled import compiled  # noqa: E402

program, examples = sys.argv[1], sys.argv[2]
os.environ["CTASCOPE"] = program
import ctascope  # noqa: E402 (finds the library beside $CTASCOPE)


def run(*words):
    return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout


def same(got, wanted, what):
    if got != wanted:
        sys.exit(f"{what}: {got!r} instead of {wanted!r}")


def refused(kind, text, function, *arguments):
    try:
        function(*arguments)
    except kind as failure:
        if text not in str(failure):
            sys.exit(f"'{failure}' does not say '{text}'")
        return
    sys.exit(f"{function} of {arguments} was not refused")


def record(name, *options):
    run("record", "-o", name + ".run", *options, "--",
        compiled(program, "-O2", os.path.join(examples, name + ".cu")))
    return name + ".run"


def check_tables(opened, database):
    for table, rows in (("kernels", opened.kernels), ("launches", opened.launches),
                        ("sites", opened.sites), ("allocations", opened.allocations)):
        same(len(rows), database.execute(f"select count(*) from {table}").fetchone()[0], table)
    wanted = database.execute(
        "select l.launch, k.name, grid_x, grid_y, grid_z, accesses from launches l join kernels k "
        "using (kernel) order by l.launch").fetchall()
    got = [(l.launch, l.kernel.name, *l.grid, l.accesses)
           for l in sorted(opened.launches, key=lambda launch: launch.launch)]
    same(got, wanted, "launches")
    same(opened.is_complete, True, "is_complete")
    same(opened.dropped_accesses, 0, "dropped_accesses")
    same(opened.key("nothing"), None, "key")
    same(opened.key("host"), database.execute("select value from run where key = 'host'").fetchone()[0], "host")


def check_accesses(opened, path):
    """Lane by lane as the dump prints them."""
    launch = opened.launches[1]
    dump = csv.DictReader(io.StringIO(run("dump", path, "--accesses", "--launch", str(launch.launch),
                                          "--lanes", "--format", "csv")))
    wanted = [(int(r["launch"]), int(r["site"]), int(r["cta"]), int(r["warp"]), int(r["lane"]),
               int(r["address"], 0)) for r in dump]
    columns = ("launch", "site", "cta", "warp", "lane", "address")
    a = opened.accesses(launch, columns)
    got = list(zip(*(getattr(a, column).tolist() for column in columns)))
    same(len(got), launch.accesses, "accesses of a launch")
    same(got, wanted, "accesses")
    everything = opened.accesses(columns=("launch",))
    same(everything.address, None, "a column that was not asked for")
    same(numpy.unique(everything.launch, return_counts=True)[1].tolist(),
         [l.accesses for l in opened.launches if l.accesses], "accesses by launch")
    refused(ValueError, "no launch 4000", opened.accesses, 4000)
    refused(ValueError, "unknown column 'adress'", opened.accesses, launch, ("adress",))


def check_timeline(path, program_output):
    timeline = ctascope.open_timeline(path)
    for location in timeline.locations:
        a = timeline.activities(location)
        if not len(a):
            continue
        if not (a.start_ns <= a.end_ns).all() or not (numpy.diff(a.start_ns.astype(numpy.int64)) >= 0).all():
            sys.exit(f"{location.name}: activities are out of order")
        names = [timeline.regions[r].name for r in a.region]
        for name in set(names):
            same(names.count(name), program_output[location.name].count(name), f"{name} in {location.name}")
    refused(ValueError, "", timeline.activities, 4000)
    timeline.close()
    refused(ValueError, "closed", timeline.activities, 0)


def entered(path):
    """Regions that the dump enters, by location."""
    names = {}
    for row in csv.DictReader(io.StringIO(run("dump", path, "--timeline", "--format", "csv"))):
        if row["event"] == "ENTER":
            region = re.split(r" [A-Z_]+=", row["fields"].split("region=")[1])[0]
            names.setdefault(row["name"], []).append(region)
    return names


where = tempfile.mkdtemp()
os.chdir(where)
try:
    path = record("halo")
    with ctascope.open(path) as opened:
        check_tables(opened, sqlite3.connect(os.path.join(path, "run.db")))
        check_accesses(opened, path)
        same(opened.communication().totals.launches, len(opened.launches), "launches in comm")
        printed = [line.split(". ", 1)[1].split(":")[0] for line in run("access", path).split("Findings\n")[-1].splitlines()
                   if line.strip()[:1].isdigit() and ". " in line]
        same([f.finding for f in opened.findings()][:len(printed)], printed, "findings")
        refused(ctascope.AnalysisError, "--nothing", opened.communication, "--nothing")
    refused(ValueError, "closed", opened.accesses)
    timed = record("pipeline", "--timeline")
    check_timeline(timed, entered(timed))
    refused(OSError, "nowhere", ctascope.open, "nowhere")
    refused(ValueError, "", ctascope.open, examples)
    refused(ctascope.AnalysisError, "", lambda: ctascope.open(path).critical_path())
finally:
    os.chdir("/")
    shutil.rmtree(where)
print("python: tables, arrays and analyses agree with the catalogue and the program")
