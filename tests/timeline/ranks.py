"""What the tests of the MPI examples share: recording real ranks, and what holds for all archives of
several ranks: sends match receives, and all take part in collectives."""
import collections

import traces

MPIRUN = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "-n"], "mpich": ["mpirun.mpich", "-n"]}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1,
           "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}

SENDS, RECEIVES = ("MPI_SEND", "MPI_ISEND"), ("MPI_RECV", "MPI_IRECV")


def number(field):
    return int(field.split()[0])


class MpiTest(traces.TimelineTest):
    ENVIRONMENT = {**traces.TimelineTest.ENVIRONMENT, **AS_ROOT}

    def record_ranks(self, count, name, *words, mpi="openmpi"):
        """`record` around mpirun; the trace of `count` ranks."""
        done = self.record_timeline("run", *MPIRUN[mpi], str(count), traces.example(name, mpi),
                                    *words)
        self.assertIn(f"{name}: right", done.stdout)
        trace = self.trace("run")
        self.assertEqual(sorted({location.rank for location in trace.locations.values()}),
                         list(range(count)))
        self.check_messages(trace)
        self.check_collectives(trace, count)
        return trace

    def master(self, trace, rank):
        return trace.threads(rank)[0]

    def check_messages(self, trace):
        """Sends and receives match one to one, in order, and no receive ends before its send has
        begun."""
        sent, received = collections.defaultdict(list), collections.defaultdict(list)
        for thread in trace.threads():
            for event in thread.events:
                fields = event.fields
                if event.kind in SENDS:
                    key = (fields["Communicator"], thread.rank, number(fields["Receiver"]),
                           fields["Tag"])
                    sent[key].append((event.time, fields["Length"]))
                elif event.kind in RECEIVES:
                    key = (fields["Communicator"], number(fields["Sender"]), thread.rank,
                           fields["Tag"])
                    received[key].append((event.time, fields["Length"]))
        self.assertEqual(set(sent), set(received))
        for key, sends in sent.items():
            receives = received[key]
            self.assertEqual([length for _, length in sends], [length for _, length in receives])
            for (begin, _), (end, _) in zip(sends, receives):
                self.assertLess(begin, end, key)

    def check_collectives(self, trace, count):
        """All ranks take part in all collectives of the world, and meet in them."""
        ends = [[e for e in self.master(trace, rank).events if e.kind == "MPI_COLLECTIVE_END"]
                for rank in range(count)]
        self.assertEqual(len({len(one) for one in ends}), 1)
        for together in zip(*ends):
            self.assertEqual(len({e.fields["Operation"] for e in together}), 1)

    def events(self, trace, rank, *kinds):
        return [e for e in self.master(trace, rank).events if e.kind in kinds]
