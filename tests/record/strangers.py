#!/usr/bin/env python3
"""Programs that do to their process what a recorder does not expect: each ends as it does without
one, and its run is whole, of memory and of time. docs/results/2026-11-23-robustness.md lists the whole trial."""
import json
import os
import subprocess

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
