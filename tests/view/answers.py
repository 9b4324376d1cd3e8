"""What the server answers, against the records that `ctascope dump` prints."""
import collections
import json
import math
import os
import random
import shutil
import subprocess
import sys

from serve import Server

ctascope, run, generate, work = sys.argv[1:]
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
random.seed(7)
SPACES = {1: "global", 3: "shared", 5: "local", 4: "global"}
CODES = {"global": 1, "shared": 3, "local": 5}


def dumped(path, launch):
    """The records of a launch with their lanes' addresses, in order."""
    records = json.loads(subprocess.run(
        [ctascope, "dump", path, "--accesses", "--launch", str(launch), "--lanes", "--format",
         "json"], capture_output=True, check=True).stdout)
    for record in records:
        record["lanes"] = {lane["lane"]: int(lane["address"], 16) for lane in record["lanes"]}
    return records


def touches(record, space, first, last):
    return [lane for lane, address in record["lanes"].items()
            if record["space"] == space and address <= last
            and address + record["width_bytes"] - 1 >= first]


def random_filter(records):
    """A query, and what it lets through."""
    query, tests = {}, []
    some = random.choice(records)
    if random.random() < 0.4:
        low = max(0, some["cta"] - random.randrange(4))
        high = some["cta"] + random.randrange(4)
        query["ctas"] = f"{low}-{high},{high + 3}"
        tests.append(lambda r: low <= r["cta"] <= high or r["cta"] == high + 3)
    if random.random() < 0.3:
        query["warps"] = f"{some['warp']}"
        tests.append(lambda r: r["warp"] == some["warp"])
    if random.random() < 0.3:
        other = random.choice(records)["site"]
        query["sites"] = f"{some['site']},{other}"
        tests.append(lambda r: r["site"] in (some["site"], other))
    if random.random() < 0.2:
        query["kinds"] = "load" if some["operation"] == "load" else "store,atomic"
        tests.append(lambda r: (r["operation"] == "load") == (some["operation"] == "load"))
    if random.random() < 0.2:
        query["only"] = some["space"]
        tests.append(lambda r: r["space"] == some["space"])
    if random.random() < 0.3:
        address = random.choice(list(some["lanes"].values()))
        first, last = max(0, address - random.randrange(40)), address + random.randrange(400)
        query["range"] = f"{some['space']}:{first}-{last}"
        tests.append(lambda r: bool(touches(r, some["space"], first, last)))
    return query, lambda r: all(test(r) for test in tests)


def check_records(server, launch, records, passing, query):
    start, count = random.randrange(len(passing) + 2), random.choice((5, 100, 16384))
    numbers, columns = server.columns("records", launch=launch, count=count, **{"from": start}, **query)
    expected = passing[start:start + count]
    assert numbers == [len(passing), 0], (numbers, len(passing), query)
    assert list(columns[0]) == [record["index"] for record in expected]
    for column, key in ((1, "cta"), (2, "warp"), (3, "site"), (5, "mask")):
        assert list(columns[column]) == [record[key] for record in expected], key
    assert list(columns[4]) == [CODES[record["space"]] for record in expected]
    for i, record in enumerate(expected):
        for lane in range(32):
            got = columns[6][32 * i + lane]
            assert math.isnan(got) if lane not in record["lanes"] else got == record["lanes"][lane]
        if record["space"] != "shared":
            sectors = {byte // 32 for address in record["lanes"].values()
                       for byte in range(address, address + record["width_bytes"])}
            assert columns[7][i] == len(sectors) and columns[9][i] == 0
    index = random.randrange(len(records))
    places = [place for place, record in enumerate(passing) if record["index"] == index]
    answer = server.json("position", launch=launch, index=index, **query)
    assert answer["position"] == (places[0] if places else -1)


def check_history(server, dumps, copies, sites):
    """Every site of every launch that touches some bytes, lane by lane."""
    for _ in range(6):
        launch = random.choice(list(dumps))
        some = random.choice([r for r in dumps[launch] if r["space"] == "global"])
        first = random.choice(list(some["lanes"].values())) + random.randrange(-3, 8)
        last = first + random.choice((0, 3, 200))
        expected = collections.Counter()
        for number, records in dumps.items():
            for record in records:
                lanes = len(touches(record, "global", first, last))
                if lanes:
                    expected[number, record["site"]] += lanes
        answer = server.json("history", first=first, last=last)
        rows = [row for row in answer["rows"] if row["launch"] is not None]
        assert {(row["launch"], row["site"]): row["lanes"] for row in rows} == expected, (first, last)
        assert all(row["reads"] == (sites[row["site"]] != "store") and
                   row["writes"] == (sites[row["site"]] != "load") for row in rows)
        assert [row["launch"] for row in rows] == sorted(row["launch"] for row in rows)
        # Copies of whole rows: destination and source are one stretch each.
        assert all(copy["height"] == copy["depth"] == 1 for copy in copies)
        touched = {}
        for copy in copies:
            start, source, size = int(copy["destination"], 16), copy["source"], copy["width_bytes"]
            writes = start <= last and start + size > first
            reads = copy["kind"] != "memset" and int(source, 16) <= last and int(source, 16) + size > first
            if reads or writes:
                touched[copy["copy"]] = (reads, writes)
        assert {row["copy"]: (row["reads"], row["writes"]) for row in answer["rows"]
                if row["copy"] is not None} == touched
        assert answer["total"] == len(answer["rows"])


def check_groups(server, launch, passing, query):
    for by, key in (("site", lambda r: str(r["site"])), ("cta", lambda r: str(r["cta"])),
                    ("warp", lambda r: str(r["warp"])), ("operation", lambda r: r["operation"])):
        expected = collections.defaultdict(lambda: [0, 0, 0])
        for record in passing:
            sums = expected[key(record)]
            sums[0] += 1
            sums[1] += len(record["lanes"])
            sums[2] += len(record["lanes"]) * record["width_bytes"]
        answer = server.json("groups", launch=launch, by=by, count=10000, **query)
        got = {row["key"]: [row["records"], row["accesses"], row["bytes"]] for row in answer["rows"]}
        assert got == dict(expected) and answer["total"] == len(got), (by, query)
    for by in ("line", "allocation"):
        answer = server.json("groups", launch=launch, by=by, count=10000, **query)
        assert sum(row["records"] for row in answer["rows"]) == len(passing)


def check_addresses(server, launch, passing, query, info):
    place = random.choice(info["spaces"])
    span = place["last"] - place["first"] + 1
    first = place["first"] + random.randrange(span)
    last = first + random.choice((3, 100, span))
    space, cells = place["space"], random.choice((1, 7, 64))
    (start, size), columns = server.columns("density", launch=launch, space=space, first=first,
                                            last=last, cells=cells, countWarps=1, **query)
    assert start == first and size == 2 ** round(math.log2(size)) and len(columns[0]) <= cells
    reads, writes = [0] * len(columns[0]), [0] * len(columns[0])
    warps = [set() for _ in columns[0]]
    total, found = 0, []
    for record in passing:
        for lane in touches(record, space, first, last):
            address = record["lanes"][lane]
            total += 1
            found.append((record["index"], lane, address))
            low = max(address, first) - first
            high = min(address + record["width_bytes"] - 1, last) - first
            for cell in range(int(low // size), int(high // size) + 1):
                reads[cell] += record["operation"] != "store"
                writes[cell] += record["operation"] != "load"
                warps[cell].add((record["cta"], record["warp"]))
    assert list(columns[0]) == reads and list(columns[1]) == writes
    assert list(columns[2]) == [len(cell) for cell in warps]
    without = server.columns("density", launch=launch, space=space, first=first, last=last,
                             cells=cells, **query)[1]
    assert [list(column) for column in without] == [reads, writes, []]
    answer = server.json("touching", launch=launch, space=space, first=first, last=last, count=50,
                         **query)
    assert answer["total"] == total
    assert [(row["index"], row["lane"], row["address"]) for row in answer["rows"]] == found[:50]
    (columns_made, rows_made, *_), counts = server.columns(
        "order", launch=launch, space=space, first=first, last=last, fromRecord=0,
        toRecord=10 ** 9, columns=1, rows=1, **query)
    assert (columns_made, rows_made) == (1, 1)
    assert counts[0][0] == sum(r["operation"] != "store" for r in passing
                               for _ in touches(r, space, first, last))


def check_launch(server, path, launch):
    records = dumped(path, launch)
    for index, record in enumerate(records):
        record["index"] = index
    info = server.json("launch", launch=launch)
    assert info["records"] == len(records)
    assert info["accesses"] == sum(len(record["lanes"]) for record in records)
    assert sum(site["records"] for site in info["sites"]) == len(records)
    for _ in range(12):
        query, passes = random_filter(records)
        passing = [record for record in records if passes(record)]
        check_records(server, launch, records, passing, query)
        check_groups(server, launch, passing, query)
        check_addresses(server, launch, passing, query, info)


def check_run_findings(told, expected):
    """Without a timeline, those of the accesses: what is wrong first, then by the share of the
    run's memory cost."""
    assert told["basis"] == "the run's memory cost" and told["left"] == 0
    assert len(told["rows"]) == len(expected)
    assert "--timeline" in told["missing"][0]["command"] and len(told["missing"]) == 1
    faults = [row for row in expected if row["fault"]]
    others = sorted((row for row in expected if not row["fault"]), key=lambda row: -row["waste"])
    for row, other in zip(told["rows"], faults + others):
        assert row["evidence"] == other["evidence"] and row["share"] == other["share"]
        assert row["place"] == other["place"] and row["state"] == "exact"
    gains = [row["gain"] for row in told["rows"][len(faults):]]
    for gain, other in zip(gains, others):
        assert abs(gain / gains[0] - other["waste"] / others[0]["waste"]) < 1e-9 and 0 < gain <= 1


def check_run(server, path):
    info = server.json("run")
    assert info["path"] == path and info["warnings"] == [] and info["otherRun"] is None
    launches = server.json("launches", count=1000)
    assert launches["total"] == info["launchCount"] == len(launches["rows"])
    assert sum(row["accesses"] for row in launches["rows"]) == info["accessCount"]
    name = info["kernels"][launches["rows"][0]["kernel"]]["name"]
    assert server.json("launches", search=name.upper())["total"] >= 1
    assert server.json("launches", search="no such kernel") == {"rows": [], "total": 0}
    for sort, key in (("accesses", lambda row: row["accesses"]),
                      ("time", lambda row: row["end"] - row["start"])):
        rows = server.json("launches", count=1000, sort=sort)["rows"]
        assert rows == sorted(launches["rows"], key=lambda row: (-key(row), row["launch"]))
        assert server.json("launches", count=1, sort=sort, **{"from": 1})["rows"] == rows[1:2]
    last = launches["rows"][-1]["launch"]
    assert [row["launch"] for row in server.json("launches", search=f"#{last}")["rows"]] == [last]
    assert server.json("launches", count=1, **{"from": launches["total"] - 1})["rows"][0] == \
        launches["rows"][-1]
    time = server.json("timeline")
    items = [item for row in time["rows"] for item in row["items"]]
    assert sum(item["kind"] == "launch" for item in items) == info["launchCount"]
    assert all(time["begin"] <= item["start"] <= item["end"] <= time["end"] for item in items)
    source = next(row for row in info["sources"] if row["hasText"])
    text = server.get("source", source=source["source"])[2].decode()
    lines = server.json("lines", source=source["source"])["rows"]
    assert lines and all(1 <= row["line"] <= text.count("\n") + 1 for row in lines)
    findings = server.json("findings")
    for row in lines:
        for finding in row["findings"]:
            assert findings["rows"][finding]["line"] == row["line"]
    expected = json.loads(subprocess.run([ctascope, "access", path, "--format", "json"],
                                         capture_output=True, check=True).stdout)["findings"]
    assert [row["evidence"] for row in findings["rows"]] == [row["evidence"] for row in expected]
    check_run_findings(server.json("run-findings"), expected)
    for launch in launches["rows"][:2]:
        check_launch(server, path, launch["launch"])
    return info


small = f"{work}/small.run"
subprocess.run([generate, small, "20000"], check=True, stdout=subprocess.DEVNULL)
with Server(ctascope, run) as one:
    check_run(one, run)
    dumps = {row["launch"]: dumped(run, row["launch"]) for row in one.json("launches")["rows"]}
    copies = json.loads(subprocess.run([ctascope, "dump", run, "--table", "copies", "--format", "json"],
                                       capture_output=True, check=True).stdout)["copies"]
    check_history(one, dumps, copies, {site["site"]: site["kind"] for site in one.json("run")["sites"]})
    memory = one.json("communication")
    assert memory["totals"]["launches"] == one.json("run")["launchCount"]
# Little memory, one thread: the same answers.
with Server(ctascope, run, "--memory-limit", "80M", "--threads", "1") as one:
    check_launch(one, run, one.json("launches")["rows"][0]["launch"])
with Server(ctascope, small, run) as one:
    assert one.json("run")["otherRun"] == run
    assert one.json("run", "other/")["path"] == run
    check_launch(one, small, 0)
    diff = one.json("diff")
    told = json.loads(subprocess.run([ctascope, "diff", run, small, "--format", "json"],
                                     capture_output=True).stdout)
    assert [(row["change"], row["finding"], row["before"], row["after"]) for row in diff["rows"]] \
        == [(row["change"], row["finding"], row["evidence_before"], row["evidence_after"])
            for row in told["findings"]]
    assert [(row["amountBefore"], row["amountAfter"]) for row in diff["rows"]] \
        == [tuple(None if row["fault"] else row[f"amount_{side}"] for side in ("before", "after"))
            for row in told["findings"]]
    assert [f"{row['place'].split(':')[0]}:{row['line']}" if row["line"] else None for row in
            diff["rows"]] == [None if row["change"] == "gone" else row["place"] for row in
                              told["findings"]]
    assert {row["kernel"]: row["before"] is None for row in diff["kernels"]} == \
        {"mix": True, one.json("run", "other/")["kernels"][0]["name"]: False}
    shared = one.json("conflicts", launch=0, space="shared", count=1000)
    assert shared["total"] > 0 and all(row["writers"] >= 1 for row in shared["rows"])
