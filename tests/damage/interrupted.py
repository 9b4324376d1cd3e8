#!/usr/bin/env python3
"""What signals leave of a verb's outputs: nothing of what is not finished, and what was there before.
hang.c stops the verb at the place where the signal comes.

    interrupted.py CTASCOPE PROGRAM_DIRECTORY HANG
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "..", "record"))
HANG = os.path.abspath(sys.argv.pop(3))
import support  # noqa: E402

CTASCOPE = support.ctascope_path
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def tree(folder="."):
    """Name -> content, of all files."""
    found = {}
    for path, folders, files in os.walk(folder):
        found.update({os.path.join(path, name): None for name in folders})
        for name in files:
            with open(os.path.join(path, name), "rb") as file:
                found[os.path.join(path, name)] = file.read()
    return found


class Interrupted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="ctascope-interrupted-")
        os.chdir(cls.directory)
        cls.program = support.compiled("launches.cu", "-O2")
        subprocess.run(cls.record("run"), check=False, env=support.environment(), stderr=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)
        os.mkdir("work")
        os.chdir("work")

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        shutil.rmtree(cls.directory)

    def tearDown(self):
        for name in os.listdir("."):
            shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)

    @classmethod
    def record(cls, run, *options):
        return [CTASCOPE, "record", "--memory", "--timeline", *options, "-o", run, "--", cls.program, "2", "4"]

    def end(self, number, function, *words, at=1, meanwhile=None):
        """The number of the process that ended by the signal in that call; a file that another made then."""
        mark = os.path.join(self.directory, "mark")
        env = support.environment(LD_PRELOAD=HANG, HANG_IN=function, HANG_AT=str(at), HANG_MARK=mark)
        process = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=support.default_signals)
        while not os.path.exists(mark):
            if process.poll() is not None:
                self.fail(process.communicate()[1])
            time.sleep(0.01)
        os.remove(mark)
        if meanwhile:
            open(meanwhile, "wb").close()
        process.send_signal(number)
        error = process.communicate(timeout=300)[1]
        self.assertEqual(process.returncode, -number, error)
        return process.pid

    def call(self, *words, status=0):
        done = subprocess.run(words, text=True, check=False, capture_output=True, env=support.environment())
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_outputs(self):
        outputs = ((("report", "../run", "-o"), "page.html"), (("export", "../run", "-o"), "trace.trc"),
                   (("export", "../run", "--format", "json", "-o"), "folder"))
        for words, name in outputs:
            for number in ENDS if name == "page.html" else ENDS[:1]:
                self.end(number, "rename", CTASCOPE, *words, name)
                self.assertEqual(tree(), {}, (words, number))
        with open("page.html", "w", encoding="ascii") as file:
            file.write("before")
        self.end(signal.SIGTERM, "rename", CTASCOPE, "report", "../run", "-o", "page.html")
        self.assertEqual(tree(), {"./page.html": b"before"})

    def test_enriched(self):
        self.end(signal.SIGINT, "OTF2_Archive_Close", CTASCOPE, "path", "../run", "--enriched", "new")
        self.assertEqual(tree(), {})
        os.mkdir("empty")
        self.end(signal.SIGTERM, "OTF2_Archive_Close", CTASCOPE, "path", "../run", "--enriched", "empty")
        self.assertEqual(tree(), {"./empty": None})
        self.end(signal.SIGTERM, "OTF2_Archive_Close", CTASCOPE, "path", "../run", "--enriched", "empty",
                 meanwhile="empty/notes")
        self.assertEqual(os.listdir("empty"), ["notes"])

    def test_force(self):
        """Before the new run exists, the old one stays; then it goes."""
        shutil.copytree("../run", "run")
        before = self.call(CTASCOPE, "dump", "run", "--accesses", "--format", "csv").stdout
        for function in ("sqlite3_open_v2", "sqlite3_close"):  # without a catalogue, and with one
            self.end(signal.SIGINT, function, *self.record("run", "--force"), at=2)
            self.assertEqual(os.listdir("."), ["run"])
            self.assertEqual(self.call(CTASCOPE, "dump", "run", "--accesses", "--format", "csv").stdout, before)
            self.assertRegex(self.call(CTASCOPE, "info", "run").stdout, "complete +yes")
        self.end(signal.SIGTERM, "unlinkat", *self.record("run", "--force"), at=2)
        self.assertEqual(os.listdir("."), ["run"])
        self.call(*self.record("run", "--force"), status=3)
        self.assertEqual(os.listdir("."), ["run"])
        self.assertRegex(self.call(CTASCOPE, "info", "run").stdout, "complete +yes")

    def test_what_was_killed_is_removed_by_the_next(self):
        kept = {"./page.html.part-1": b"", "./page.html.part-": b"", "./page.html.part-2x": b"",
                "./other.part-4194305": b""}
        for name in kept:
            open(name, "wb").close()
        killed = self.end(signal.SIGKILL, "rename", CTASCOPE, "report", "../run", "-o", "page.html")
        self.assertIn(f"page.html.part-{killed}", os.listdir("."))
        self.call(CTASCOPE, "report", "../run", "-o", "page.html")
        self.assertEqual(sorted(tree()), sorted([*kept, "./page.html"]))
        self.tearDown()
        killed = self.end(signal.SIGKILL, "rename", CTASCOPE, "export", "../run", "--format", "json", "-o", "folder")
        self.assertEqual(os.listdir("."), [f"folder.part-{killed}"])
        self.call(CTASCOPE, "export", "../run", "--format", "json", "-o", "folder")
        self.assertEqual(os.listdir("."), ["folder"])
        self.tearDown()
        shutil.copytree("../run", "run")
        killed = self.end(signal.SIGKILL, "sqlite3_open_v2", *self.record("run", "--force"), at=2)
        self.assertIn(f"run.old-{killed}", os.listdir("."))
        shutil.rmtree("run")  # without a whole catalogue
        self.call(*self.record("run"), status=3)
        self.assertIn(f"run.old-{killed}", os.listdir("."))
        self.call(*self.record("run", "--force"), status=3)
        self.assertEqual(os.listdir("."), ["run"])


if __name__ == "__main__":
    support.main()
