"""Columns for occupancy and memory efficiency beside kernels on the critical path: of one run that holds
both recordings, of two runs of one program, and not where the two do not fit together."""
import json

import traces


class Kernels(traces.TimelineTest):
    def path(self, *words):
        done = self.ctascope("path", *words, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        return result, {row["activity"].split("(")[0]: row for row in result["activities"]
                        if row["where"] == "device"}

    def check(self, rows):
        for name in ("produce", "consume"):
            self.assertEqual(rows[name]["memory_efficiency"], 1)
            self.assertEqual(rows[name]["occupancy"], 0.5) # 32 CTAs of one warp, of 64 warps

    def test_one_run(self):
        self.record_timeline("both", traces.example("event-pipeline"), options=["--memory"])
        result, rows = self.path("both")
        self.check(rows)
        self.assertEqual(result["memory_mismatches"], 0)

    def test_streams_are_the_same_in_both(self):
        """Also the default stream, whose number is the first in a timeline, wherever its first use."""
        self.record_timeline("both", traces.program("default-last"), options=["--memory"])
        result, rows = self.path("both")
        self.assertEqual(result["memory_mismatches"], 0, result.get("first_memory_mismatch"))
        for name in ("first", "second", "third", "own", "legacy"):
            self.assertEqual(rows[name]["memory_efficiency"], 1)

    def test_two_runs(self):
        words = [traces.example("event-pipeline"), "2", "6"]
        self.record("memory", *words)
        self.record_timeline("time", *words)
        result, rows = self.path("time", "--memory-run", "memory")
        self.check(rows)
        self.assertEqual(result["memory_mismatches"], 0)

    def test_another_program(self):
        self.record_timeline("time", traces.example("event-pipeline"))
        self.record("other", traces.example("whatif"), "1", "5", "1", "0", "10", "2")
        result, rows = self.path("time", "--memory-run", "other")
        self.assertGreater(result["memory_mismatches"], 0)
        self.assertIn("'k_", result["first_memory_mismatch"])
        self.assertIsNone(rows["produce"]["memory_efficiency"])

    def test_no_such_run(self):
        self.record_timeline("time", traces.example("event-pipeline"))
        done = self.ctascope("path", "time", "--memory-run", "nowhere", status=1)
        self.assertEqual(done.stdout, "")
        self.assertIn("'nowhere'", done.stderr)



if __name__ == "__main__":
    traces.main()
