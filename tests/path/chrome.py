"""The Chrome trace: valid JSON, every event complete, the path one line from begin to end, all
activities and waits there; compressed or not, the same."""
import gzip
import json
import os
import sys

from archive import WHERE, ctascope, fresh, traces


def ns(number):
    whole, _, decimals = number.partition(".")
    assert len(decimals) == 3, number
    return int(whole) * 1000 + int(decimals)


def check_shape(event):
    kind = event["ph"]
    assert isinstance(event["pid"], int) and isinstance(event["tid"], int), event
    if kind == "X":
        assert set(event) == {"ph", "name", "cat", "ts", "dur", "pid", "tid"}, event
    elif kind in "sf":
        assert isinstance(event["id"], str) and ("bp" in event) == (kind == "f"), event
    else:
        assert kind == "M" and event["name"] in ("process_name", "thread_name"), event
        assert isinstance(event["args"]["name"], str), event


def check(trace):
    plain, compressed = os.path.join(WHERE, "t.json"), os.path.join(WHERE, "t.json.gz")
    done = ctascope(trace, "--format", "json", "--chrome", plain)
    assert done.returncode == 0, done.stderr
    assert ctascope(trace, "--chrome", compressed).returncode == 0
    report = json.loads(done.stdout)
    text = open(plain, "rb").read()
    assert gzip.decompress(open(compressed, "rb").read()) == text
    events = json.loads(text, parse_float=ns)
    for event in events:
        check_shape(event)
    names = {event["pid"]: event["args"]["name"] for event in events
             if event["name"] == "process_name"}
    of = {name: [event for event in events if event["ph"] == "X" and names[event["pid"]] == name]
          for name in ("critical path", "waits")}
    now = 0
    for event in of["critical path"]:
        assert event["ts"] == now and event["dur"] > 0, (event, now)
        now += event["dur"]
    assert now == report["path_ns"], (now, report["path_ns"])
    assert sum(event["dur"] for event in of["waits"]) == report["wait_ns"]
    activities = [event for event in events if event["ph"] == "X" and
                  event["cat"] in ("host", "device", "copy")]
    expected = sum(row["calls"] for row in report["activities"]
                   if row["activity"] != "trace buffer flush")
    assert len(activities) == expected, (len(activities), expected)
    starts = {event["id"] for event in events if event["ph"] == "s" and event["cat"] == "waits for"}
    ends = {event["id"] for event in events if event["ph"] == "f" and event["cat"] == "waits for"}
    assert starts == ends


def main():
    fresh(WHERE)
    found = traces()
    for trace in found:
        check(trace)
        print("ok", trace)
    done = ctascope(found[0], "--chrome", "/proc/no/such.json")
    assert done.returncode == 1 and done.stderr.startswith("ctascope path: cannot write"), done
    return 0


sys.exit(main())
