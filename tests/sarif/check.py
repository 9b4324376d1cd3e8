"""SARIF of `access` and `diff`, and their exit codes.

check.py CTASCOPE: compiles, records and changes a program of its own, in a directory whose name has to be
written with percent signs, and compares findings, places, fingerprints and states with what it planted."""

import copy
import json
import os
import subprocess
import sys
import tempfile
import urllib.parse

import sarif

program = sys.argv[1]
SOURCE = """#include <cstdio>
// A store of every 64th word, a read of what nobody wrote, and a store by all CTAs.
__global__ void apart(int *to) { to[threadIdx.x * 64] = 1; }
__global__ void early(const int *from, int *to) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void shared_word(int *to) { to[0] = blockIdx.x; }
__global__ void clean(int *to) { to[blockIdx.x * blockDim.x + threadIdx.x] = 2; }
int main() {
    int *a, *b;
    cudaMalloc(&a, 1 << 16);
    cudaMalloc(&b, 1 << 16);
    CALLS
    return cudaDeviceSynchronize();
}
"""
APART, EARLY, RACE, CLEAN = "apart<<<1, 32>>>(a);", "early<<<1, 32>>>(b, a);", "shared_word<<<4, 1>>>(a);", "clean<<<8, 32>>>(a);"


def run(*words, cwd=None, code=0):
    done = subprocess.run([program, *words], capture_output=True, text=True, cwd=cwd)
    if done.returncode != code:
        sys.exit(f"{words}: exit status {done.returncode} instead of {code}\n{done.stdout[-2000:]}{done.stderr}")
    return done


def same(got, wanted, what):
    if got != wanted:
        sys.exit(f"{what}: {got!r} instead of {wanted!r}")


def record(where, name, calls, above=""):
    """The program with these launches and some lines more at its top, as `where`/name.run."""
    path = os.path.join(where, f"{name}.cu")
    with open(path, "w") as file:
        file.write(above + SOURCE.replace("CALLS", " ".join(calls)))
    run("cc", "-O2", path, "-o", os.path.join(where, name))
    run("record", "--force", "-o", os.path.join(where, f"{name}.run"), "--", os.path.join(where, name))
    return os.path.join(where, f"{name}.run")


def sarif_of(*words, cwd=None):
    log = json.loads(run(*words, "--format", "sarif", cwd=cwd).stdout)
    sarif.check(log)
    same(len(log["runs"]), 1, "runs")
    return log


def results(log):
    return log["runs"][0]["results"]


def fingerprints(log):
    return {r["ruleId"]: r["partialFingerprints"]["ctascopeFinding/v1"] for r in results(log)}


def check_findings(log, where):
    """Those planted, at their lines, below the source root that the test chose."""
    by_rule = {r["ruleId"]: r for r in results(log)}
    lines = {"strided-access": 3, "uninitialised-read": 4, "possible-race": 5}
    levels = {"strided-access": "note", "uninitialised-read": "error", "possible-race": "warning"}
    same(set(by_rule) >= set(lines), True, f"findings {sorted(by_rule)} include those planted")
    base = log["runs"][0]["originalUriBaseIds"]["SRCROOT"]["uri"]
    same(urllib.parse.unquote(base), f"file://{where}/", "source root")
    for rule, line in lines.items():
        place = by_rule[rule]["locations"][0]["physicalLocation"]
        same(place["artifactLocation"], {"uri": "app.cu", "uriBaseId": "SRCROOT"}, f"file of {rule}")
        same(place["region"]["startLine"], line, f"line of {rule}")
        same(by_rule[rule]["level"], levels[rule], f"level of {rule}")
    other = by_rule["possible-race"]["relatedLocations"][0]["physicalLocation"]
    same(other["region"]["startLine"], 5, "the other access of the race")


def check_places(app, where):
    """From elsewhere, files are absolute; with --source-root, relative to that; bad roots are refused."""
    (result, *_) = results(sarif_of("access", app, cwd="/usr"))
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    same(urllib.parse.unquote(place["uri"]), f"file://{where}/app.cu", "a file outside of the root")
    parent = os.path.dirname(where)
    (result, *_) = results(sarif_of("access", app, "--source-root", parent, cwd="/usr"))
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    same(urllib.parse.unquote(place["uri"]), f"{os.path.basename(where)}/app.cu", "a file below --source-root")
    run("access", app, "--format", "sarif", "--source-root", f"{where}/none", code=2)
    run("access", app, "--source-root", where, code=2)
    run("access", app, "--format", "sarif", "--per", "launch", code=2)


def check_exit_codes(app, silent):
    """3 where the condition is met, with a line that says so; 0 else, and what is printed is the same."""
    for word, wanted in (("fault", 3), ("race", 3), ("finding", 3)):
        done = run("access", app, "--fail-on", word, code=wanted)
        same(f"--fail-on {word}: " in done.stderr, True, f"message of --fail-on {word}")
        same(done.stdout, run("access", app).stdout, f"output of --fail-on {word}")
        run("access", silent, "--fail-on", word)
        run("access", app, "--fail-on", word, "--kernel-name", "clean(int*)")
    run("access", app, "--kernel-name", "regex:^apart", "--fail-on", "fault")
    run("access", app, "--kernel-name", "regex:^apart", "--fail-on", "finding", code=3)
    run("access", app, "--kernel-name", "regex:^early", "--fail-on", "race")
    run("access", app, "--fail-on", "nothing", code=2)
    run("diff", silent, app, "--fail-on", "new", code=3)
    run("diff", app, silent, "--fail-on", "new")


def states(log):
    return {r["ruleId"]: r["baselineState"] for r in results(log)}


def check_tables():
    """The checks of sarif.py find what is wrong with a log."""
    good = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x", "rules": [{"id": "a"}]}},
            "results": [{"ruleId": "a", "ruleIndex": 0, "message": {"text": "t"}, "partialFingerprints": {"k": "1"}}]}]}
    sarif.check(good)
    for spoil in (lambda g: g.pop("version"), lambda g: g["runs"][0].pop("tool"), lambda g: g["runs"][0].update(extra=1),
                  lambda g: g["runs"][0]["results"][0].update(level="fatal"),
                  lambda g: g["runs"][0]["results"][0].pop("message"),
                  lambda g: g["runs"][0]["results"][0].update(ruleId="b"),
                  lambda g: g["runs"][0]["results"].append(g["runs"][0]["results"][0])):
        bad = copy.deepcopy(good)
        spoil(bad)
        try:
            sarif.check(bad)
        except ValueError:
            continue
        sys.exit(f"accepted: {bad}")


with tempfile.TemporaryDirectory() as top:
    check_tables()
    place = os.path.join(os.path.realpath(top), "a place, 100% ü")
    other = os.path.join(os.path.realpath(top), "moved")
    os.mkdir(place)
    os.mkdir(other)
    everything = [APART, RACE, CLEAN, EARLY]
    app = record(place, "app", everything)
    silent = record(place, "silent", [CLEAN])
    log = sarif_of("access", app, cwd=place)
    check_findings(log, place)
    same(results(sarif_of("access", silent, cwd=place)), [], "findings of a clean program")
    check_places(app, place)
    check_exit_codes(app, silent)
    # The same program in another place, two lines further down, launched in another order.
    again = record(other, "app", everything[1:] + everything[:1], above="// one\n// two\n")
    same(fingerprints(sarif_of("access", again, cwd=other)), fingerprints(log), "fingerprints")
    # One finding goes, the others stay.
    after = record(other, "app", [RACE, CLEAN, EARLY])
    log = sarif_of("diff", app, after, cwd=other)
    got = states(log)
    same(got["strided-access"], "absent", "state of what is gone")
    same(got["possible-race"], "unchanged", "state of what stays")
    same(states(sarif_of("diff", after, app, cwd=other))["strided-access"], "new", "state of what is new")
print("sarif: valid, stable, and where it was planted")
