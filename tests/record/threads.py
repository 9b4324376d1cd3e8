#!/usr/bin/env python3
"""Host threads that launch at the same time, and programs that choose what is recorded."""
import support

CTAS, WARPS = 4, 2
RECORDS, ACCESSES = CTAS * WARPS * 2, CTAS * WARPS * 2 * 32  # of one launch


class Threads(support.RecordTest):
    @classmethod
    def setUpClass(cls):
        cls.program = support.compiled("threads.cu", "-O2")

    def outcome(self, how, status=0, **variables):
        return self.record("run", self.program, how, status=status, timeout=1200,
                           env=support.environment(CTASCOPE_WORKERS=3, **variables))

    def check_all_recorded(self, launches):
        totals = self.info("run")["totals"]
        self.assertEqual((totals["launches"], totals["records"], totals["accesses"]),
                         (launches, launches * RECORDS, launches * ACCESSES))
        self.assertIs(totals["complete"], True)
        self.assertEqual({launch: len(records) for launch, records in
                          self.records_by_launch("run").items()},
                         {int(row["launch"]): RECORDS for row in self.table("run", "launches")})
        comm = self.comm("run")
        self.assertIs(comm["soundness"]["lower_bound"], False)
        return comm["totals"]

    def test_threads_launch_together(self):
        threads, launches = 4, 100
        done = self.outcome("together")
        self.assertEqual(done.stdout, f"{CTAS * 64 * sum(range(launches))}\n" * threads)
        totals = self.check_all_recorded(threads * launches)
        # each launch reads what the one before in its stream wrote; the first reads the memset
        one = CTAS * 64 * 4
        self.assertEqual(totals["received_bytes"], threads * (launches - 1) * one)
        self.assertEqual(totals["from_host_bytes"], threads * one)
        self.assertEqual(totals["received_transfers"], threads * (launches - 1) * CTAS)
        self.assertEqual(totals["host_read_bytes"], threads * one)

    def test_exit_while_other_threads_launch(self):
        self.outcome("exit-in-a-thread", 8)
        totals = self.info("run")["totals"]
        self.assertGreaterEqual(totals["launches"], 100)
        self.assertIs(totals["complete"], True)
        self.comm("run")

    def test_exit_in_a_callback(self):
        """The stream cannot come to its end, but every launch has: nothing is missing."""
        done = self.outcome("exit-in-a-callback", 8)
        self.one_line(done.stderr, "ctascope record: ", "5 launches")
        self.assertEqual(self.info("run")["totals"]["accesses"], 5 * ACCESSES)
        self.assertIs(self.comm("run")["soundness"]["lower_bound"], False)

    def test_device_reset(self):
        self.outcome("reset")
        totals = self.check_all_recorded(10)
        self.assertEqual(totals["received_bytes"], 2 * 4 * CTAS * 64 * 4)

    def check_recorded(self, how, launches, **variables):
        done = self.outcome(how, **variables)
        self.one_line(done.stderr, "ctascope record: ", f"8 launches ({len(launches)} recorded)")
        rows = self.table("run", "launches")
        self.assertEqual([number for number, row in enumerate(rows) if row["recorded"] == "all"],
                         launches)
        self.assertEqual(sorted(self.records_by_launch("run")),
                         [int(rows[number]["launch"]) for number in launches])
        comm = self.comm("run")["soundness"]
        self.assertEqual(comm["unrecorded_launches"], 8 - len(launches))

    def test_switched_by_the_program(self):
        self.check_recorded("switch", [2, 3, 6])

    def test_switched_by_the_profiler(self):
        self.check_recorded("profiler", [2, 3, 4], CTASCOPE_PROFILE_FROM_START=0)

    def test_the_profiler_switches_only_when_asked_to(self):
        self.outcome("profiler")
        self.check_all_recorded(8)


if __name__ == "__main__":
    support.main()
