"""bench/whatif on the CPU device: the cases of two shares, merged, are those of one run; figures of the
table are those of the file."""
import csv
import os
import subprocess
import sys

from archive import CTASCOPE, WHERE, fresh

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
BENCH = os.path.join(ROOT, "bench/whatif")


def bench(*words, status=0):
    done = subprocess.run([sys.executable, BENCH, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=1200)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def main():
    fresh(WHERE)
    program = os.path.join(WHERE, "whatif")
    subprocess.run([CTASCOPE, "cc", "--device=cpu", "-O2", os.path.join(ROOT, "examples/timeline/whatif.cu"),
                    "-o", program], check=True)
    words = [CTASCOPE, program, "--seeds", "2", "--repeats", "2", "--streams", "1,2", "--blocks", "2",
             "--kernels", "20", "--work", "2000", "--gpus", "0,1"]
    files = []
    for share in ("1/2", "2/2"):
        files.append(os.path.join(WHERE, share.replace("/", "-") + ".csv"))
        bench(*words, "--share", share, "--csv", files[-1])
    rows = [row for file in files for row in csv.DictReader(open(file, newline=""))]
    assert sorted((row["streams"], row["seed"]) for row in rows) == \
           [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")], rows
    assert all(row["work"] == "2000" and float(row["runtime_ms"]) > 0 for row in rows)
    lines = bench("--merge", *files).splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [["2", "1", "2"], ["2", "2", "2"]], lines
    mean = sum(float(row["runtime_ms"]) for row in rows if row["streams"] == "1") / 2
    assert lines[1].split()[4] == f"{mean:.1f}", (lines, mean)
    assert "is there already" in bench("--merge", files[0], files[0], status=1)
    broken = os.path.join(WHERE, "broken.csv")
    open(broken, "w").write(open(files[0]).read().replace(",2000,", ",two,"))
    assert "is no case" in bench("--merge", broken, status=1)
    assert "cases failed" in bench(CTASCOPE, "/bin/false", "--seeds", "1", "--streams", "1", "--blocks",
                                   "1", "--work", "1", status=1)
    return 0


sys.exit(main())
