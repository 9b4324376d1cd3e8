"""The Jacobi on real ranks, with different shares of its rows on the devices: calls, copies, kernels
and messages are as many as its source says."""
import json
import shutil
import unittest

import ranks
from ranks import number


class Jacobi(ranks.MpiTest):
    ITERATIONS, STEPS = 8, 20

    def check(self, count, percent, mpi="openmpi"):
        trace = self.record_ranks(count, "jacobi", "64", "48", str(self.ITERATIONS), str(percent),
                                  mpi=mpi)
        for rank in range(count):
            neighbours = (rank > 0) + (rank < count - 1)
            counts = trace.counts(rank)
            messages = neighbours * self.ITERATIONS
            self.assertEqual((counts["MPI_Isend"], counts["MPI_Irecv"]), (messages, messages))
            self.assertEqual(counts["MPI_Waitall"], self.ITERATIONS)
            self.assertEqual(counts["MPI_Allreduce"], self.ITERATIONS + 1)
            for kinds in (("MPI_ISEND",), ("MPI_ISEND_COMPLETE",), ("MPI_IRECV_REQUEST",),
                          ("MPI_IRECV",)):
                self.assertEqual(len(self.events(trace, rank, *kinds)), messages, kinds)
            for event in self.events(trace, rank, "MPI_ISEND", "MPI_IRECV"):
                self.assertEqual(number(event.fields["Length"]), 48 * 4)
            on_device = self.ITERATIONS if percent else 0
            self.assertEqual(counts["cudaLaunchKernel"], on_device)
            self.assertEqual(len(trace.kernels("update", rank)), on_device)
            self.assertEqual(counts["cudaStreamSynchronize"], on_device + (1 if percent else 0))
            # two rows and the change out, two rows in; at the ends two grids in and one out
            self.assertEqual(len(trace.copies(rank)), 5 * on_device + (3 if percent else 0))
            self.assertEqual(len(trace.kernels("cuMemset", rank)), on_device)

    def test_one_rank_on_its_device(self):
        self.check(1, 100)

    def test_two_ranks_on_the_host(self):
        self.check(2, 0)

    def test_two_ranks_half_and_half(self):
        self.check(2, 50)

    def test_four_ranks_on_their_devices(self):
        self.check(4, 100)

    def path_of(self):
        """The time steps' time on the critical path by activity; all of it is booked, and so is all
        blame."""
        found = json.loads(self.ctascope("path", "run", "--within", "iterations",
                                         "--format", "json").stdout)
        self.assertEqual(found["end_ns"] - found["begin_ns"], found["path_ns"])
        self.assertEqual(sum(row["path_ns"] for row in found["activities"]), found["path_ns"])
        self.assertEqual(sum(row["blame_ns"] for row in found["activities"]), found["wait_ns"])
        return {row["activity"].split("(")[0]: row["path_ns"] for row in found["activities"]}

    def bounds(self, trace):
        """(least, most) time of the kernels and of the host's rows on the path of one rank. In a step
        whose synchronisation begins while the kernel runs it is all of the kernel and nothing of the
        host's rows; in one that finds all copies done it is the other way round; between the two it is
        either. Which steps are which is the machine's affair, and in the trace."""
        kernels = self.only(trace.kernels("update"), self.STEPS)
        hosts = self.only(trace.calls("update on the host"), self.STEPS)
        waits = trace.calls("cudaStreamSynchronize")
        device_ns, host_ns = [0, 0], [0, 0]
        for kernel, host in zip(kernels, hosts):
            wait = next(wait for wait in waits if wait.start >= host.end)
            done = max(c.end for c in trace.copies() if kernel.end <= c.start <= wait.end)
            is_device, is_host = kernel.end > wait.start, done <= wait.start
            device_ns[0] += kernel.length if is_device else 0
            device_ns[1] += kernel.length if not is_host else 0
            host_ns[0] += host.length if is_host else 0
            host_ns[1] += host.length if not is_device else 0
        return {"update": device_ns, "update on the host": host_ns}

    def test_who_ends_last_is_on_the_path(self):
        for percent in (10, 90):
            trace = self.record_ranks(1, "jacobi", "1024", "1024", str(self.STEPS), str(percent))
            paths = self.path_of()
            for name, (least, most) in self.bounds(trace).items():
                self.assertLessEqual(least, paths.get(name, 0), (percent, name))
                self.assertLessEqual(paths.get(name, 0), most, (percent, name))
            shutil.rmtree("run")

    def test_two_ranks_book_all_time(self):
        self.record_ranks(2, "jacobi", "256", "256", str(self.STEPS), "50")
        self.path_of()

    @unittest.skipUnless(shutil.which("mpirun.mpich"), "MPICH is not installed")
    def test_mpich(self):
        self.check(3, 70, "mpich")


if __name__ == "__main__":
    ranks.traces.main()
