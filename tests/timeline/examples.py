"""The examples without MPI: each has a structure that follows from its source, and its timeline must
show it. Lower bounds of times are the programs' own; there are no upper bounds."""
import traces
from traces import MS

NOT_READY = 600


class EventPipeline(traces.TimelineTest):
    STAGE_MS, ROUNDS = 15, 5

    def setUp(self):
        super().setUp()
        self.record_timeline("run", traces.example("event-pipeline"), str(self.STAGE_MS),
                             str(self.ROUNDS))
        self.t = self.trace("run")

    def test_consume_waits_for_produce_of_its_round(self):
        produced = self.only(self.t.kernels("produce"), self.ROUNDS)
        consumed = self.only(self.t.kernels("consume"), self.ROUNDS)
        for one, other in zip(produced, consumed):
            self.assertLessEqual(one.end, other.start)
            self.assertGreaterEqual(one.length, self.STAGE_MS * MS)

    def test_stages_overlap(self):
        produced, consumed = self.t.kernels("produce"), self.t.kernels("consume")
        overlaps = sum(one.overlaps(other) for one, other in zip(produced[1:], consumed))
        self.assertGreater(overlaps, 0)

    def test_events_name_their_streams(self):
        producer, consumer = [s for s in self.t.streams() if s.activities(r"(prod|cons).*")]
        if not producer.activities(r"produce.*"):
            producer, consumer = consumer, producer
        records = self.only(self.t.calls("cudaEventRecord"), self.ROUNDS)
        waits = self.only(self.t.calls("cudaStreamWaitEvent"), self.ROUNDS)
        self.only({r.leave["CUDA_EVENT_REF"] for r in records + waits})
        self.assertEqual({r.leave["CUDA_STREAM_REF"] for r in records}, {producer})
        self.assertEqual({w.leave["CUDA_STREAM_REF"] for w in waits}, {consumer})
        for record, wait in zip(records, waits):
            self.assertLessEqual(record.end, wait.start)

    def test_the_host_waits_for_the_last_round(self):
        wait = self.only(self.t.calls("cudaStreamSynchronize"))
        last = self.t.kernels("consume")[-1]
        self.assertIn(last, wait.leave["CUDA_STREAM_REF"].activities() or [last])
        self.assertLessEqual(last.end, wait.end)


class Polling(traces.TimelineTest):
    def test_queries(self):
        done = self.record_timeline("run", traces.example("polling"), "10", "4")
        in_vain = [int(word) for word in done.stdout.split() if word.isdigit()]
        trace = self.trace("run")
        rounds = self.only(trace.kernels("work"), 4)
        for name, expected, kernels in (("cudaEventQuery", in_vain[0], rounds[0::2]),
                                        ("cudaStreamQuery", in_vain[1], rounds[1::2])):
            queries = trace.calls(name)
            results = [query.leave["CUDA_DRV_API_RESULT"] for query in queries]
            self.assertEqual((results.count(NOT_READY), results.count(0)), (expected, 2))
            self.assertEqual(len(results), expected + 2)
            for query, result in zip(queries, results):
                if result == 0:
                    ended = max(k.end for k in kernels if k.start < query.end)
                    self.assertLessEqual(ended, query.end)
                else:
                    self.assertTrue(any(query.start < k.end for k in kernels))
        self.assertEqual(len({q.leave["CUDA_EVENT_REF"] for q in trace.calls("cudaEventQuery")}),
                         1)
        self.assertTrue(all("CUDA_EVENT_REF" not in q.leave and "CUDA_STREAM_REF" in q.leave
                            for q in trace.calls("cudaStreamQuery")))


class NullStream(traces.TimelineTest):
    def test_order(self):
        self.record_timeline("run", traces.example("null-stream"), "20")
        trace = self.trace("run")
        first, middle, last, apart = (self.only(trace.kernels(name))
                                      for name in ("first", "middle", "last", "apart"))
        self.assertLessEqual(first.end, middle.start)
        self.assertLessEqual(middle.end, last.start)
        self.assertTrue(apart.overlaps(first) or apart.overlaps(middle))
        of = {a.name.split("(")[0]: s for s in trace.streams() for a in s.activities()}
        self.assertEqual([of[name].properties.get("CUDA_NULL_STREAM", "no")
                          for name in ("first", "middle", "last", "apart")],
                         ["no", "yes", "no", "no"])
        self.assertEqual([of[name].properties.get("CUDA_STREAM_FLAGS", "")
                          for name in ("first", "middle", "last", "apart")],
                         ["", "", "", "non-blocking"])
        wait = self.only(trace.calls("cudaDeviceSynchronize"))
        self.assertGreaterEqual(wait.end, last.end)


class Whatif(traces.TimelineTest):
    def launches(self, run, *words):
        done = self.record_timeline(run, traces.example("whatif"), *words)
        trace = self.trace(run)
        numbers = [int(word.rstrip(",")) for word in done.stdout.split()
                   if word.rstrip(",").isdigit()]
        kinds = [[k for k in trace.kernels(f"k_{i}")
                  if k.start > trace.calls("cudaDeviceSynchronize")[0].end] for i in range(1, 6)]
        self.assertEqual([len(kind) for kind in kinds], numbers[:5])
        self.assertEqual(len(trace.calls("cudaStreamSynchronize")), numbers[5])
        return trace, kinds

    def test_what_is_optimised_changes_nothing_else(self):
        counts = {}
        for optimised in (0, 4):
            trace, kinds = self.launches(f"run-{optimised}", "2", "40", "3", str(optimised), "100")
            counts[optimised] = [len(kind) for kind in kinds]
            self.assertEqual(sum(counts[optimised]), 40)
            busy = [s for s in trace.streams() if s.properties.get("CUDA_STREAM_FLAGS")]
            self.assertEqual(len(busy), 2)
        self.assertEqual(counts[0], counts[4])


if __name__ == "__main__":
    traces.main()
