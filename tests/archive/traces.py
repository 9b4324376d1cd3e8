"""Score-P's traces: as many events of each kind as otf2-print sees, and all in order."""
import collections
import json
import os
import shutil
import subprocess
import sys
import unittest

CTASCOPE, PROGRAM, LIBRARY, TRACES = sys.argv[1:5]
COUNTED_ONLY = {"PROGRAM_BEGIN", "PROGRAM_END", "METRIC", "PARAMETER_STRING", "PARAMETER_INT",
                "PARAMETER_UNSIGNED_INT"}


def printed(anchor):
    """Counts of otf2-print's events by name."""
    lines = subprocess.run(["otf2-print", anchor], check=True, text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL).stdout.splitlines()
    counts = collections.Counter()
    events = False
    for line in lines:
        if line.startswith("=== Events"):
            events = True
        words = line.split()
        if events and len(words) > 2 and words[0].isupper() and words[1].isdigit() \
                and words[2].isdigit():
            counts["OTHER" if words[0] in COUNTED_ONLY else words[0]] += 1
    return counts


class Traces(unittest.TestCase):
    @unittest.skipUnless(os.path.isdir(TRACES), "the traces are not here")
    @unittest.skipUnless(shutil.which("otf2-print"), "otf2-print is not installed")
    def test_counts(self):
        seen = 0
        for name in sorted(os.listdir(TRACES)):
            anchor = os.path.join(TRACES, name, "traces.otf2")
            if not os.path.exists(anchor):
                continue
            with self.subTest(trace=name):
                done = subprocess.run([CTASCOPE, "info", "--format", "json", anchor], text=True,
                                      stdout=subprocess.PIPE, check=True)
                timeline = json.loads(done.stdout)["timeline"]
                self.assertEqual(timeline["kinds"], dict(printed(anchor)))
                self.assertEqual(timeline["warnings"], [])
                check = subprocess.run([CTASCOPE, "dump", "--timeline", "--check", anchor],
                                       text=True, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT)
                self.assertEqual(check.returncode, 0, check.stdout)
                seen += 1
        self.assertGreater(seen, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
