#!/usr/bin/env python3
"""Programs that do to their process what a recorder does not expect: each ends as it does without
one, and its run is whole, of memory and of time. docs/results/2026-11-23-robustness.md lists the whole trial."""
import json
import os
import subprocess
import unittest

import support

# What strangers.cu does; each prints "right" and ends with 7.
WHOLE = ("close-range", "limit-memory", "gone-directory", "fork", "raw-fork-exit",
         "vfork", "signals", "clone", "no-close-range", "small-stack", "tiny-stack", "standard-files")


def environment_of(what):
    """Without memory a second worker cannot begin, recorded or not: one that has begun goes on."""
    return support.environment(**({"CTASCOPE_WORKERS": "1"} if what == "limit-memory" else {}))


class Strangers(support.RecordTest):
    @classmethod
    def setUpClass(cls):
        cls.program = support.compiled("strangers.cu", "-O2")

    def test_memory(self):
        for what in WHOLE:
            with self.subTest(what=what):
                done = self.record(what, self.program, what, status=7, env=environment_of(what))
                self.assertEqual(done.stdout, "right\n")
                self.assertIs(self.comm(what)["soundness"]["lower_bound"], False)

    def test_time(self):
        for what in WHOLE:
            with self.subTest(what=what):
                done = self.record(what, self.program, what, status=7, options=("--timeline",),
                                   env=environment_of(what))
                self.assertEqual(done.stdout, "right\n")
                path = self.ctascope("path", what, "--format", "json").stdout
                self.assertIs(json.loads(path)["lower_bound"], False)

    def test_files_may_not_grow(self):
        """A worker that comes late has no file: then the run says what it lacks."""
        for options in ((), ("--timeline",)):
            run = f"run-{len(options)}"
            done = self.record(run, self.program, "limit-file-size", status=7, options=options)
            self.assertEqual(done.stdout, "right\n")
        totals = self.info("run-0")["totals"]
        self.assertEqual(totals["accesses"] + totals["dropped_accesses"], totals["launches"] * 2048)
        self.assertEqual(self.comm("run-0")["soundness"]["lower_bound"],
                         totals["dropped_accesses"] > 0)

    @unittest.skipIf(os.getuid() != 0, "only root becomes another user")
    def test_rights_lost_on_the_way(self):
        """What could not be written is named as that; nothing says that the program was cut off."""
        program = support.compiled("loses-its-rights.cu", "-O2")
        done = self.record("run", program, status=6)
        said = json.dumps(self.comm("run"))
        self.assertRegex(said, "could not write [0-9]+ rows of its catalogue")
        self.assertNotRegex(said + done.stderr, "exit normally|ended early")
        self.assertIs(self.comm("run")["soundness"]["lower_bound"], True)

    def test_nobody_reads_what_is_said(self):
        """A message of the recorder's into a closed pipe does not end the program."""
        first, second = os.pipe()
        os.close(first)
        with open("out", "w", encoding="utf-8") as out:
            done = subprocess.run(
                [self.program, "nothing"], stdout=out, stderr=second, check=False,
                env=support.environment(CTASCOPE_RUN=os.path.abspath("no/such/folder")))
        os.close(second)
        with open("out", encoding="utf-8") as out:
            self.assertEqual(out.read(), "right\n")
        self.assertEqual(done.returncode, 7)

    def test_nobody_reads_what_record_says(self):
        """`record`'s own last line into a closed pipe; the program sees SIGPIPE as it always does."""
        for options in ((), ("--timeline",), ("--timeline", "--memory")):
            first, second = os.pipe()
            os.close(first)
            try:
                done = subprocess.run(
                    [support.ctascope_path, "record", *options, "-o", f"run{len(options)}", "--",
                     self.program, "nothing"], stdout=subprocess.PIPE, stderr=second, check=False,
                    env=support.environment())
            finally:
                os.close(second)
            self.assertEqual((done.returncode, done.stdout), (7, b"right\n"))
        self.record("pipe", "sh", "-c", "kill -PIPE $$", status=128 + 13)

    def test_a_name_is_one_line(self):
        """A line feed and an escape in the run's name do not reach the terminal."""
        for options in ((), ("--timeline",)):
            done = self.record(f"a\nb\x1b[2J{len(options)}", self.program, "nothing", status=7,
                               options=options)
            self.one_line(done.stderr, "ctascope record: ", f"/a?b?[2J{len(options)}': ")

    def test_umask_that_leaves_nothing(self):
        """The owner can read the run, whatever the program's umask was at its first call."""
        for options in (("--memory",), ("--timeline",), ("--timeline", "--memory")):
            run = "run" + "".join(options)
            done = self.record(run, self.program, "umask", status=7, options=options)
            self.assertEqual(done.stdout, "right\n")
            rank = os.path.join(run, "rank-0")
            self.assertEqual(os.stat(rank).st_mode & 0o777, 0o700)
            for name in os.listdir(rank):
                self.assertEqual(os.stat(os.path.join(rank, name)).st_mode & 0o777, 0o600, name)
            self.assertIs(self.info(run)["totals"]["complete"], True)

    def test_why_nothing_was_recorded(self):
        """Not 'it launched no kernel': the files of the run may not grow."""
        done = self.record("run", self.program, "no-file-size", status=7)
        self.assertIn("nothing was recorded: ", done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertNotIn("launched no kernel", done.stderr)
        info = self.info("run")
        self.assertIs(info["totals"]["complete"], False)


if __name__ == "__main__":
    support.main()
