/* Fortran's arguments in C. Marks such as MPI_IN_PLACE are variables of the Fortran library, which
 * are told by their addresses; compilers differ in how they spell Open MPI's names. Those of MPICH
 * are of its mpi_f08, and none is MPI_IN_PLACE: what has a buffer is wrapped in C. */
#include <pthread.h>
#include <stdlib.h>

#include "record/mpi/fortran.h"
#include "record/mpi/scratch.h"

enum { SPELLINGS = 5 };
static const char *const in_place_names[SPELLINGS] = {
    "mpi_fortran_in_place", "mpi_fortran_in_place_", "mpi_fortran_in_place__",
    "MPI_FORTRAN_IN_PLACE"};
static const char *const status_names[SPELLINGS] = {
    "mpi_fortran_status_ignore", "mpi_fortran_status_ignore_", "mpi_fortran_status_ignore__",
    "MPI_FORTRAN_STATUS_IGNORE", "MPIR_F08_MPI_STATUS_IGNORE_OBJ"};
static const char *const statuses_names[SPELLINGS] = {
    "mpi_fortran_statuses_ignore", "mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore__",
    "MPI_FORTRAN_STATUSES_IGNORE", "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"};

static struct marks {
    const void *in_place[SPELLINGS], *status[SPELLINGS], *statuses[SPELLINGS];
} marks;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const void *address_of(const char *name)
{
    return name ? cts_mpi_variable_address(name) : NULL;
}

static void find_marks(void)
{
    for (int i = 0; i < SPELLINGS; i++) {
        marks.in_place[i] = address_of(in_place_names[i]);
        marks.status[i] = address_of(status_names[i]);
        marks.statuses[i] = address_of(statuses_names[i]);
    }
}

void *cts_fortran_real(_Atomic(void *) *cache, const char *symbol)
{
    void *real = atomic_load_explicit(cache, memory_order_relaxed);
    if (real) return real;
    real = cts_mpi_function_address(symbol);
    atomic_store_explicit(cache, real, memory_order_relaxed);
    return real;
}

/* A message to nobody is complete at once: which of one request is it? */
static int ask_index_base(void)
{
    typedef void waitany(const MPI_Fint *, MPI_Request *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
    const MPI_Fint count = 1;
    MPI_Fint index = 1, error = MPI_SUCCESS, status[CTS_FORTRAN_STATUS_WORDS];
    MPI_Request request;
    waitany *const wait = (waitany *)cts_mpi_function_address("mpi_waitany_f08_");
    if (wait && cts_real.Isend(NULL, 0, cts_handles.byte, MPI_PROC_NULL, 0, cts_handles.comm_self,
                               &request) == MPI_SUCCESS)
        wait(&count, &request, &index, status, &error);
    return index;
}

int cts_f08_index_base(void)
{
    static atomic_int known; /* base + 1 */
    int base = atomic_load_explicit(&known, memory_order_relaxed) - 1;
    if (base >= 0) return base;
    base = ask_index_base();
    atomic_store_explicit(&known, base + 1, memory_order_relaxed);
    return base;
}

bool cts_fortran_is_in_place(const MPI_Fint *buffer)
{
    pthread_once(&once, find_marks);
    for (int i = 0; i < SPELLINGS; i++)
        if (buffer && buffer == marks.in_place[i]) return true;
    return false;
}

bool cts_fortran_ignores(const MPI_Fint *status)
{
    pthread_once(&once, find_marks);
    for (int i = 0; i < SPELLINGS; i++)
        if (status == marks.status[i] || status == marks.statuses[i]) return true;
    return false;
}

/* Aborts without memory: unlike C's, Fortran's arrays cannot be done without. */
static void *scratch_array(enum cts_scratch which, size_t count, size_t item_bytes)
{
    void *const array = cts_scratch(which, count, item_bytes);
    if (!array) abort();
    return array;
}

MPI_Request *cts_fortran_requests(int count, const MPI_Fint *requests)
{
    const size_t wanted = count > 0 ? (size_t)count : 0;
    MPI_Request *const array = scratch_array(CTS_SCRATCH_FORTRAN_REQUESTS, wanted, sizeof(*array));
    for (size_t i = 0; i < wanted; i++) array[i] = CTS_F2C(Request, requests[i]);
    return array;
}

MPI_Fint *cts_fortran_status_words(int count)
{
    const size_t wanted = (count > 0 ? (size_t)count : 0) * CTS_FORTRAN_STATUS_WORDS;
    return scratch_array(CTS_SCRATCH_FORTRAN_WORDS, wanted, sizeof(MPI_Fint));
}

MPI_Status *cts_fortran_statuses(int count, const MPI_Fint *statuses)
{
    const size_t wanted = count > 0 ? (size_t)count : 0;
    MPI_Status *const array = scratch_array(CTS_SCRATCH_FORTRAN_STATUSES, wanted, sizeof(*array));
    for (size_t i = 0; i < wanted; i++)
        cts_real.Status_f2c(statuses + i * CTS_FORTRAN_STATUS_WORDS, &array[i]);
    return array;
}
