"""What `ctascope query` answers, against what `dump`, `access`, `flow` and `path` print of the same run, and what
it refuses:    query.py CTASCOPE RUN TIMELINE"""
import collections
import csv
import io
import json
import subprocess
import sys

ctascope, run, timeline = sys.argv[1:]
TABLES = ("ranks devices modules kernels sites variables skipped streams launches copies allocations syncs calls "
          "thread_order endings access_files files").split()


def call(*words):
    return subprocess.run([ctascope, *words], capture_output=True, text=True)


def query(sql, *options, of=run):
    done = call("query", of, sql, "--format", "json", *options)
    assert done.returncode == 0, (sql, done.stderr)
    answer = json.loads(done.stdout)
    return answer["columns"], answer["rows"]


def printed(*words):
    done = call(*words)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def number(text):
    return int(text, 16) if text.startswith("0x") else text


def catalogue():
    """Every field of every table is what `dump` prints; addresses are numbers."""
    rows = 0
    for table in TABLES:
        expected = list(csv.reader(io.StringIO(printed("dump", run, "--table", table, "--format", "csv"))))
        columns, found = query(f"SELECT * FROM {table}")
        assert columns == expected[0], table
        as_text = [["" if value is None else str(value) for value in row] for row in found]
        wanted = [[str(number(text)) for text in row] for row in expected[1:]]
        assert as_text == wanted, table
        rows += len(found)
    assert rows > 20


def accesses():
    """Requests and lanes, counted one by one from the dump."""
    requests, lanes, first = collections.Counter(), collections.Counter(), {}
    for record in json.loads(printed("dump", run, "--accesses", "--lanes", "--format", "json")):
        key = (record["launch"], record["cta"], record["warp"], record["site"], record["operation"])
        requests[key] += 1
        for lane in record["lanes"]:
            address = int(lane["address"], 16)
            lanes[key[0], key[3], lane["lane"]] += 1
            first[key[0]] = min(first.get(key[0], address), address)
    _, found = query("SELECT launch, cta, warp, site, operation, count(*) FROM requests GROUP BY 1, 2, 3, 4, 5")
    assert {tuple(row[:5]): row[5] for row in found} == requests
    _, found = query("SELECT launch, site, lane, count(*) FROM accesses GROUP BY 1, 2, 3")
    assert {tuple(row[:3]): row[3] for row in found} == lanes
    _, found = query("SELECT sum(active_lanes), min(mask) > 0 FROM requests")
    assert found == [[sum(lanes.values()), 1]]
    _, found = query("SELECT launch, count(*), max(request) + 1 FROM requests GROUP BY launch")
    assert all(row[1] == row[2] for row in found)
    for launch, address in first.items():  # those of one launch are found without the others
        _, found = query(f"SELECT min(address) FROM accesses WHERE launch = {launch}")
        assert found == [[address]]
    assert query("SELECT count(*) FROM requests WHERE launch = 'x' OR launch = 1.5 OR launch = -1")[1] == [[0]]
    # A join with the catalogue.
    _, found = query("SELECT k.name, sum(r.active_lanes) FROM requests r JOIN launches l USING (launch) "
                     "JOIN kernels k ON k.kernel = l.kernel GROUP BY 1")
    assert sum(row[1] for row in found) == sum(lanes.values())


def analyses():
    access = json.loads(printed("access", run, "--format", "json"))
    _, found = query("SELECT finding, site, share FROM findings")
    assert len(found) == len(access["findings"]) > 0
    assert [row[0] for row in found] == [row["finding"] for row in access["findings"]]
    flow = json.loads(printed("flow", run, "--format", "json", "--per", "edge,finding,launch,allocation"))
    for table, rows in (("edges", flow["edges"]), ("findings", flow["findings"]), ("launches", flow["launches"]),
                        ("allocations", flow["allocations"])):
        columns, found = query(f"SELECT * FROM flow_{table}")
        assert len(found) == len(rows), table
        for row, wanted in zip(found, rows):
            for column, value in zip(columns, row):
                assert value == wanted[column], (table, column, value, wanted[column])


def events():
    count = len(printed("dump", timeline, "--timeline", "--format", "csv").splitlines()) - 1
    assert query("SELECT count(*) FROM events", of=timeline)[1] == [[count]]
    _, found = query("SELECT sum(event = 'ENTER'), sum(event = 'LEAVE') FROM events", of=timeline)
    entered, left = found[0]
    _, found = query("SELECT count(*), min(duration_ns) >= 0, min(depth) FROM activities", of=timeline)
    assert found == [[left, 1, 0]] and entered >= left > 0
    _, found = query("SELECT location, count(*) FROM events GROUP BY 1", of=timeline)
    for location, events_there in found:
        assert query(f"SELECT count(*) FROM events WHERE location = {location}", of=timeline)[1] == [[events_there]]


def refusals():
    for sql, status, why in (
            ("SELECT * FROM nowhere", 2, "no such table: nowhere; this run's tables are ranks, "),
            ("SELEC 1", 2, "SQLite refuses the query: near \"SELEC\": syntax error"),
            ("", 2, "the query is empty"),
            ("SELECT 1; DELETE FROM run", 2, "one query at a time: 'DELETE FROM run' is a second one"),
            ("CREATE TABLE x(a)", 2, "a query can only read"),
            ("ATTACH 'x.db' AS x", 2, "a query can only read"),
            ("PRAGMA user_version = 3", 2, "a query can only read"),
            ("DELETE FROM run", 2, "SQLite refuses the query: table run may not be modified"),
            ("SELECT load_extension('x')", 2, "SQLite refuses the query: not authorized"),
            ("SELECT * FROM events", 2, "no such table: events")):
        done = call("query", run, sql)
        assert done.returncode == status and why in done.stderr and not done.stdout, (sql, done)
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c"
    done = call("query", run, endless, "--time-limit", "1")
    assert done.returncode == 1 and "the query takes longer than 1 s" in done.stderr, done
    # A limit ends the query well, and says that there is more.
    done = call("query", run, "SELECT launch FROM requests", "--limit", "2")
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "... and more; --limit 0 prints all", done


catalogue()
accesses()
analyses()
events()
refusals()
print("query answers what the other verbs print")
