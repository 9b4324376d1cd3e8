#!/usr/bin/env python3
"""What the preloaded wrappers report of a program, by the text recorder (tests/mpi).

    check.py KIND TEXT_RECORDER LIBRARY PROGRAM

KIND is a function below. Events are compared as a list: '+NAME' entered, '-NAME' left."""
import os
import subprocess
import sys
import tempfile


def fail(text):
    sys.exit(f"check: {text}")


def record(recorder, library, program, more=None, preload=True):
    """(lines of text, events by thread: "+name" and "-name" with the fields' text)"""
    with tempfile.TemporaryDirectory() as where:
        environment = dict(os.environ, TEXT_RECORDER=where, **(more or {}))
        environment["LD_PRELOAD"] = f"{recorder} {library}" if preload else recorder
        done = subprocess.run([program], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=1200)
        if done.returncode:
            fail(f"{program} ended with {done.returncode}:\n{done.stdout}")
        files = os.listdir(where)
        if not files:
            return [], {}
        with open(os.path.join(where, files[0])) as file:
            lines = file.read().splitlines()
    threads, last = {}, {}
    for line in lines:
        words = line.split(" ")
        if words[0] == "-":
            continue
        if int(words[0]) < last.get(words[1], 0):
            fail(f"time goes back: {line}")
        last[words[1]] = int(words[0])
        rest = line.split("region=", 1)[1]
        threads.setdefault(words[1], []).append(("+" if words[2] == "ENTER" else "-") + rest)
    for thread, events in threads.items():
        stack = []
        for event in events:
            name = event[1:].split(" attribute")[0]
            if event[0] == "+":
                stack.append(name)
            elif not stack or stack.pop() != name:
                fail(f"thread {thread}: {event} is not the region that was entered last")
        if stack:
            fail(f"thread {thread}: never left: {stack}")
    return lines, threads


def compare(got, expected, what):
    if got != expected:
        fail(f"{what}:\n  got      {got}\n  expected {expected}")


def inside(name, *events):
    return [f"+{name}", *events, f"-{name}"]


def nvtx(recorder, library, program):
    lines, threads = record(recorder, "", program, {"NVTX_INJECTION64_PATH": library})
    wide = "größer ∑ 😀"
    first, second = "first: registered", "second: plain"
    compare(threads["0"],
            inside("outer", *inside("inner", *inside("a mark")), *inside(wide)) +
            # 'first' ends inside 'second', which is split
            ["+" + first, "+" + second, "-" + second, "-" + first, "+" + second, "-" + second] +
            inside("second: range") +
            ["+one", "+two", "-two", "-one", "+two", "-two"] +
            # the other thread ended it; main hears of that at its next call
            inside("far") + inside("after"), "main thread")
    compare(threads["1"], inside("in the other", *inside("end of far")), "other thread")
    names = [line.split("THREAD name=")[1] for line in lines if "THREAD name=" in line]
    compare(names, ["main by itself", "main by another"], "names of the main thread")


def regions(recorder, library, program):
    leaf = inside("leaf", *inside("in leaf"))
    lines, threads = record(recorder, library, program)
    compare(threads["0"],
            inside("main", *inside("all", *inside(
                "visible_function", *(["+jumps"] + leaf + leaf + ["-jumps"])))),
            "main thread, where a longjmp leaves 'jumps' open until its caller ends")
    compare(threads["1"], inside("in_thread", *leaf), "other thread")
    lines, threads = record(recorder, library, program, {"CTASCOPE_FUNCTIONS": "^(main|lea.)$"})
    compare(threads["0"], inside("main", *inside("all", *leaf, *leaf)), "functions chosen")
    lines, threads = record(recorder, library, program, {"CTASCOPE_FUNCTIONS": "(("})
    if not any("CTASCOPE_FUNCTIONS '(('" in line for line in lines):
        fail("nothing is said of a bad regular expression")
    # No recorder: nothing happens.
    subprocess.run([program], check=True, env=dict(os.environ, LD_PRELOAD=library))
    subprocess.run([program], check=True)


def nccl(recorder, library, program):
    lines, threads = record(recorder, library, program)
    streams = {line.split(" ")[3].split("=")[1]: line.split(" ", 4)[4] for line in lines
               if line.startswith("- - STREAM")}
    seen = []
    for event in threads["0"]:
        name, *attributes = event.split(" ")
        fields = dict(a.split("=") for a in attributes)
        seen.append((name, fields))
    compare([name for name, _ in seen],
            [sign + name for name in
             ("ncclCommInitRank", "ncclAllReduce", "ncclGroupStart", "ncclBcast", "ncclSend",
              "ncclGroupEnd", "ncclCommSplit", "ncclAllReduce", "ncclCommDestroy",
              "ncclCommDestroy") for sign in "+-"], "calls")
    entered = [fields for name, fields in seen if name[0] == "+"]
    communicator, size, stream = "attribute15", "attribute16", "attribute0"
    reduced, broadcast, sent, reduced_half = entered[1], entered[3], entered[4], entered[7]
    compare([f[size] for f in (reduced, broadcast, sent, reduced_half)],
            ["4000", "80", "6", "4000"], "bytes")
    compare([streams[f[stream]] for f in (reduced, broadcast, sent, reduced_half)],
            ["device=3 context=256 stream=800", "device=3 context=512 stream=0",
             "device=3 context=256 stream=800", "device=3 context=256 stream=960"], "streams")
    if len({f[communicator] for f in (reduced, broadcast, sent)}) != 1:
        fail("one communicator has several numbers")
    if reduced[communicator] == reduced_half[communicator]:
        fail("two communicators have one number")
    if entered[9][communicator] != reduced[communicator] or stream in entered[9]:
        fail(f"ncclCommDestroy is of {entered[9]}")
    record("", library, program)  # no recorder


def main():
    kind, recorder, library, program = sys.argv[1:]
    {"nvtx": nvtx, "regions": regions, "nccl": nccl}[kind](recorder, library, program)
    print(f"check: {kind} as expected")


main()
