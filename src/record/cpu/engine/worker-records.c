/* Which CTA a worker's stream of records is in. */
#include "record/cpu/engine/worker.h"

void cts_worker_end_records(struct cts_worker *worker)
{
    if (worker->stream_cta == UINT64_MAX) return;
    cts_stream_end_cta(worker->stream);
    worker->stream_cta = UINT64_MAX;
}

void cts_worker_begin_records(struct cts_worker *worker, uint64_t cta)
{
    if (worker->stream_cta == cta) return;
    cts_worker_end_records(worker);
    cts_stream_begin_cta(worker->stream, worker->launch->request->launch, (uint32_t)cta);
    worker->stream_cta = cta;
}
