"""The examples of waiting in MPI, on real ranks: the waits are those that the sources say. What
is asserted is who waits for whom, by order in the trace; how long depends on the machine's other work. A
kernel that spins for a time takes that long at least."""
import collections
import os

import ranks
from ranks import traces
from traces import MS


class LateSender(ranks.MpiTest):
    DELAY_MS, ROUNDS = 30, 4

    def test_receivers_wait_for_the_kernel(self):
        trace = self.record_ranks(4, "late-sender", str(self.DELAY_MS), str(self.ROUNDS))
        for receiver in (1, 3):
            receives = self.only(trace.calls("MPI_Recv", receiver), self.ROUNDS)
            sends = self.only(trace.calls("MPI_Send", receiver - 1), self.ROUNDS)
            kernels = self.only(trace.kernels("prepare", receiver - 1), self.ROUNDS)
            self.assertEqual(trace.calls("MPI_Send", receiver), [])
            for receive, send, kernel in zip(receives, sends, kernels):
                self.assertGreaterEqual(kernel.length, self.DELAY_MS * MS)
                self.assertLessEqual(kernel.end, send.start)
                self.assertLess(send.start, receive.end)


class ImbalancedBarrier(ranks.MpiTest):
    STEP_MS, ROUNDS = 20, 4

    def test_nobody_leaves_before_the_last_has_worked(self):
        count = 4
        trace = self.record_ranks(count, "imbalanced-barrier", str(self.STEP_MS), str(self.ROUNDS))
        barriers = [self.only(trace.calls("MPI_Barrier", rank), self.ROUNDS)
                    for rank in range(count)]
        for together in zip(*barriers):
            self.assertLess(max(b.start for b in together), min(b.end for b in together))
        for rank in range(count):
            kernels = self.only(trace.kernels("work", rank), self.ROUNDS)
            for kernel, together in zip(kernels, zip(*barriers)):
                self.assertGreaterEqual(kernel.length, rank * self.STEP_MS * MS // 2)
                self.assertLessEqual(kernel.end, together[rank].start, "its own work is first")
                for barrier in together:
                    self.assertLess(kernel.end, barrier.end, "all wait for it")


class Halos(ranks.MpiTest):
    def check(self, count):
        rounds = 6
        trace = self.record_ranks(count, "halos", "500", str(rounds))
        for rank in range(count):
            counts = trace.counts(rank)
            self.assertEqual([counts[name] for name in ("MPI_Isend", "MPI_Irecv", "MPI_Waitall")],
                             [2 * rounds, 2 * rounds, rounds])
            waits = trace.calls("MPI_Waitall", rank)
            for wait in waits:
                inside = collections.Counter(event.kind for event in wait.inside)
                self.assertEqual((inside["MPI_IRECV"], inside["MPI_ISEND_COMPLETE"]), (2, 2))
            kernels = self.only(trace.kernels("advance", rank), 3 * rounds)
            for wait, interior, edge in zip(waits, kernels[0::3], kernels[1::3]):
                self.assertLess(interior.start, edge.start)
                self.assertLessEqual(wait.end, edge.start, "an edge before its halo is there")

    def test_one_rank_is_its_own_neighbour(self):
        self.check(1)

    def test_two_ranks(self):
        self.check(2)

    def test_four_ranks(self):
        self.check(4)

class EachRankRecords(ranks.MpiTest):
    """`record` around each rank, as batch systems start programs; the last one makes the archive."""
    def test_two_ranks(self):
        program = traces.example("late-sender", "openmpi")
        record = [traces.support.ctascope_path, "record", "--timeline", "-o", "run", "--"]
        self.run_(*ranks.MPIRUN["openmpi"], "2", *record, program, "5", "2",
                  env=traces.support.environment(**self.ENVIRONMENT))
        trace = self.trace("run")
        self.check_messages(trace)
        self.check_collectives(trace, 2)
        self.only(trace.calls("MPI_Recv", 1), 2)
        self.assertFalse(os.path.exists("run/rank-0/timeline"), "the logs are removed")


if __name__ == "__main__":
    traces.main()
