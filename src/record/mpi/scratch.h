/* Arrays of the calling thread that keep their memory from call to call; given back when it ends.
 */
#ifndef CTS_RECORD_MPI_SCRATCH_H
#define CTS_RECORD_MPI_SCRATCH_H

#include <stddef.h>

enum cts_scratch {
    CTS_SCRATCH_TAKEN, /* struct cts_request * */
    CTS_SCRATCH_STATUSES,
    CTS_SCRATCH_FORTRAN_REQUESTS, /* MPI_Request, of Fortran's */
    CTS_SCRATCH_FORTRAN_STATUSES, /* MPI_Status, of Fortran's */
    CTS_SCRATCH_FORTRAN_WORDS,    /* MPI_Fint: statuses as Fortran has them */
    CTS_SCRATCH_COUNT
};

/* Room for `count` items of `item_bytes`, which an array always has; there is some for a count of
 * 0, too. Good until the same array is wanted again. NULL: no memory. */
void *cts_scratch(enum cts_scratch which, size_t count, size_t item_bytes);

#endif
