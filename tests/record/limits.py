#!/usr/bin/env python3
"""Recordings that may not hold everything: a full disk, --max-size, filters."""
import glob
import os
import resource
import subprocess

import support

LAUNCHES, CTAS, WARPS = 60, 32, 4
RECORDS_PER_CTA = WARPS * 9  # eight loads and a store
ACCESSES_PER_CTA = RECORDS_PER_CTA * 32


class Limits(support.RecordTest):
    @classmethod
    def setUpClass(cls):
        cls.program = support.compiled("launches.cu", "-O2")
        cls.sum_line = subprocess.run([cls.program, str(LAUNCHES), str(CTAS)],
                                      stdout=subprocess.PIPE, text=True, check=False,
                                      env=support.environment()).stdout.splitlines()[-1]

    def record_launches(self, run, *options, **more):
        more.setdefault("status", 3)
        return self.record(run, self.program, str(LAUNCHES), str(CTAS), options=options, **more)

    def access_bytes(self, run):
        return sum(os.path.getsize(path) for path in glob.glob(f"{run}/rank-*/*.acc"))

    def check_dropped(self, run, done):
        """The program's result stands, and everything says what is missing."""
        self.assertEqual(done.stdout.splitlines()[-1], self.sum_line)
        totals = self.info(run)["totals"]
        self.assertIs(totals["complete"], False)
        self.assertEqual(totals["launches"], LAUNCHES)
        everything = LAUNCHES * CTAS * ACCESSES_PER_CTA
        self.assertGreater(totals["dropped_accesses"], 0)
        self.assertGreater(totals["accesses"], 0)
        self.assertEqual(totals["accesses"] + totals["dropped_accesses"], everything)
        self.assertEqual(totals["records"] + totals["dropped_records"], everything // 32)
        records = self.records_by_launch(run)
        self.assertEqual(sum(map(len, records.values())), totals["records"])
        comm = self.comm(run)
        incomplete = sum(len(records.get(launch, ())) < CTAS * RECORDS_PER_CTA
                         for launch in range(LAUNCHES))
        self.assertEqual(comm["soundness"]["dropped_accesses"], totals["dropped_accesses"])
        self.assertIs(comm["soundness"]["lower_bound"], True)
        self.assertEqual(comm["soundness"]["unrecorded_launches"], incomplete)
        self.assertEqual(comm["totals"]["records"], totals["records"])
        table = self.ctascope("comm", run).stdout
        self.assertIn(f"LOWER BOUND: {incomplete} launches were not fully recorded", table)
        self.assertIn(f"{totals['dropped_accesses']:,} accesses were dropped", table)
        self.assertIn("DROPPED", self.ctascope("info", run).stdout)
        return totals

    def check_failure(self, run, done, reason):
        lines = done.stderr.splitlines(keepends=True)
        self.assertEqual(len(lines), 2, done.stderr)
        self.one_line(lines[0], "ctascope: the recording is incomplete: cannot write '",
                      f"{run}/rank-0/", reason)
        self.one_line(lines[1], "ctascope record: ", "; DROPPED ", reason)
        self.assertIn(reason, self.info(run)["ranks"][0]["failure"])

    def test_full_disk(self):
        os.mkdir("disk")
        if os.getuid() != 0 or subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=1M", "none", "disk"], check=False,
                stderr=subprocess.DEVNULL).returncode:
            self.skipTest("cannot mount a small file system: not root, or not allowed")
        try:
            done = self.record_launches("disk/run")
            self.check_failure("disk/run", done, "No space left on device")
            self.check_dropped("disk/run", done)
        finally:
            subprocess.run(["umount", "disk"], check=True)

    def test_no_disk_for_a_recorder(self):
        """The disk is full before the recorder begins, or soon after: record and info say so."""
        for size in ("200k", "300k"):
            os.makedirs("disk", exist_ok=True)
            if os.getuid() != 0 or subprocess.run(
                    ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", "disk"], check=False,
                    stderr=subprocess.DEVNULL).returncode:
                self.skipTest("cannot mount a small file system: not root, or not allowed")
            try:
                with self.subTest(size=size):
                    done = self.record_launches("disk/run", status=None)
                    self.assertIn("No space left on device", done.stderr.splitlines()[-1])
                    if os.path.exists("disk/run"):
                        self.assertIn("No space left on device",
                                      self.ctascope("info", "disk/run", status=None).stdout)
            finally:
                subprocess.run(["umount", "disk"], check=True)

    def test_file_size_limit(self):
        limit = 256 << 10
        done = self.record_launches(
            "run", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.check_failure("run", done, "File too large")
        self.check_dropped("run", done)

    def test_no_room_for_a_run(self):
        limit = 20 << 10
        done = self.record_launches(
            "run", status=125,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.one_line(done.stderr, "ctascope record: cannot set up 'run/run.db': ")
        self.assertEqual(done.stdout, "")
        self.assertFalse(os.path.exists("run"))

    def test_max_size(self):
        for text, limit in (("100K", 100 << 10), ("0.25M", 256 << 10), ("400000", 400000)):
            with self.subTest(size=text):
                done = self.record_launches(f"run-{limit}", "--max-size", text)
                lines = done.stderr.splitlines()
                self.assertEqual(len(lines), 2, done.stderr)
                self.assertIn(f"size limit of {limit} bytes", lines[0])
                self.assertIn("DROPPED", lines[1])
                self.check_dropped(f"run-{limit}", done)
                self.assertLessEqual(self.access_bytes(f"run-{limit}"), limit)
                self.assertGreater(self.access_bytes(f"run-{limit}"), limit // 4)

    def test_max_size_keeps_what_fits_of_one_launch(self):
        """A launch whose records would make one chunk larger than the limit is kept in part."""
        for size, limit in (("1M", 1 << 20), ("128K", 128 << 10)):
            with self.subTest(size=size):
                run = f"run-{limit}"
                done = self.record(run, self.program, "1", "4096", status=3,
                                   options=("--max-size", size, "--threads", "1"))
                self.assertLessEqual(self.access_bytes(run), limit)
                self.assertGreater(self.access_bytes(run), limit * 3 // 4)
                self.assertIn("accesses of 1 launch, from launch 0 on", done.stderr)
                self.assertIs(self.comm(run)["soundness"]["lower_bound"], True)
                totals = self.info(run)["totals"]
                self.assertEqual(totals["accesses"] + totals["dropped_accesses"],
                                 4096 * ACCESSES_PER_CTA)

    def test_max_size_below_a_chunk(self):
        done = self.record_launches("run", "--max-size", "300")
        self.assertIn("all dropped: the access files reached their size limit of 300 bytes",
                      done.stderr)
        self.assertLessEqual(self.access_bytes("run"), 300)
        self.assertEqual(self.info("run")["totals"]["dropped_accesses"],
                         LAUNCHES * CTAS * ACCESSES_PER_CTA)

    # ---- filters ----

    def check_filtered(self, run, launches, ctas=range(CTAS)):
        """Exactly these CTAs of these launches were recorded, in full; all launches are known."""
        rows = self.table(run, "launches")
        self.assertEqual(len(rows), LAUNCHES)
        sampled = "sample" if len(ctas) < CTAS else "all"
        for number, row in enumerate(rows):
            self.assertEqual(row["recorded"], sampled if number in launches else "none")
        seen = {}
        for record in self.records(run):
            key = (int(record["launch"]), int(record["cta"]))
            seen[key] = seen.get(key, 0) + 1
        ids = [int(row["launch"]) for row in rows]
        self.assertEqual(seen, {(ids[launch], cta): RECORDS_PER_CTA
                                for launch in launches for cta in ctas})
        info = self.info(run)["totals"]
        self.assertEqual(info["recorded_launches"], len(launches))
        self.assertEqual(info["sampled_launches"], len(launches) if sampled == "sample" else 0)
        comm = self.comm(run)
        missing = LAUNCHES - len(launches) if sampled == "all" else LAUNCHES
        self.assertEqual(comm["soundness"]["unrecorded_launches"], missing)
        self.assertIs(comm["soundness"]["lower_bound"], missing > 0)
        table = self.ctascope("comm", run).stdout
        if missing:
            self.assertIn(f"LOWER BOUND: {missing} launches were not fully recorded", table)
        else:
            self.assertNotIn("LOWER BOUND", table)

    def test_filters(self):
        evens, odds, every = range(0, LAUNCHES, 2), range(1, LAUNCHES, 2), range(LAUNCHES)
        cases = (
            ((), every, range(CTAS)),
            (("--kernel-name", "even"), evens, range(CTAS)),
            (("--kernel-name", "odd(unsigned int const*, unsigned int*, unsigned int)"), odds,
             range(CTAS)),
            (("--kernel-name", "regex:^od+\\("), odds, range(CTAS)),
            (("--kernel-name", "regex:(odd|even)"), every, range(CTAS)),
            (("--launch-skip", "7"), every[7:], range(CTAS)),
            (("--launch-count", "5"), every[:5], range(CTAS)),
            (("--launch-skip", "10", "--launch-count", "3"), every[10:13], range(CTAS)),
            (("--kernel-name", "odd", "--launch-skip", "2", "--launch-count", "4"), odds[2:6],
             range(CTAS)),
            (("--cta-sample", "5"), every, range(0, CTAS, 5)),
            (("--cta-sample", "1/8"), every, range(0, CTAS, 8)),
            (("--cta-sample", "1"), every, range(CTAS)),
            (("--kernel-name", "even", "--cta-sample", "16"), evens, range(0, CTAS, 16)),
        )
        for number, (options, launches, ctas) in enumerate(cases):
            with self.subTest(options=options):
                done = self.record_launches(f"run-{number}", *options)
                self.assertEqual(done.stdout.splitlines()[-1], self.sum_line)
                self.one_line(done.stderr, "ctascope record: ")
                self.check_filtered(f"run-{number}", launches, ctas)

    def test_everything_filtered_out(self):
        for number, options in enumerate((("--kernel-name", "eve"), ("--kernel-name", "regex:x"),
                                          ("--launch-skip", str(LAUNCHES)))):
            with self.subTest(options=options):
                done = self.record_launches(f"run-{number}", *options)  # the program's own status
                self.one_line(done.stderr, "ctascope record: nothing was recorded: ",
                              f"{LAUNCHES} launches, all excluded by filters")
                self.assertEqual(done.stdout.splitlines()[-1], self.sum_line)
        # that nothing was recorded is no failure of the program's
        example = support.compiled("vectoradd.cu", "-O2", example=True)
        done = self.record("run", example, "1000", options=("--kernel-name", "sub"))
        self.one_line(done.stderr, "ctascope record: nothing was recorded: ",
                      "1 launch, all excluded by filters")
        self.assertEqual(done.stdout, "vectoradd: right\n")


if __name__ == "__main__":
    support.main()
