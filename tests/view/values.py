"""Values that the server answers, against those that `ctascope dump` prints. The program's two units
are compiled with values and without: records of both are among the answers.

    values.py CTASCOPE PROGRAMS WORK"""
import json
import os
import shutil
import subprocess
import sys

from serve import Server

ctascope, programs, work = sys.argv[1:]
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
SHOWN_BYTES = 64  # accesses of more are not in the view


def run(*arguments):
    return subprocess.run([ctascope, *arguments], capture_output=True, check=True, text=True).stdout


def record(name, *options):
    run("record", "-o", f"{work}/{name}.run", *options, "--", f"{work}/{name}")
    return f"{work}/{name}.run"


def check(path, has_values):
    """Returns how many lanes had a value, and how many none."""
    records = json.loads(run("dump", path, "--accesses", "--lanes", "--format", "json"))
    with_value = without = 0
    with Server(ctascope, path) as server:
        assert server.json("run")["hasValues"] is has_values
        for launch in sorted({record["launch"] for record in records}):
            expected = [record for record in records
                        if record["launch"] == launch and record["width_bytes"] <= SHOWN_BYTES]
            numbers, columns = server.columns("records", launch=launch, count=16384)
            assert numbers[0] == len(expected)
            width, values, marks = int(numbers[1]), bytes(columns[11]), columns[12]
            assert len(values) == width * 32 * len(expected) and len(marks) == len(expected)
            for i, record in enumerate(expected):
                is_whole = "value" in record["lanes"][0]
                assert marks[i] == is_whole, record
                for lane in record["lanes"] if is_whole else ():
                    at = (32 * i + lane["lane"]) * width
                    data = b"".join(int(word, 16).to_bytes(8, "little") for word in lane["value"])
                    assert values[at:at + record["width_bytes"]] == data[:record["width_bytes"]]
                    assert record["width_bytes"] <= width
                with_value += len(record["lanes"]) * is_whole
                without += len(record["lanes"]) * (not is_whole)
    return with_value, without


run("cc", "-O2", "--values", f"{programs}/values-kinds.cu", "-o", f"{work}/kinds")
kinds = record("kinds", "--values", "--deterministic")
found = check(kinds, True)
assert found[0] > 10000 and found[1] == 0, found
os.rename(kinds, f"{work}/with.run")
assert check(record("kinds"), False)[0] == 0

for unit, flags in (("a", ("--values",)), ("b", ())):
    run("cc", "-O2", "-rdc=true", "-c", *flags, f"{programs}/values-unit-{unit}.cu", "-o",
        f"{work}/{unit}.o")
run("cc", "-rdc=true", f"{work}/a.o", f"{work}/b.o", "-o", f"{work}/units")
assert check(record("units", "--values"), True) == (64 * 40 * 2 + 64, 64 * 40 * 2 + 64)
print(f"values of {found[0]} lanes are those of the recording")
