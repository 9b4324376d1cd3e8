"""Every kind of call of the CUDA API: that it is in the timeline as often as it was made, with what it
says of itself, and that the work it asked for is on its stream."""
import collections

import traces


def plain(kernel):
    return kernel.name.split("(")[0]


class Calls(traces.TimelineTest):
    def part(self, name, **variables):
        self.record_timeline("run", traces.program("calls"), name, env=variables)
        return self.trace("run")

    def assert_counts(self, trace, **expected):
        counts = trace.counts()
        self.assertEqual({name: counts[name] for name in expected}, expected)

    def test_regions(self):
        trace = self.part("others")
        launch, kernel = trace.regions["cudaLaunchKernel"], trace.regions["add(int*, int, int)"]
        self.assertEqual((launch["Role"], launch["Paradigm"], launch["File"]),
                         ("WRAPPER", "CUDA", "CUDART"))
        self.assertEqual((kernel["Role"], kernel["Paradigm"], kernel["File"]),
                         ("FUNCTION", "CUDA", "CUDA_KERNEL"))

    def test_copies(self):
        trace = self.part("copies")
        self.assert_counts(trace, cudaMemcpy=4, cudaMemcpyAsync=2, cudaMemcpy2D=1,
                           cudaMemcpy3DAsync=1, cudaMemset=1, cudaMemset2DAsync=1, cudaMalloc=2,
                           cudaFree=2, cudaFreeHost=1, cudaStreamCreate=1, cudaStreamDestroy=1,
                           cudaStreamSynchronize=1)
        null = self.only([s for s in trace.streams()
                          if s.properties.get("CUDA_NULL_STREAM") == "yes"])
        made = self.only([s for s in trace.streams() if s is not null])
        gets, puts = "RMA_GET", "RMA_PUT"
        self.assertEqual([(c.kind, c.bytes) for c in made.copies()],
                         [(gets, 4000), (puts, 4000), (puts, 300)])
        self.assertEqual([(c.kind, c.bytes) for c in null.copies()][:4],
                         [(gets, 4000), (gets, 4000), (puts, 4000), (gets, 1000)])
        for stream in (null, made):
            self.only(stream.activities("cuMemset"))
        host = self.only(trace.threads())
        within_device = null.copies()[1]
        self.assertEqual(within_device.remote, null.number)
        self.assertEqual({c.remote for c in trace.copies() if c is not within_device
                          and c.bytes != 2000}, {host.number})

    def test_a_blocking_copy_lies_within_its_call(self):
        trace = self.part("copies")
        calls = {c.enter["CTASCOPE_CORRELATION"]: c
                 for c in trace.calls("cudaMemcpy(2D)?")}
        for copy in trace.copies():
            call = calls.get(copy.attributes["CTASCOPE_CORRELATION"])
            if call and copy.kind == "RMA_PUT":
                self.assertLessEqual(copy.end, call.end)

    def test_launches(self):
        trace = self.part("others")
        good, bad = self.only(trace.calls("cudaLaunchKernel"), 2)
        kernel = self.only(trace.kernels("add"))
        self.assertEqual(kernel.enter["CTASCOPE_CORRELATION"], good.enter["CTASCOPE_CORRELATION"])
        self.assertNotIn("CTASCOPE_CORRELATION", bad.enter)
        self.assertEqual(bad.leave["CUDA_DRV_API_RESULT"], 9)
        self.assertEqual((kernel.shape("GRID"), kernel.shape("BLOCK")), ((4, 2, 1), (32, 2, 1)))
        self.assertEqual(kernel.enter.get("CTASCOPE_REGISTERS", 0), 0)
        self.assertEqual(kernel.enter["CTASCOPE_STATIC_SHARED"], 256)
        self.assertEqual(kernel.enter["CTASCOPE_DYNAMIC_SHARED"], 256)

    def test_works_of_a_stream_are_in_order(self):
        trace = self.part("others")
        stream = self.only([s for s in trace.streams() if s.activities()])
        self.assertEqual(stream.properties.get("CUDA_STREAM_FLAGS"), "non-blocking")
        works = stream.activities()
        self.assertEqual([plain(work) for work in works],
                         ["cuMemset", "add", "host function", "host function"])
        for one, next_one in zip(works, works[1:]):
            self.assertLessEqual(one.end, next_one.start)
        self.assert_counts(trace, cudaMallocAsync=1, cudaFreeAsync=1, cudaLaunchHostFunc=1,
                           cudaStreamAddCallback=1, cudaStreamCreateWithPriority=1)
        for call in trace.calls("cuda(Malloc|Free)Async"):
            self.assertIs(call.enter["CUDA_STREAM_REF"], stream)

    def test_graphs(self):
        trace = self.part("graphs")
        launches = self.only(trace.calls("cudaGraphLaunch"), 2)
        self.assert_counts(trace, cudaLaunchKernel=3, cudaGraphInstantiate=1,
                           cudaStreamBeginCapture=1, cudaStreamEndCapture=1)
        for call in trace.calls("cudaLaunchKernel"):
            self.assertEqual(call.enter, {}, "captured, not launched")
        nodes = collections.defaultdict(list)
        for work in trace.kernels():
            nodes[work.enter["CTASCOPE_CORRELATION"]].append(plain(work))
        self.assertEqual(nodes, {call.enter["CTASCOPE_CORRELATION"]: ["cuMemset"] + ["add"] * 3
                                 for call in launches})

    def test_devices(self):
        trace = self.part("devices", CTASCOPE_DEVICES=2)
        streams = {s.device: s for s in trace.streams()}
        self.assertEqual(sorted(streams), [0, 1])
        for stream in streams.values():
            self.only(stream.activities(r"add\(.*"))
        peer = self.only(trace.copies())
        self.assertEqual((peer.kind, peer.bytes, peer.remote), ("RMA_GET", 4000,
                                                                streams[0].number))
        self.assertEqual(len(streams[1].copies()), 1)

    def test_the_driver_api(self):
        """Under its own names, and without what it is made of."""
        trace = self.part("driver")
        once = ("cuCtxCreate cuStreamCreate cuEventCreate cuMemAlloc cuMemcpyHtoD cuMemsetD32Async "
                "cuMemcpyDtoHAsync cuEventRecord cuEventSynchronize cuStreamSynchronize "
                "cuEventDestroy cuStreamDestroy cuMemFree cuCtxSynchronize").split()
        self.assertEqual(trace.counts(), dict.fromkeys(once, 1))
        self.assertEqual({trace.regions[name]["File"] for name in once}, {"CUDRV"})
        waited = self.only(trace.calls("cuEventSynchronize"))
        recorded = self.only(trace.calls("cuEventRecord"))
        self.assertEqual(waited.leave, {"CUDA_EVENT_REF": recorded.leave["CUDA_EVENT_REF"]})
        self.assertEqual([copy.kind for copy in trace.copies()], ["RMA_GET", "RMA_PUT"])

    def test_waits(self):
        trace = self.part("waits")
        kernels = self.only(trace.kernels("slow"), 5)
        waits = ["cudaStreamSynchronize", "cudaEventSynchronize", "cudaDeviceSynchronize",
                 "cudaMemcpy", "cudaFree"]
        for name, kernel in zip(waits, kernels):
            call = trace.calls(name)[0]
            self.assertLessEqual(kernel.end, call.end, name)
        last = self.only(trace.kernels("until"))
        self.assertLess(trace.calls("cudaMemcpy")[1].end, last.end)
        self.assertLess(self.only(trace.calls("cudaStreamDestroy")).end, last.end)
        self.assertLessEqual(last.end, trace.calls("cudaDeviceSynchronize")[1].end)

    def test_threads(self):
        trace = self.part("threads")
        launches = [len(thread.activities("cudaLaunchKernel")) for thread in trace.threads()]
        self.assertEqual(sorted(filter(None, launches)), [1, 2, 3])
        for thread in trace.threads():
            calls = thread.activities("cudaLaunchKernel")
            streams = {call.enter["CUDA_STREAM_REF"].number for call in calls}
            self.assertEqual(len(streams), 1 if calls else 0)
            for number in streams:
                self.assertEqual(len(trace.locations[number].activities(r"add\(.*")), len(calls))


if __name__ == "__main__":
    traces.main()
