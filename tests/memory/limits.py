#!/usr/bin/env python3
"""Every verb keeps within --memory-limit what it takes more for without, and prints the same.

    limits.py CTASCOPE PATH-GENERATE FOLDER

Peaks are those of the process (ru_maxrss, VmHWM). A limit that is too small is refused in one line,
which names one that is not."""
import os
import re
import shutil
import subprocess
import sys
import unittest

CTASCOPE, GENERATE, FOLDER = sys.argv[1:4]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "view"))
sys.path.insert(0, os.path.join(HERE, ".."))
from count import test_count  # noqa: E402
from serve import Server  # noqa: E402
MIB = 1 << 20
LEAST = 64
# Elements as powers of two, events.
LARGE, SMALL, EVENTS = test_count((20, 19, 1300000), (22, 20, 3500000))


def run(arguments):
    """Exit status, output, errors, peak bytes."""
    out, err = os.path.join(FOLDER, "out"), os.path.join(FOLDER, "err")
    with open(out, "wb") as stdout, open(err, "wb") as stderr:
        child = subprocess.Popen([CTASCOPE, *arguments], stdout=stdout, stderr=stderr)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    with open(out, "rb") as stdout, open(err, "r", encoding="utf-8") as stderr:
        return child.returncode, stdout.read(), stderr.read(), usage.ru_maxrss * 1024


def record(program, bits, rounds=1):
    path = os.path.join(FOLDER, f"{bits}-{rounds}.run")
    subprocess.run([CTASCOPE, "record", "-o", path, "--", program, str(bits), str(rounds)],
                   check=True, capture_output=True)
    return path


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(FOLDER, ignore_errors=True)
        os.makedirs(FOLDER)
        program = os.path.join(FOLDER, "scatter")
        subprocess.run([CTASCOPE, "cc", "-O2", os.path.join(HERE, "scatter.cu"), "-o", program],
                       check=True, capture_output=True)
        cls.program = program
        cls.large, cls.small = record(program, LARGE), record(program, SMALL)
        subprocess.run([GENERATE, "free", str(EVENTS), "2", os.path.join(FOLDER, "time")], check=True,
                       capture_output=True)
        cls.time = os.path.join(FOLDER, "time", "traces.otf2")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(FOLDER, ignore_errors=True)

    def check_same(self, exceeds, *arguments):
        """What lies in memory without, of which no more than half of the limit may, prints the same
        within it."""
        status, output, errors, peak = run(arguments)
        self.assertEqual(status, 0, errors)
        if exceeds:
            self.assertGreater(peak, LEAST * MIB * 3 // 4, arguments)
        status, limited, errors, peak = run([*arguments, "--memory-limit", f"{LEAST}M"])
        self.assertEqual(status, 0, errors)
        self.assertEqual(limited, output, arguments)
        self.assertLessEqual(peak, LEAST * MIB, arguments)

    def test_comm(self):
        self.check_same(True, "comm", self.large, "--format", "json")

    def test_access(self):
        self.check_same(True, "access", record(self.program, LARGE + 1), "--format", "json")

    def test_access_by_several_threads(self):
        """Each thread paints late what is scattered; the bits that it paints are of all threads."""
        path = record(self.program, 20, 3)
        outputs = {run(["access", path, "--threads", str(threads), "--format", "json"])[:2]
                   for threads in (1, 2, 3)}
        self.assertEqual(len(outputs), 1)

    def test_partition(self):
        self.check_same(True, "partition", self.small, "--format", "json")

    def test_report(self):
        pages = []
        for more in ([], ["--memory-limit", f"{LEAST}M"]):
            page = os.path.join(FOLDER, "page.html")
            status, _, errors, peak = run(["report", self.small, "-o", page, *more])
            self.assertEqual(status, 0, errors)
            self.assertEqual(peak <= LEAST * MIB, bool(more), peak)
            with open(page, "rb") as file:
                pages.append(file.read())
        self.assertEqual(pages[0], pages[1])

    def test_diff(self):
        self.check_same(True, "diff", self.large, self.large, "--format", "json")

    def test_info(self):
        self.check_same(False, "info", self.small, "--check", "--format", "json")

    def test_flow(self):
        self.check_same(False, "flow", self.small, "--format", "json")

    def test_dump(self):
        self.check_same(False, "dump", self.small, "--accesses", "--launch", "1")

    def test_path(self):
        self.check_same(True, "path", self.time, "--format", "json")

    def test_whatif(self):
        self.check_same(True, "whatif", self.time, "--scale", "*=2", "--format", "json")

    def test_compare_time(self):
        self.check_same(True, "diff", "--time", self.time, self.time, "--format", "json")

    def test_view(self):
        """The server with all its answers together."""
        with Server(CTASCOPE, self.small, "--memory-limit", "96M") as server:
            for question in ("run", "launches", "communication", "findings"):
                self.assertTrue(server.json(question), question)
            with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
                peak = int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1)) * 1024
        self.assertLessEqual(peak, 96 * MIB)

    def test_too_little_is_refused_in_one_line_that_names_enough(self):
        for verb in ("info", "comm", "access", "partition", "flow", "report"):
            status, output, errors, _ = run([verb, self.small, "--memory-limit", "1M"])
            self.assertEqual((status, output, errors.count("\n")), (1, b"", 1), errors)
            self.assertIn(f"at least {LEAST}M", errors)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
