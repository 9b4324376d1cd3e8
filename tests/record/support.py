"""What the tests of recording share.

    NAME.py CTASCOPE PROGRAM_DIRECTORY [unittest's arguments]

A test is a unittest.TestCase of a RecordTest; each of its methods has an empty directory of its own,
which is the current one, and removed afterwards. PROGRAM_DIRECTORY is where the build has put what a test
loads; ../compiled.py compiles programs once for all tests.
"""
import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "examples")
sys.dont_write_bytecode = True
sys.path.insert(1, os.path.dirname(HERE))
from compiled import compiled as compiled_once  # noqa: E402

ctascope_path = os.path.abspath(sys.argv[1]) if len(sys.argv) > 2 else "ctascope"
program_directory = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else "."


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])


def compiled(*arguments, example=False):
    """The program that `ctascope cc ARGUMENTS` makes; names that end with .cu are programs/NAME."""
    folder = EXAMPLES if example else os.path.join(HERE, "programs")
    return compiled_once(ctascope_path, *(os.path.join(folder, word) if word.endswith(".cu") else word
                                          for word in arguments))


def environment(**more):
    """Ours without what a surrounding MPI or an earlier recording may have set, and `more`."""
    strange = ("CTASCOPE_", "OMPI_", "PMIX_", "PMI_", "MV2_")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(strange)}
    kept.update({key: str(value) for key, value in more.items()})
    return kept


def default_signals():
    """A job that a shell put into the background ignores some, and its children would too."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class RecordTest(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="ctascope-record-")
        os.chdir(self.directory)

    def tearDown(self):
        os.chdir("/")
        shutil.rmtree(self.directory, ignore_errors=True)

    # ---- running ----

    def run_(self, *command, status=0, timeout=1200, **options):
        """Runs a command; its exit status must be `status` (None: any)."""
        options.setdefault("env", environment())
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        done = subprocess.run(command, text=True, timeout=timeout, check=False, **options)
        if status is not None and done.returncode != status:
            self.fail(f"{command} ended with {done.returncode}, not {status}\n"
                      f"{done.stdout}\n{done.stderr}")
        return done

    def ctascope(self, *arguments, **options):
        return self.run_(ctascope_path, *arguments, **options)

    def record(self, run, *words, options=(), **more):
        """Records; words[0] is the program."""
        return self.ctascope("record", "-o", run, *options, "--", *words, **more)

    def start(self, *command, env=None, **options):
        process = subprocess.Popen(command, env=env or environment(), text=True,
                                   preexec_fn=default_signals, **options)
        self.addCleanup(self._end, process)
        return process

    @staticmethod
    def _end(process):
        if process.poll() is None:
            process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()
        process.wait()

    def wait_for(self, condition, what, seconds=1200):
        until = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > until:
                self.fail(f"waited {seconds} s in vain: {what}")
            time.sleep(0.005)

    # ---- reading ----

    def info(self, run):
        return json.loads(self.ctascope("info", run, "--format", "json").stdout)

    def comm(self, run, *options):
        return json.loads(self.ctascope("comm", run, "--format", "json", *options).stdout)

    def table(self, run, name):
        text = self.ctascope("dump", run, "--table", name, "--format", "csv").stdout
        return list(csv.DictReader(io.StringIO(text)))

    def records(self, run, *options):
        """The warp records as dictionaries of texts."""
        text = self.ctascope("dump", run, "--accesses", "--format", "csv", *options).stdout
        return list(csv.DictReader(io.StringIO(text)))

    def records_by_launch(self, run):
        """Launch id -> its records as lines of CSV, sorted: CTAs of several workers come as they
        come."""
        text = self.ctascope("dump", run, "--accesses", "--format", "csv").stdout
        result = {}
        for line in text.splitlines()[1:]:
            result.setdefault(int(line.split(",", 1)[0]), []).append(line)
        for lines in result.values():
            lines.sort()
        return result

    def one_line(self, text, start, *parts):
        """`text` is one line that starts so and has these parts."""
        self.assertEqual(text.count("\n"), 1, f"not one line: {text!r}")
        self.assertTrue(text.startswith(start), f"{text!r} does not start with {start!r}")
        for part in parts:
            self.assertIn(part, text)
