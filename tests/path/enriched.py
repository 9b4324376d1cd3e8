"""The enriched archive: otf2-print reads it without complaint, it has all the events of the input,
and its metrics say what the analysis says, to the ns; two processes write the same."""
import json
import os
import re
import sys

from archive import WHERE, ctascope, fresh, otf2_print, traces

METRIC = re.compile(r'METRIC +(\d+) +(\d+) +Metric: \d+, 1 Value: \("([^"]+)" <\d+>; '
                    r'UINT64; (\d+)\)')
WAITING = re.compile(r'"Waiting Time" <\d+>; UINT64; (\d+)')
EVENT = re.compile(r"([A-Z_]+) +\d+ +\d+ ")


def events(text):
    counts = {}
    for line in text.splitlines():
        event = EVENT.match(line)
        if event:
            counts[event[1]] = counts.get(event[1], 0) + 1
    return counts


def left_out(kind):
    return kind == "METRIC" or kind.startswith(("PARAMETER", "PROGRAM"))


def check_metrics(text, report):
    level, sums, waiting_ns = {}, {"Critical Path": 0, "Wait State": 0, "Blame": 0}, 0
    begin_ns = {}
    for line in text.splitlines():
        waiting = WAITING.search(line)
        if waiting:
            waiting_ns += int(waiting[1])
        metric = METRIC.match(line)
        if not metric:
            continue
        location, time_ns, name, value = metric[1], int(metric[2]), metric[3], int(metric[4])
        key = location, name
        if name == "Blame":
            sums[name] += value
        else:
            assert value == 1 - level.get(key, 0), (line, "the level does not change")
            assert value == 0 or begin_ns.get(key) != time_ns, (line, "it had just ended")
            if value == 0:
                sums[name] += time_ns - begin_ns[key]
        level[key], begin_ns[key] = value, time_ns
    levels = {name for (_, name), value in level.items() if value and name != "Blame"}
    assert not levels, ("never ends", levels)
    assert sums["Critical Path"] == report["path_ns"], (sums, report["path_ns"])
    assert sums["Wait State"] == report["wait_ns"], (sums, report["wait_ns"])
    assert sums["Blame"] == report["blame_ns"], (sums, report["blame_ns"])
    # devices wait in gaps, too, where no activity ends
    assert report["host_wait_ns"] <= waiting_ns <= report["wait_ns"], (waiting_ns, report)


def check(trace):
    out = os.path.join(WHERE, "out")
    fresh(WHERE + "/out")
    done = ctascope(trace, "--format", "json", "--enriched", out)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    text = otf2_print(out + "/traces.otf2")
    before, after = events(otf2_print(trace, sound=False)), events(text)
    wrote = re.search(r"(\d+) events and (\d+) metric values; (\d+) events left", done.stderr)
    assert after.pop("METRIC") == len(METRIC.findall(text)) == int(wrote[2]), wrote[0]
    assert after == {kind: count for kind, count in before.items() if not left_out(kind)}
    assert sum(after.values()) == int(wrote[1]), (wrote[0], after)
    assert sum(before.values()) - int(wrote[1]) == int(wrote[3]), (wrote[0], before)
    check_metrics(text, report)
    again = json.loads(ctascope(out + "/traces.otf2", "--format", "json").stdout)
    for key in ("path_ns", "wait_ns", "blame_ns", "path_jumps", "activities", "devices"):
        assert again[key] == report[key], (key, again[key], report[key])
    if "MPIRUN" in os.environ and (trace.startswith(WHERE) or "jacobi" in trace):
        check_together(trace, text)
    # what is there is not overwritten
    assert ctascope(trace, "--enriched", out).returncode == 2


def check_together(trace, text):
    out = os.path.join(WHERE, "together")
    fresh(out)
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               OMPI_MCA_btl_vader_single_copy_mechanism="none")
    done = ctascope(trace, "--format", "json", "--enriched", out, env=env,
                    before=(os.environ["MPIRUN"], "--oversubscribe", "-n", "2"))
    assert done.returncode == 0, done.stderr
    assert otf2_print(out + "/traces.otf2") == text.replace(WHERE + "/out", out)


def main():
    fresh(WHERE)
    for trace in traces():
        check(trace)
        print("ok", trace)
    return 0


sys.exit(main())
