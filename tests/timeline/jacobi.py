"""The Jacobi on real ranks, with different shares of its rows on the devices: calls, copies, kernels
and messages are as many as its source says."""
import json
import shutil
import unittest

import ranks
from ranks import number


class Jacobi(ranks.MpiTest):
    ITERATIONS = 8

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

    def path_of(self, percent):
        """The time steps' time on the critical path by activity; all of it is booked, and so is all
        blame."""
        shutil.rmtree("run", ignore_errors=True)
        self.record_ranks(2, "jacobi", "1024", "1024", "20", str(percent))
        found = json.loads(self.ctascope("path", "run", "--within", "iterations",
                                         "--format", "json").stdout)
        self.assertEqual(found["end_ns"] - found["begin_ns"], found["path_ns"])
        self.assertEqual(sum(row["path_ns"] for row in found["activities"]), found["path_ns"])
        self.assertEqual(sum(row["blame_ns"] for row in found["activities"]), found["wait_ns"])
        return {row["activity"].split("(")[0]: row["path_ns"] for row in found["activities"]}

    def seen(self, percent, condition):
        """Whether a recording shows it: on a busy machine the host and the CPU device's workers take the
        cores from each other, and one recording may show the machine instead of the program."""
        paths = []
        for _ in range(8):
            paths.append(self.path_of(percent))
            if condition(paths[-1].get("update on the host", 0), paths[-1].get("update", 0)):
                return
        self.fail(f"{percent}% on the device: {paths}")

    def test_who_has_the_rows_is_on_the_path(self):
        self.seen(10, lambda host, device: host > 2 * device)
        self.seen(90, lambda host, device: device > host)

    @unittest.skipUnless(shutil.which("mpirun.mpich"), "MPICH is not installed")
    def test_mpich(self):
        self.check(3, 70, "mpich")


if __name__ == "__main__":
    ranks.traces.main()
