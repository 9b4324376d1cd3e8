"""Memory and time in one run, and in two of the same program: their launches are the same ones, by
(rank, device, stream's ordinal, ordinal in the stream, kernel, grid). The null stream's ordinal is 0,
the others of a device follow in the order of their creation."""
import collections

import traces


class Both(traces.TimelineTest):
    # Which stream is the first of two threads is left to chance, unless there is one thread.
    def launches_of_memory(self, run):
        """Key -> catalogue row."""
        kernels = {row["kernel"]: row["name"] for row in self.table(run, "kernels")}
        ordinals, count = {}, collections.Counter()
        for row in sorted(self.table(run, "streams"), key=lambda row: int(row["stream"])):
            device = (row["rank"], row["device"])
            is_null = row["kind"] == "legacy default"
            count[device] += not is_null
            ordinals[row["stream"]] = 0 if is_null else count[device]
        return {(int(row["rank"]), int(row["device"]), ordinals[row["stream"]],
                 int(row["ordinal"]), kernels[row["kernel"]],
                 tuple(int(row[f"grid_{axis}"]) for axis in "xyz")): row
                for row in self.table(run, "launches")}

    @staticmethod
    def launches_of_time(trace):
        """Key -> activity."""
        result = {}
        for stream in trace.streams():
            kernels = [a for a in stream.activities() if "CTASCOPE_GRID_X" in a.enter]
            for ordinal, kernel in enumerate(kernels):
                result[stream.rank, stream.device, stream.ordinal, ordinal, kernel.name,
                       kernel.shape("GRID")] = kernel
        return result

    def test_one_run(self):
        self.record_timeline("run", traces.example("whatif"), "3", "60", "5", "0", "50",
                             options=["--memory"])
        memory, time = self.launches_of_memory("run"), self.launches_of_time(self.trace("run"))
        self.assertEqual(len(memory), 65)
        self.assertEqual(sorted(memory), sorted(time))
        self.assertTrue(all(int(row["accesses"]) for row in memory.values()))
        for key, row in memory.items():
            self.assertEqual((int(row["start_ns"]), int(row["end_ns"])),
                             (time[key].start, time[key].end))

    def test_two_runs(self):
        words = [traces.example("event-pipeline"), "2", "6"]
        self.record("memory", *words)
        self.record_timeline("time", *words)
        memory, time = self.launches_of_memory("memory"), self.launches_of_time(self.trace("time"))
        self.assertEqual(len(memory), 12)
        self.assertEqual(sorted(memory), sorted(time))

    def test_graphs_and_devices(self):
        for part, launches in (("graphs", 6), ("devices", 2)):
            self.record_timeline(part, traces.program("calls"), part, options=["--memory"],
                                 env={"CTASCOPE_DEVICES": 2})
            memory, time = self.launches_of_memory(part), self.launches_of_time(self.trace(part))
            self.assertEqual(len(memory), launches)
            self.assertEqual(sorted(memory), sorted(time))


if __name__ == "__main__":
    traces.main()
