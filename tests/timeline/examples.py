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
    ROUNDS = 4

    def rounds(self, trace):
        """Round by round: its kernel, and what the host asked after the launch and before the next."""
        launches = self.only(trace.calls("cudaLaunchKernel"), self.ROUNDS)
        kernels = {k.enter["CTASCOPE_CORRELATION"]: k for k in trace.kernels("work")}
        queries = trace.calls("cuda(Event|Stream)Query")
        self.assertLess(launches[0].end, queries[0].start)
        ends = [launch.start for launch in launches[1:]] + [queries[-1].end]
        return [(kernels[launch.enter["CTASCOPE_CORRELATION"]],
                 [query for query in queries if launch.end <= query.start and query.end <= end])
                for launch, end in zip(launches, ends)]

    def test_queries(self):
        """The host asks in vain until one query succeeds, whatever time passes between: a kernel's end
        and the answer that says so are two moments."""
        done = self.record_timeline("run", traces.example("polling"), "10", str(self.ROUNDS))
        in_vain = [int(word) for word in done.stdout.split() if word.isdigit()]
        trace = self.trace("run")
        results = {"cudaEventQuery": [], "cudaStreamQuery": []}
        for number, (kernel, queries) in enumerate(self.rounds(trace)):
            name = self.only({query.name for query in queries})
            self.assertEqual(name, ("cudaEventQuery", "cudaStreamQuery")[number % 2])
            answers = [query.leave["CUDA_DRV_API_RESULT"] for query in queries]
            self.assertEqual(answers, [NOT_READY] * (len(answers) - 1) + [0])
            self.assertLessEqual(kernel.end, queries[-1].end)
            results[name] += answers
        self.assertEqual([answers.count(NOT_READY) for answers in results.values()], in_vain)
        self.assertEqual({name: len(trace.calls(name)) for name in results},
                         {name: len(answers) for name, answers in results.items()})
        self.assertEqual(len({q.leave["CUDA_EVENT_REF"] for q in trace.calls("cudaEventQuery")}),
                         1)
        self.assertTrue(all("CUDA_EVENT_REF" not in q.leave and "CUDA_STREAM_REF" in q.leave
                            for q in trace.calls("cudaStreamQuery")))


class NullStream(traces.TimelineTest):
    def test_order(self):
        self.record_timeline("run", traces.example("null-stream"), "20")
        trace = self.trace("run")
        first, middle, last = (self.only(trace.kernels(name))
                               for name in ("first", "middle", "last"))
        self.assertLessEqual(first.end, middle.start)
        self.assertLessEqual(middle.end, last.start)
        of = {a.name.split("(")[0]: s for s in trace.streams() for a in s.activities()}
        self.assertEqual([of[name].properties.get("CUDA_NULL_STREAM", "no")
                          for name in ("first", "middle", "last", "apart")],
                         ["no", "yes", "no", "no"])
        self.assertEqual([of[name].properties.get("CUDA_STREAM_FLAGS", "")
                          for name in ("first", "middle", "last", "apart")],
                         ["", "", "", "non-blocking"])
        wait = self.only(trace.calls("cudaDeviceSynchronize"))
        self.assertGreaterEqual(wait.end, last.end)


class Beside(traces.TimelineTest):
    """The same two programs with kernels that wait until the other one runs: their recorded times
    overlap in any schedule."""
    def beside(self, *words):
        self.record_timeline("run", traces.program("beside"), *words)
        return self.trace("run")

    def test_stages_overlap(self):
        rounds = 5
        trace = self.beside("pipeline", str(rounds))
        produced = self.only(trace.kernels("produce"), rounds)
        consumed = self.only(trace.kernels("consume"), rounds)
        for one, other in zip(produced[1:], consumed):
            self.assertTrue(one.overlaps(other), (one, other))
        for one, other in zip(produced, consumed):
            self.assertLessEqual(one.end, other.start)

    def test_a_non_blocking_stream_runs_beside_the_null_stream(self):
        trace = self.beside("null-stream")
        first, middle, last, apart = (self.only(trace.kernels(name))
                                      for name in ("first", "middle", "last", "apart"))
        self.assertLessEqual(first.end, middle.start)
        self.assertLessEqual(middle.end, last.start)
        for other in (first, middle, last):
            self.assertTrue(apart.overlaps(other), (apart, other))


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
