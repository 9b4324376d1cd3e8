"""Runs that are damaged, that grow while they are viewed, and that hold little."""
import glob
import os
import shutil
import sqlite3
import subprocess
import sys
import time

from serve import Server

ctascope, run, generate, work = sys.argv[1:]
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)


def copy(name):
    path = f"{work}/{name}.run"
    shutil.copytree(run, path)
    return path


def files_of(path):
    """The access files, the largest one first."""
    return sorted(glob.glob(f"{path}/rank-0/*.acc"), key=os.path.getsize, reverse=True)


def spoil(path, at):
    with open(path, "r+b") as file:
        file.seek(at, os.SEEK_SET if at >= 0 else os.SEEK_END)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 0x55]))


def all_accesses(server):
    """Those that can be read."""
    return sum(space["accesses"] for row in server.json("launches", count=1000)["rows"]
               for space in server.json("launch", launch=row["launch"])["spaces"])


with Server(ctascope, run) as one:
    whole = all_accesses(one)
    assert not any(one.json("launch", launch=row["launch"])["unreadable"]
                   for row in one.json("launches", count=1000)["rows"])

# A chunk's payload: that chunk is left out, and said so.
path = copy("payload")
spoil(files_of(path)[0], 32 + 80 + 20)
with Server(ctascope, path) as one:
    left = all_accesses(one)
    assert 0 <= left < whole, (left, whole)
    warnings = one.json("run")["warnings"]
    assert any("left out" in text and files_of(path)[0] in text for text in warnings), warnings
    rows = one.json("launches", count=1000)["rows"]
    lost = {row["launch"]: one.json("launch", launch=row["launch"])["unreadable"] for row in rows}
    held = {row["launch"]: row["records"] for row in rows}
    assert sum(lost.values()) > 0 and all(lost[launch] <= held[launch] for launch in lost), lost
    for launch, count in lost.items():
        assert one.columns("records", launch=launch)[0][0] == held[launch] - count
    launch = rows[0]["launch"]
    for question in ("records", "groups?by=line", "conflicts?space=global", "position?index=0"):
        mark = "&" if "?" in question else "?"
        assert one.request(f"{one.path}api/{question}{mark}launch={launch}")[0] == 200

# The footer: the chunks are found without it.
path = copy("footer")
spoil(files_of(path)[0], -30)
with Server(ctascope, path) as one:
    assert all_accesses(one) == whole
    assert any("cannot read" in text for text in one.json("run")["warnings"])

# No access file at all in one of several; a file that is none; an end that is missing.
path = copy("other")
with open(files_of(path)[0], "r+b") as file:
    file.write(b"nonsense")
with Server(ctascope, path) as one:
    assert all_accesses(one) < whole
    assert any("cannot read" in text for text in one.json("run")["warnings"])
path = copy("cut")
for name in files_of(path):
    os.truncate(name, os.path.getsize(name) * 2 // 3)
with Server(ctascope, path) as one:
    assert 0 <= all_accesses(one) < whole
    warnings = one.json("run")["warnings"]
    assert any("end early" in text for text in warnings), warnings
    infos = [one.json("launch", launch=row["launch"])
             for row in one.json("launches", count=1000)["rows"]]
    assert sum(info["unreadable"] for info in infos) > 0
    for info in infos:
        held = one.columns("records", launch=info["launch"])[0][0]
        assert held == info["records"] - info["unreadable"], (held, info)

# It grows: the files come while it is viewed.
path = copy("growing")
later = f"{work}/later"
shutil.move(f"{path}/rank-0", later)
os.makedirs(f"{path}/rank-0")
with Server(ctascope, path) as one:
    info = one.json("run")
    assert info["accessCount"] == 0 and not info["hasCommunication"]
    rows = one.json("launches")["rows"]
    info = one.json("launch", launch=rows[0]["launch"])
    assert info["records"] == info["unreadable"] > 0
    assert one.columns("records", launch=rows[0]["launch"])[0][0] == 0
    for name in sorted(os.listdir(later)):
        shutil.move(f"{later}/{name}", f"{path}/rank-0/{name}")
    deadline = time.monotonic() + 1200
    while one.json("run")["accessCount"] != whole:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert all_accesses(one) == whole
    # Then it is spoiled: what was read stays, with a warning.
    with open(f"{path}/run.db", "r+b") as file:
        file.write(b"no database at all")
    deadline = time.monotonic() + 1200
    while not any("older state" in text for text in one.json("run")["warnings"]):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert one.json("run")["accessCount"] == whole

# A program that was killed says so.
path = copy("killed")
with sqlite3.connect(f"{path}/run.db") as catalogue:
    catalogue.execute("UPDATE ranks SET end_ns = NULL")
with Server(ctascope, path) as one:
    assert any("did not exit normally" in text for text in one.json("run")["warnings"])

# A large allocation, and many launches: as many bins as asked for, pages of launches.
path = copy("many")
with sqlite3.connect(f"{path}/run.db") as catalogue:
    catalogue.execute("UPDATE allocations SET size_bytes = 40 * 1024 * 1024 * 1024 "
                      "WHERE allocation = (SELECT MAX(allocation) FROM allocations)")
    start, = catalogue.execute("SELECT MIN(start_ns) FROM ranks").fetchone()
    catalogue.execute(f"UPDATE launches SET start_ns = {start}, end_ns = {start} + 500")
    columns = [row[1] for row in catalogue.execute("PRAGMA table_info(launches)")]
    row = dict(zip(columns, catalogue.execute("SELECT * FROM launches LIMIT 1").fetchone()))
    rows = []
    for i in range(100000):
        more = dict(row, launch=1000 + i, op=100000 + i, ordinal=100 + i, start_ns=start + 1000 * i,
                    end_ns=start + 1000 * i + 500, records=0, accesses=0)
        rows.append([more[name] for name in columns])
    catalogue.executemany(f"INSERT INTO launches VALUES ({','.join('?' * len(columns))})", rows)
with Server(ctascope, path) as one:
    info = one.json("run")
    assert info["launchCount"] > 100000
    launches = one.json("launches", count=10, **{"from": 100000})
    assert launches["total"] == info["launchCount"]
    # Numbers have gaps: the launches beside one are those that are listed beside it.
    listed = [row["launch"] for row in one.json("launches", count=20)["rows"]]
    assert 1000 in listed and 999 not in listed, listed
    for i, launch in enumerate(listed[:-1]):
        rows = one.json("launches", beside=launch)["rows"]
        assert [row["launch"] for row in rows] == listed[max(0, i - 1):i + 2]
    assert [row["launch"] for row in one.json("launches", beside=100999)["rows"]] == [100998, 100999]
    assert one.get("launches", beside=999)[0] == 400 and one.get("launches", beside="x")[0] == 400
    row = next(row for row in one.json("timeline", bins=300)["rows"] if row["bins"])
    assert row["items"] is None and len(row["bins"]) == 300
    assert sum(bin["count"] for bin in row["bins"]) >= 100000
    assert 0.4 < row["bins"][150]["busy"] < 0.6
    assert one.json("timeline", to=2 ** 53 - 1, bins=300)["rows"] == one.json("timeline", bins=300)["rows"]
    closer = one.json("timeline", **{"from": row["bins"] and 50000000, "to": 50100000, "bins": 300})
    assert all(row["items"] is not None for row in closer["rows"])
    first = one.json("launches")["rows"][0]["launch"]
    large = max(one.json("launch", launch=first)["allocations"], key=lambda it: it["size"])
    assert large["size"] == 40 * 2 ** 30
    (start, size), columns = one.columns("density", launch=first, space="global",
                                         first=large["address"],
                                         last=large["address"] + large["size"] - 1, cells=1000)
    assert size * len(columns[0]) >= large["size"] and len(columns[0]) <= 1000
    assert columns[0][0] + columns[1][0] > 0 and sum(columns[0][1:]) == 0

# An archive that is none, or not there.
with open(f"{work}/bad.otf2", "w", encoding="ascii") as file:
    file.write("nonsense")
for name, text in (("bad", "it is not an OTF2 archive"), ("nothing", "No such file")):
    done = subprocess.run([ctascope, "view", f"{work}/{name}.otf2"], capture_output=True, text=True,
                          timeout=1200)
    assert done.returncode == 1 and done.stdout == "" and len(done.stderr.splitlines()) == 1, done
    assert f"{work}/{name}.otf2" in done.stderr and text in done.stderr, done
