"""A model of data-parallel training whose times are known, as PyTorch's profiler would record it:
one trace for each rank, with Python functions, operators, launches, kernels on a compute and a
communication stream, events that tie the two, and all-reduces that end together.

A step of a rank is: the data loader, a copy to the device, the forward kernels, the backward kernels
on a thread of their own, an all-reduce for each bucket of gradients, the optimizer, which waits for
them, and a synchronisation (loss.item()). A delay is added to one of these on one rank in one step."""
import json
import random

BUCKETS, LAYERS = 4, 8
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"


class Delay:
    """`where`: loader, python, copy, kernel or stream (a kernel of another stream, which a backward
    kernel waits for)."""

    def __init__(self, rank, step, where, us):
        self.rank, self.step, self.where, self.us = rank, step, where, us


class Rank:
    def __init__(self, model, rank):
        self.model, self.rank = model, rank
        self.events, self.host, self.compute, self.comm, self.other = [], 100.0, 0.0, 0.0, 0.0
        self.backward_thread = 0.0
        self.pid = 1000 + rank
        self.correlation = 1
        self.random = random.Random(model.seed * 1000 + rank)

    # ---- what is written ----

    def add(self, category, name, start, end, tid=None, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": self.pid,
                            "tid": self.pid if tid is None else tid, "ts": round(start, 3),
                            "dur": round(end - start, 3), "args": args})

    def on_device(self, category, name, start, end, stream, correlation, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": stream,
                            "ts": round(start, 3), "dur": round(end - start, 3),
                            "args": {"device": 0, "stream": stream, "correlation": correlation,
                                     **args}})

    # ---- what happens ----

    def jitter(self, us):
        return us * (1 + self.model.noise * (self.random.random() - 0.5))

    def delayed(self, where, step):
        return sum(d.us for d in self.model.delays
                   if (d.rank, d.step, d.where) == (self.rank, step, where))

    def call(self, name, at, length, tid=None, **args):
        self.correlation += 1
        self.add("cuda_runtime", name, at, at + length, tid, correlation=self.correlation, **args)
        return self.correlation

    def launch(self, name, at, length, stream, queue_end, tid=None, **args):
        """A kernel of `length` on a stream whose work ends at queue_end; (begin, end)."""
        correlation = self.call("cudaLaunchKernel", at, 4, tid)
        begin = max(at + 4 + 3, queue_end + 1)
        self.on_device("kernel", name, begin, begin + length, stream, correlation, **args)
        return begin, begin + length

    def operator(self, name, kernel, length, tid=None):
        """On the host's thread or the backward one; the compute stream."""
        at = self.host if tid is None else self.backward_thread
        width = self.jitter(self.model.operator_us)
        _, self.compute = self.launch(kernel, at + 2, length, 7, self.compute, tid)
        self.add("cpu_op", name, at, at + width, tid)
        if tid is None:
            self.host = at + width + 1
        else:
            self.backward_thread = at + width + 1

    def python(self, name, length):
        self.add("python_function", name, self.host, self.host + length)
        self.host += length + 1

    def begin_step(self, step):
        self.step_begin = self.host
        self.python("train.py(12): next_batch", self.jitter(50) + self.delayed("loader", step))
        correlation = self.call("cudaMemcpyAsync", self.host, 5)
        begin = max(self.host + 8, self.compute + 1)
        self.compute = begin + self.jitter(80) + self.delayed("copy", step)
        self.on_device("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", begin, self.compute, 7,
                       correlation, bytes=1 << 20)
        self.host += 7
        self.python("train.py(20): augment", self.jitter(30) + self.delayed("python", step))
        for layer in range(LAYERS):
            extra = self.delayed("kernel", step) if layer == 3 else 0
            name = "slow_gemm" if extra else "gemm"
            self.operator("aten::mm", name, self.jitter(self.model.kernel_us) + extra)
        if self.delayed("stream", step):
            self.wait_for_other_stream(self.delayed("stream", step))

    def wait_for_other_stream(self, us):
        _, self.other = self.launch("side_kernel", self.host, us, 13, self.other)
        self.host += 5
        self.record_and_wait(13, 7, None)
        self.compute = max(self.compute, self.other)

    def record_and_wait(self, stream, waiting, tid):
        at = self.host if tid is None else self.backward_thread
        record = self.call("cudaEventRecord", at, 1, tid)
        wait = self.call("cudaStreamWaitEvent", at + 2, 1, tid)
        self.on_device("cuda_sync", "Stream Wait Event", at + 2, at + 3, waiting, wait,
                       wait_on_stream=stream, wait_on_cuda_event_record_corr_id=record,
                       wait_on_cuda_event_id=stream)
        if tid is None:
            self.host = at + 4
        else:
            self.backward_thread = at + 4

    def backward(self):
        """The main thread sits in it until the backward thread has launched everything."""
        self.backward_begin = self.host
        self.backward_thread = self.host + 15
        self.buckets = []
        for bucket in range(BUCKETS):
            for _ in range(LAYERS // BUCKETS):
                self.operator("autograd::engine::evaluate_function: MmBackward0", "gemm_backward",
                              self.jitter(self.model.kernel_us), self.pid + 7)
            self.record_and_wait(7, 20, self.pid + 7)
            at = self.backward_thread
            correlation = self.call("cudaLaunchKernelExC", at + 3, 4, self.pid + 7)
            self.buckets.append({"at": at, "launched": at + 7, "held": self.compute,
                                 "correlation": correlation, "bucket": bucket})
            self.backward_thread = at + 12

    def begin_all_reduce(self, bucket):
        b = self.buckets[bucket]
        b["begin"] = max(b["launched"] + 3, b["held"] + 1.5, self.comm + 1)
        return b["begin"]

    def end_all_reduce(self, bucket, end, step):
        b = self.buckets[bucket]
        self.comm = end
        said = {"Collective name": "allreduce", "In msg nelems": 1000 * (bucket + 1),
                "Out msg nelems": 1000 * (bucket + 1), "Group size": self.model.ranks,
                "dtype": "Float", "Process Group Name": "0",
                "Process Group Description": "default_pg",
                "Process Group Ranks": str(list(range(self.model.ranks)))}
        if self.model.numbered:
            said["Seq"] = step * BUCKETS + bucket + 1
        on_kernel = said if self.model.described else {}
        if self.model.described:
            self.add("cpu_op", "record_param_comms", b["at"], b["at"] + 10, self.pid + 7, **said)
        self.on_device("kernel", ALL_REDUCE, b["begin"], end, 20, b["correlation"], **on_kernel)

    def end_step(self, step):
        end = self.backward_thread + 5
        self.add("python_function", "torch/autograd/__init__.py(200): backward",
                 self.backward_begin, end)
        self.host = end + 2
        self.record_and_wait(20, 7, None)
        self.compute = max(self.compute, self.comm)
        self.operator("aten::_foreach_add_", "optimizer", self.jitter(self.model.kernel_us))
        correlation = self.call("cudaStreamSynchronize", self.host, 0)
        end = max(self.host + 3, self.compute + 4)
        self.events[-1]["dur"] = round(end - self.host, 3)
        self.on_device("cuda_sync", "Stream Sync", self.host, end, 7, correlation)
        self.host = end + 1
        self.add("user_annotation", f"ProfilerStep#{step}", self.step_begin - 0.5, self.host)
        self.host += 1

    def trace(self, base_ns):
        return {"schemaVersion": 1,
                "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}],
                "distributedInfo": {"backend": "nccl", "rank": self.rank,
                                    "world_size": self.model.ranks},
                "baseTimeNanoseconds": base_ns,
                "traceEvents": [{"ph": "M", "name": "process_name", "pid": self.pid, "tid": 0,
                                 "args": {"name": "python3"}}] + self.events,
                "traceName": f"rank-{self.rank}.json"}


class Model:
    """`numbered`, `described`: what kernels say of their collectives. `dropped`: of one rank, how
    many collectives the recording begins too late for. `clocks`: of ranks, (offset in ns, ppm)."""

    def __init__(self, ranks, steps, delays=(), **options):
        self.ranks, self.steps, self.delays = ranks, steps, list(delays)
        self.numbered, self.described, self.noise, self.seed = True, True, 0.02, 1
        self.kernel_us, self.operator_us, self.reduce_us = 400, 60, 300
        self.dropped, self.clocks = {}, {}
        self.__dict__.update(options)

    def run(self):
        ranks = [Rank(self, rank) for rank in range(self.ranks)]
        skew = random.Random(self.seed)
        self.waits_us, self.collectives, self.ends = 0.0, 0, []
        for step in range(self.steps):
            for rank in ranks:
                rank.begin_step(step)
                rank.backward()
            for bucket in range(BUCKETS):
                begins = [rank.begin_all_reduce(bucket) for rank in ranks]
                self.waits_us += sum(max(begins) - begin for begin in begins)
                self.collectives += 1
                end = max(begins) + self.reduce_us
                for rank in ranks:
                    rank.end_all_reduce(bucket, end + 2 * skew.random(), step)
            for rank in ranks:
                rank.end_step(step)
            self.ends.append(max(rank.host for rank in ranks))
        return [self.recorded(rank) for rank in ranks]

    def recorded(self, rank):
        """What the clock of the rank and the beginning of its recording make of it."""
        trace = rank.trace(1751410836000000000)
        offset_ns, ppm = self.clocks.get(rank.rank, (0, 0))
        drop, events = self.dropped.get(rank.rank, 0), []
        if drop:
            kernels = sorted(e["ts"] for e in trace["traceEvents"] if e["name"] == ALL_REDUCE)
            first = kernels[drop - 1] + 1
            trace["traceEvents"] = [e for e in trace["traceEvents"]
                                    if e["ph"] != "X" or e["ts"] > first]
        for event in trace["traceEvents"]:
            if event["ph"] == "X":
                event["ts"] = round(event["ts"] * (1 + ppm * 1e-6) + offset_ns / 1000, 3)
                event["dur"] = round(event["dur"] * (1 + ppm * 1e-6), 3)
            events.append(event)
        return trace

    def write(self, folder):
        import os
        os.makedirs(folder, exist_ok=True)
        paths = []
        for number, trace in enumerate(self.run()):
            paths.append(os.path.join(folder, f"rank-{number}.json"))
            with open(paths[-1], "w") as file:
                json.dump(trace, file)
        return paths
