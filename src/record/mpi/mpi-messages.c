/* Events of blocking messages. */
#include "record/mpi/wrap.h"

uint64_t cts_type_size(MPI_Datatype type)
{
    int size = 0;
    if (cts_real.Type_size(type, &size) == MPI_SUCCESS && size >= 0) return (uint64_t)size;
    MPI_Count large = 0;
    if (cts_real.Type_size_x(type, &large) != MPI_SUCCESS || large < 0) return 0;
    return (uint64_t)large;
}

void cts_sent(struct cts_mpi_call *call, uint64_t bytes, int peer, int tag, MPI_Comm comm)
{
    if (peer == MPI_PROC_NULL) return;
    const struct cts_communicator *const info = cts_comm_info(comm);
    if (!info) return;
    const struct cts_timeline_event event = {
        .time_ns = call->start_ns,
        .kind = CTS_EVENT_MPI_SEND,
        .message = {.peer = cts_comm_peer(info, peer),
                    .communicator = info->number,
                    .tag = (uint32_t)tag,
                    .bytes = bytes},
    };
    cts_mpi.recorder->event(call->log, &event, NULL);
}

void cts_received(struct cts_mpi_call *call, MPI_Comm comm, int peer, const MPI_Status *status)
{
    if (peer == MPI_PROC_NULL || status->MPI_SOURCE == MPI_PROC_NULL) return;
    const struct cts_communicator *const info = cts_comm_info(comm);
    if (!info) return;
    const struct cts_timeline_event event = {
        .time_ns = cts_call_end_ns(call),
        .kind = CTS_EVENT_MPI_RECV,
        .message = {.peer = cts_comm_peer(info, status->MPI_SOURCE),
                    .communicator = info->number,
                    .tag = (uint32_t)status->MPI_TAG,
                    .bytes = cts_status_bytes(status)},
    };
    cts_mpi.recorder->event(call->log, &event, NULL);
}

uint64_t cts_status_bytes(const MPI_Status *status)
{
    int count = 0;
    if (cts_real.Get_count(status, cts_handles.byte, &count) == MPI_SUCCESS &&
        count != MPI_UNDEFINED)
        return (uint64_t)count;
    MPI_Count large = 0;
    if (cts_real.Get_elements_x(status, cts_handles.byte, &large) != MPI_SUCCESS || large < 0)
        return 0;
    return (uint64_t)large;
}

bool cts_reports_early(MPI_Comm comm)
{
    const struct cts_communicator *const info = cts_comm_info(comm);
    return info && !info->returns_errors;
}
