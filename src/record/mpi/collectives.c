/* Events of collective operations. */
#include "record/mpi/wrap.h"

void cts_collective_begin(struct cts_mpi_call *call)
{
    const struct cts_timeline_event event = {.time_ns = call->start_ns,
                                             .kind = CTS_EVENT_MPI_COLLECTIVE_BEGIN};
    cts_mpi.recorder->event(call->log, &event, NULL);
    call->began = true;
}

void cts_collective(struct cts_mpi_call *call, const struct cts_collective_call *collective)
{
    if (!collective->comm) return;
    if (!call->began) cts_collective_begin(call);
    const struct cts_timeline_event event = {
        .time_ns = cts_call_end_ns(call),
        .kind = CTS_EVENT_MPI_COLLECTIVE_END,
        .collective = {.operation = collective->operation,
                       .communicator = collective->comm->number,
                       .root = collective->root,
                       .sent_bytes = collective->sent_bytes,
                       .received_bytes = collective->received_bytes},
    };
    cts_mpi.recorder->event(call->log, &event, NULL);
}
