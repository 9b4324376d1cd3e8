/* Communicators: which one a handle is, by an identity that all of its members have.
 *
 * The identity is (world rank of its rank 0, a count kept there). Rank 0 tells the others by one
 * MPI_Bcast over the new communicator, inside the call that makes it: a microsecond or some per
 * communicator. An intercommunicator is known by its two groups together, one behind the other, as
 * MPI_Intercomm_merge orders them (made for this and freed again); partners in messages are places
 * among these members. MPI_Comm_idup must not wait for others, so its identity is computed from the
 * parent's and how often that was duplicated so. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/promise.h"
#include "record/mpi/wrap.h"

enum { BUCKETS = 1024 };
static struct cts_communicator *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint_fast64_t generation = 1; /* changes when a handle may mean something else */
static atomic_uint next_number = 2;         /* 0: world, 1: self */

/* The communicator that this thread asked for last. */
static __thread struct {
    MPI_Comm handle;
    uint64_t generation;
    struct cts_communicator *info;
} latest;

static struct cts_communicator **bucket_of(MPI_Comm comm)
{
    const uint64_t key = (uint64_t)(uintptr_t)comm;
    return &buckets[cts_hash(key) >> 54];
}

static struct cts_communicator *find_locked(MPI_Comm comm)
{
    CTS_ASSERT_HELD(&lock);
    struct cts_communicator *info = *bucket_of(comm);
    while (info && info->handle != comm) info = info->next;
    return info;
}

static struct cts_communicator *take_locked(MPI_Comm comm)
{
    CTS_ASSERT_HELD(&lock);
    struct cts_communicator **place = bucket_of(comm);
    while (*place && (*place)->handle != comm) place = &(*place)->next;
    struct cts_communicator *const info = *place;
    if (info) *place = info->next;
    atomic_fetch_add(&generation, 1);
    return info;
}

/* Replaces what the handle meant before. */
static void insert(struct cts_communicator *info)
{
    pthread_mutex_lock(&lock);
    free(take_locked(info->handle));
    struct cts_communicator **const bucket = bucket_of(info->handle);
    info->next = *bucket;
    *bucket = info;
    pthread_mutex_unlock(&lock);
}

static void insert_unknown(MPI_Comm comm)
{
    struct cts_communicator *const info = calloc(1, sizeof(*info));
    if (!info) return;
    info->handle = comm;
    insert(info);
    cts_mpi.recorder->message("note",
                              "messages on a communicator that was created before recording began, "
                              "or together with another MPI program, are not recorded");
}

struct cts_communicator *cts_comm_info(MPI_Comm comm)
{
    const uint64_t now = atomic_load_explicit(&generation, memory_order_acquire);
    if (latest.generation == now && latest.handle == comm) return latest.info;
    pthread_mutex_lock(&lock);
    struct cts_communicator *info = find_locked(comm);
    pthread_mutex_unlock(&lock);
    if (!info) {
        insert_unknown(comm);
        return NULL;
    }
    if (!info->known) info = NULL;
    latest.handle = comm;
    latest.generation = now;
    latest.info = info;
    return info;
}

uint32_t *cts_world_ranks(MPI_Group group, int count)
{
    MPI_Group world;
    uint32_t *ranks = malloc((size_t)count * 2 * sizeof(*ranks));
    if (!ranks) return NULL;
    int *const own = (int *)ranks + count;
    for (int i = 0; i < count; i++) own[i] = i;
    if (cts_real.Comm_group(cts_handles.comm_world, &world) != MPI_SUCCESS) goto fail;
    const int result = cts_real.Group_translate_ranks(group, count, own, world, (int *)ranks);
    cts_real.Group_free(&world);
    if (result != MPI_SUCCESS) goto fail;
    for (int i = 0; i < count; i++)
        if ((int)ranks[i] < 0) goto fail;
    return ranks;
fail:
    free(ranks);
    return NULL;
}

/* Those of a communicator's members: of an intercommunicator, one group behind the other. */
static uint32_t *member_ranks(const struct cts_communicator *info, MPI_Comm comm)
{
    MPI_Group local = cts_handles.group_null, remote = cts_handles.group_null;
    const int remote_size = info->inter ? (int)info->partners : 0;
    const size_t local_offset = info->remote_offset == 0 ? (size_t)remote_size : 0;
    uint32_t *ranks = malloc((size_t)info->size * sizeof(*ranks)), *theirs = NULL, *own = NULL;
    cts_real.Comm_group(comm, &local);
    if (info->inter) cts_real.Comm_remote_group(comm, &remote);
    own = cts_world_ranks(local, info->local_size);
    if (info->inter) theirs = cts_world_ranks(remote, remote_size);
    cts_real.Group_free(&local);
    if (info->inter) cts_real.Group_free(&remote);
    if (ranks && own && (theirs || !info->inter)) {
        memcpy(ranks + local_offset, own, (size_t)info->local_size * sizeof(*ranks));
        if (theirs)
            memcpy(ranks + info->remote_offset, theirs, (size_t)remote_size * sizeof(*ranks));
    } else {
        free(ranks);
        ranks = NULL;
    }
    free(own);
    free(theirs);
    return ranks;
}

/* Tells the recorder, and enters the communicator into the table. Its rank 0 lists the members, by
 * `members`: the communicator or one like it. */
static void define(struct cts_communicator *info, MPI_Comm members,
                   const struct cts_communicator *parent, const char *name)
{
    uint32_t *const ranks = info->position == 0 ? member_ranks(info, members) : NULL;
    info->parent_creator = parent ? parent->creator : CTS_TIMELINE_NONE;
    info->parent_number = parent ? parent->number_there : 0;
    info->number = cts_mpi.recorder->communicator(&(struct cts_recorder_communicator){
        .creator = info->creator,
        .number = info->number_there,
        .parent_creator = info->parent_creator,
        .parent_number = info->parent_number,
        .name = name,
        .members = ranks,
        .member_count = ranks ? info->size : 0,
    });
    free(ranks);
    info->known = true;
    info->in_degree = info->out_degree = -1;
    insert(info);
}

static bool returns_errors(MPI_Comm comm)
{
    MPI_Errhandler handler;
    if (cts_real.Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return true;
    const bool fatal = handler == cts_handles.errors_are_fatal;
    cts_real.Errhandler_free(&handler);
    return !fatal;
}

void cts_comm_errors_set(MPI_Comm comm)
{
    struct cts_communicator *const info = cts_comm_info(comm);
    if (info) info->returns_errors = returns_errors(comm);
}

static struct cts_communicator *new_info(MPI_Comm comm)
{
    struct cts_communicator *const info = calloc(1, sizeof(*info));
    int inter = 0, partners = 0;
    if (!info) return NULL;
    info->handle = comm;
    cts_real.Comm_rank(comm, &info->rank);
    cts_real.Comm_size(comm, &info->local_size);
    cts_real.Comm_test_inter(comm, &inter);
    info->inter = inter != 0;
    info->returns_errors = returns_errors(comm);
    if (inter)
        cts_real.Comm_remote_size(comm, &partners);
    else
        partners = info->local_size;
    info->partners = (uint64_t)partners;
    info->position = (uint32_t)info->rank;
    info->size = (uint32_t)(inter ? info->local_size + partners : partners);
    return info;
}

void cts_comm_begin(void)
{
    int rank = 0, count = 1;
    MPI_Comm parent = cts_handles.comm_null;
    cts_real.Comm_rank(cts_handles.comm_world, &rank);
    cts_real.Comm_size(cts_handles.comm_world, &count);
    cts_mpi.rank = (uint32_t)rank;
    cts_mpi.count = (uint32_t)count;
    cts_mpi.recorder->mpi(cts_mpi.rank, cts_mpi.count);
    if (cts_real.Comm_get_parent(&parent) == MPI_SUCCESS && parent != cts_handles.comm_null)
        cts_mpi.recorder->message("warning", "this process was started by MPI_Comm_spawn: it "
                                             "counts as a rank of its own MPI_COMM_WORLD");
    struct cts_communicator *const world = new_info(cts_handles.comm_world);
    if (world) define(world, world->handle, NULL, "MPI_COMM_WORLD");
    struct cts_communicator *const self = new_info(cts_handles.comm_self);
    if (!self) return;
    self->creator = cts_mpi.rank;
    self->number_there = 1;
    define(self, self->handle, NULL, "MPI_COMM_SELF");
}

/* All members take the identity that rank 0 has for them. Collective over `comm`. */
static void agree(struct cts_communicator *info, MPI_Comm comm)
{
    uint32_t identity[2] = {cts_mpi.rank, 0};
    if (info->position == 0)
        identity[1] = atomic_fetch_add_explicit(&next_number, 1, memory_order_relaxed);
    cts_real.Bcast(identity, sizeof(identity), cts_handles.byte, 0, comm);
    info->creator = identity[0];
    info->number_there = identity[1];
}

/* Places of the two groups in the merged communicator; false: a group is of another world. */
static bool place_groups(struct cts_communicator *info, MPI_Comm merged)
{
    MPI_Group remote, both;
    int first = 0, place = 0, position = 0;
    cts_real.Comm_remote_group(info->handle, &remote);
    cts_real.Comm_group(merged, &both);
    cts_real.Group_translate_ranks(remote, 1, &first, both, &place);
    cts_real.Comm_rank(merged, &position);
    cts_real.Group_free(&remote);
    cts_real.Group_free(&both);
    info->remote_offset = (uint32_t)place;
    info->position = (uint32_t)position;
    return place >= 0;
}

static bool remote_is_foreign(MPI_Comm comm)
{
    MPI_Group remote;
    if (cts_real.Comm_remote_group(comm, &remote) != MPI_SUCCESS) return true;
    uint32_t *const rank = cts_world_ranks(remote, 1);
    cts_real.Group_free(&remote);
    free(rank);
    return !rank;
}

static void define_inter(struct cts_communicator *info, const struct cts_communicator *parent)
{
    MPI_Comm merged;
    if (remote_is_foreign(info->handle) ||
        cts_real.Intercomm_merge(info->handle, 0, &merged) != MPI_SUCCESS) {
        insert_unknown(info->handle);
        free(info);
        return;
    }
    if (place_groups(info, merged)) {
        agree(info, merged);
        /* The groups of a new intercommunicator have different parents. */
        define(info, info->handle, parent && parent->inter ? parent : NULL, NULL);
    } else {
        free(info);
    }
    cts_real.Comm_free(&merged);
}

void cts_comm_created(MPI_Comm parent_handle, MPI_Comm comm)
{
    if (comm == cts_handles.comm_null) return;
    const struct cts_communicator *const parent = cts_comm_info(parent_handle);
    struct cts_communicator *const info = new_info(comm);
    if (!info) return;
    if (info->inter) {
        define_inter(info, parent);
        return;
    }
    agree(info, comm);
    define(info, comm, parent, NULL);
}

/* A number of the duplicate that all members compute alike: above those that are counted. */
static uint32_t duplicate_number(struct cts_communicator *parent)
{
    uint64_t mixed = ((uint64_t)parent->creator << 32 | parent->number_there) + 1;
    mixed = cts_hash_add(mixed, ++parent->duplicate_count);
    return 0x80000000U | (uint32_t)(mixed >> 33);
}

void cts_comm_duplicating(MPI_Comm parent_handle, MPI_Comm comm)
{
    struct cts_communicator *const parent = cts_comm_info(parent_handle);
    struct cts_communicator *const info = parent ? malloc(sizeof(*info)) : NULL;
    if (!info) {
        insert_unknown(comm);
        return;
    }
    *info = *parent;
    info->handle = comm;
    info->number_there = duplicate_number(parent);
    info->duplicate_count = info->window_count = 0;
    define(info, parent_handle, parent, NULL);
}

struct cts_communicator *cts_comm_take(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    struct cts_communicator *const info = take_locked(comm);
    pthread_mutex_unlock(&lock);
    return info;
}

void cts_comm_freed(struct cts_mpi_call *call, bool ok, struct cts_communicator *info)
{
    if (!info) return;
    if (!ok) {
        insert(info);
        return;
    }
    if (info->known)
        cts_collective(call,
                       &(struct cts_collective_call){.operation = OTF2_COLLECTIVE_OP_DESTROY_HANDLE,
                                                     .comm = info,
                                                     .root = CTS_TIMELINE_NONE,
                                                     .sent_bytes = 0,
                                                     .received_bytes = 0});
    free(info);
}

void cts_comm_named(MPI_Comm comm)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    const struct cts_communicator *const info = cts_comm_info(comm);
    if (!info || cts_real.Comm_get_name(comm, name, &length) != MPI_SUCCESS) return;
    cts_mpi.recorder->communicator(&(struct cts_recorder_communicator){
        .creator = info->creator,
        .number = info->number_there,
        .parent_creator = info->parent_creator,
        .parent_number = info->parent_number,
        .name = name,
    });
}

static void ask_degrees(struct cts_communicator *info, MPI_Comm comm)
{
    int kind = MPI_UNDEFINED, in = 0, out = 0, weighted;
    cts_real.Topo_test(comm, &kind);
    if (kind == MPI_CART) {
        cts_real.Cartdim_get(comm, &in);
        in = out = 2 * in;
    } else if (kind == MPI_GRAPH) {
        cts_real.Graph_neighbors_count(comm, info->rank, &in);
        out = in;
    } else if (kind == MPI_DIST_GRAPH) {
        cts_real.Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    }
    info->in_degree = in;
    info->out_degree = out;
}

void cts_comm_neighbors(struct cts_communicator *info, MPI_Comm comm, uint64_t *in, uint64_t *out)
{
    if (info->in_degree < 0) ask_degrees(info, comm);
    *in = (uint64_t)info->in_degree;
    *out = (uint64_t)info->out_degree;
}

uint32_t cts_comm_root(const struct cts_communicator *comm, int root)
{
    if (!comm->inter) return (uint32_t)root;
    if (root == MPI_ROOT) return comm->position;
    if (root == MPI_PROC_NULL) return CTS_TIMELINE_NONE;
    return cts_comm_peer(comm, root);
}
