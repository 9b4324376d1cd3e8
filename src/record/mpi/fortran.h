/* What the generated wrappers of MPI's Fortran functions need besides the hooks: C's values of
 * Fortran's arguments, and the marks that Fortran has for MPI_IN_PLACE and MPI_STATUS_IGNORE. */
#ifndef CTS_RECORD_MPI_FORTRAN_H
#define CTS_RECORD_MPI_FORTRAN_H

#include <stdatomic.h>

#include "record/mpi/wrap.h"

enum { CTS_FORTRAN_STATUS_WORDS = sizeof(MPI_Status) / sizeof(MPI_Fint) };
_Static_assert(sizeof(MPI_Fint) == sizeof(int), "Fortran's integers are C's");

/* C's handle: Open MPI has functions, MPICH macros. */
#ifdef OPEN_MPI
#define CTS_F2C(kind, handle) cts_real.kind##_f2c(handle)
#else
#define CTS_F2C(kind, handle) MPI_##kind##_f2c(handle)
#endif

/* The function behind this library, kept in `cache`. */
void *cts_fortran_real(_Atomic(void *) *cache, const char *symbol);
/* Of the indices that mpi_f08's MPI_Waitany and its like give: 0 in MPICH 4.0, which forgot to
 * add 1. Asks MPI when it is called first, between MPI_Init and MPI_Finalize. */
int cts_f08_index_base(void);
bool cts_fortran_is_in_place(const MPI_Fint *buffer);
bool cts_fortran_ignores(const MPI_Fint *status);

/* The thread's arrays, valid until its next call. */
MPI_Request *cts_fortran_requests(int count, const MPI_Fint *requests);
MPI_Fint *cts_fortran_status_words(int count);
MPI_Status *cts_fortran_statuses(int count, const MPI_Fint *statuses);

#define CTS_OWN_FORTRAN_STATUS(status)                                                             \
    MPI_Fint own_status[CTS_FORTRAN_STATUS_WORDS];                                                 \
    if (cts_fortran_ignores(status)) status = own_status;
#define CTS_FORTRAN_STATUS(name, status)                                                           \
    MPI_Status c_status;                                                                           \
    MPI_Status *const name = &c_status;                                                            \
    cts_real.Status_f2c(status, &c_status);
#define CTS_OWN_FORTRAN_STATUSES(statuses, n)                                                      \
    if (cts_fortran_ignores(statuses)) statuses = cts_fortran_status_words(n);
#define CTS_FORTRAN_TYPED_SUM(counts, types, n)                                                    \
    ({                                                                                             \
        uint64_t sum = 0;                                                                          \
        for (uint64_t i = 0; i < (uint64_t)(n); i++)                                               \
            sum += B((counts)[i], CTS_F2C(Type, (types)[i]));                                      \
        sum;                                                                                       \
    })

#endif
