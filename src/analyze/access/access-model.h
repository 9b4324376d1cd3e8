/* Private to the access analysis.
 *
 * Launches are walked in their order. Of a launch all threads read chunks and count requests
 * (records.c); when the records of a CTA are complete, its sets of bytes are settled into bits of
 * the launch (cta-sets.c); when the launch is, the bits say what is shared, outside or unwritten
 * (launch-bits.c), and where something is, the launch is read again to name it (faults.c). */
#ifndef CTS_ACCESS_ACCESS_MODEL_H
#define CTS_ACCESS_ACCESS_MODEL_H

#include <pthread.h>
#include <string.h>

#include "analyze/access/access-analysis.h"
#include "analyze/access/record-padding.h"
#include "analyze/access/race.h"
#include "analyze/access/reach.h"
#include "analyze/access/signal-order.h"
#include "analyze/access/unrecorded.h"
#include "analyze/tensor-maps.h"
#include "analyze/bits.h"
#include "analyze/interval.h"
#include "analyze/places.h"
#include "analyze/sets.h"
#include "analyze/shadow.h"
#include "analyze/summary/summary.h"

enum {
    CTS_ACCESS_SPACES = CTS_SPACE_LAST + 1,
    CTS_ACCESS_WIDTH_MAX = 1 << 26, /* of sites whose bytes count; costs: CTS_WIDTH_MAX */
    CTS_ACCESS_CACHED_PAGES = 32,
    CTS_SHARED_BYTES_MAX = 1 << 18,  /* of a CTA: what is watched for reads before writes */
    CTS_ACCESS_PIECES_MAX = 1 << 20, /* of a CTA and site, before they are made fewer */
};

/* ---- rows (access-rows.c) ---- */

/* What a row is of. */
struct cts_access_row_name {
    uint64_t owner; /* kernel id, or index of the launch */
    uint32_t site, kernel;
    uint8_t space;
};

/* A row while it is being summed. */
struct cts_access_row {
    struct cts_access_row_name name;
    uint32_t worst_ways;
    struct cts_access_counts counts;
    struct cts_map strides; /* stride -> requests */
    struct cts_map rows;    /* cts_access_row_key() -> requests */
};

/* Rows of lanes: their pitch, and below it whether a row has one address, and its lanes. */
enum { CTS_ROW_UNIFORM = 0x80 };
static inline uint64_t cts_access_row_key(const struct cts_request_cost *cost)
{
    return (uint64_t)(uint32_t)cost->row_pitch_bytes << 8 | cost->row_lanes |
           (cost->row_is_uniform ? CTS_ROW_UNIFORM : 0u);
}

struct cts_access_rows {
    struct cts_access_row *items;
    size_t count, capacity;
    struct cts_map index; /* (owner, site, space) -> place + 1 */
};

/* The row of (owner, site, space), its index in *row. */
CTS_MUST_CHECK enum cts_status cts_access_row_of(struct cts_access_rows *rows,
                                                 const struct cts_access_row_name *name,
                                                 size_t *row, struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_access_rows_merge(struct cts_access_rows *sum,
                                                     const struct cts_access_rows *more,
                                                     struct cts_error *error);
void cts_access_rows_release(struct cts_access_rows *rows);
CTS_MUST_CHECK enum cts_status cts_access_rows_list(const struct cts_access_rows *rows,
                                                    bool per_launch,
                                                    struct cts_access_result *result,
                                                    struct cts_error *error);

/* ---- bytes of a CTA ---- */

/* `count` stretches of `length_bytes`, `stride_bytes` apart, that a warp touched. Several: the
 * stretches do not touch one another. */
struct cts_piece {
    uint64_t start;
    uint32_t length_bytes, stride_bytes;
    uint32_t count;
    uint16_t warp, zero; /* zero: pieces are compared as bytes */
};

/* What a CTA's accesses of one site and space touched. */
struct cts_pieces {
    struct cts_piece *items;
    size_t count, capacity;
    size_t compact_at;   /* count at which pieces are compacted; 0: CTS_ACCESS_PIECES_MAX */
    uint64_t lane_bytes; /* of a store's accesses, each counted */
    uint32_t pair;       /* of a shared one: slot + 1 of the other that shares it */
    uint32_t mirrors;    /* slot + 1 of the one whose pieces these are, too; 0: its own */
    uint32_t last[32];   /* by warp mod 32: index + 1 of its last piece, to be joined */
};

/* A CTA whose records are not all read yet. */
struct cts_access_cta {
    uint32_t cta;
    struct cts_pieces *pieces; /* by slot */
    struct cts_pieces *shared; /* by slot: those that another one's accesses touched, too */
    size_t piece_slots;
    bool has_shared;          /* some are shared */
    uint64_t *shared_written; /* bits; NULL: no shared memory was touched */
    uint32_t shared_words;    /* of them that may be set */
    struct cts_bits seen;     /* faults.c: bytes of which the first access is past */
    uint32_t moment;          /* of the record at hand: they count up; ordering.c */
    uint32_t fence;           /* moment of its last fence */
    uint32_t epochs[CTS_RACE_THREADS_MAX / CTS_WARP_LANES]; /* by warp: barriers of the grid */
    struct cts_access_kept *kept;                           /* cta-races.c */
    struct cts_access_log *log;                             /* signal-log.c */
};

/* What one CTA did to a suspected byte, or to a word that may be a signal (ordering.c). */
struct cts_access_use {
    uint64_t address;
    uint32_t epoch;            /* a byte: barriers of the grid before */
    uint32_t cta, first, last; /* moments of its accesses */
    bool stores, is_weak;      /* it is stored, a word also by atomics; a byte: neither by an atomic
                                  nor volatile */
    uint32_t first_weak;       /* a byte: moment of the first such access (UINT32_MAX: none) */
    bool orders_others;        /* a word: it orders the uses of some byte */
    bool is_receiver;          /* a word: the CTA looked at it before it used what others stored */
    bool is_signal, is_atomic; /* a word: some access is an atomic */
    uint8_t operation;         /* a word: the first atomic there is, or else the first one */
    uint32_t updates, looks;   /* a word: moment of the last fence before an update, or of the last
                                  update if fences are not recorded (0: none), and of the first
                                  look (UINT32_MAX: none) */
};

struct cts_access_uses {
    struct cts_access_use *items;
    size_t count, capacity;
    bool is_over; /* there were too many */
};

/* What the CTAs of a launch did to suspected words and to those that may order them, where the
 * order of volatile accesses and atomics is recorded (signal-log.c). */
struct cts_access_logged {
    struct {
        struct cts_signal_event *items;
        size_t count, capacity;
    } events;
    struct {
        struct cts_signal_use *items;
        size_t count, capacity;
    } uses;
    uint64_t left_out;    /* only words are kept whose hash has none of these bits */
    bool is_over;         /* there were too many events */
    struct cts_map tests; /* by site of an atomic that may leave the word as it is: 1 + the site
                             whose plain load came before each time; UINT64_MAX: no such site */
};

/* What scattered sets that are painted at once are of: slots whose CTA touched the same bytes, and
 * the CTA as a whole. */
enum { CTS_ACCESS_GROUP_MAX = 6 };
struct cts_access_group {
    uint32_t slots[CTS_ACCESS_GROUP_MAX], count;
    bool has_union;
};

enum { CTS_CLASS_READ = 1, CTS_CLASS_STORE = 2, CTS_CLASS_ATOMIC = 4 };

/* A site and space in the launch at hand. */
struct cts_access_slot {
    uint32_t site;
    uint8_t space, class;
    uint32_t width_bytes;
    size_t row; /* in the worker's rows */
    struct cts_bits *bits;
    struct cts_bits_cached page; /* of its bits, the last one used */
    /* of the CTA that is being settled */
    size_t leader;            /* the first slot with the same pieces; what follows is in this one */
    bool has_stores, writes;  /* some slot with these pieces stores; stores or is atomic */
    struct cts_intervals set; /* the union of the pieces, */
    uint64_t set_bytes;       /*   how much that is, */
    uint64_t piece_bytes;     /*   and of all pieces together */
    uint64_t warp_distinct;   /* how much is new to the warps */
    uint64_t start_bits;      /* the bits that are set in some start or stride of a piece */
    bool has_crowd;           /* the worker's crowd [begin, end) is known: */
    size_t crowd_begin, crowd_end; /*   the spans that share bytes with another one */
    /* of the launch: a store's accesses, and whether they can be counted from its bits */
    uint64_t lanes;
    bool is_uncounted;
};

/* A store in the launch at hand, whose bits stay until its races are counted (race-counts.c). */
struct cts_access_stored {
    uint32_t site, width_bytes;
    uint64_t lanes;
    bool is_uncounted; /* several lanes touch a byte, and how many is not known */
};

/* Bytes that a CTA's accesses of a store touched once more. */
struct cts_access_repeat {
    uint64_t start;
    uint32_t length_bytes, site;
};

/* A race between CTAs whose example is looked for: accesses of its first byte. */
struct cts_access_witness {
    uint64_t address;
    size_t row;                         /* of faults */
    uint32_t site;                      /* the store's */
    struct cts_access_example store;    /* by it, in the first CTA and thread */
    struct cts_access_example first[2]; /* by any site, in the first CTA and the next one */
};

/* Planes of the bits of global memory in a launch. */
enum {
    CTS_PLANE_TOUCHED, /* by some CTA */
    CTS_PLANE_MANY,    /* by several */
    CTS_PLANE_READ,    /* loaded */
    CTS_PLANE_STORED,
    CTS_PLANE_ATOMIC,
    CTS_PLANE_COUNT
};

/* Planes of the bits of what is suspected in a launch. */
enum {
    CTS_SUSPECT_OUTSIDE,
    CTS_SUSPECT_UNWRITTEN, /* read, and nobody wrote it before the launch; after the second look:
                              some CTA reads it first */
    CTS_SUSPECT_RACE,
    CTS_SUSPECT_STALE,   /* loaded plainly and updated by atomics of other CTAs, and not stored */
    CTS_SUSPECT_EXPOSED, /* of the unwritten: some CTA reads it before it writes it */
    CTS_SUSPECT_WRITE_FIRST, /* some CTA stores it before it reads it */
    CTS_SUSPECT_COUNT
};

/* Sums by place of the launch; one more for what is outside of all. */
struct cts_access_place_sum {
    uint64_t accesses, requested_bytes, request_distinct_bytes, cta_distinct_bytes;
    uint64_t launch_distinct_bytes, read_bytes, written_bytes;
};

enum cts_access_look {
    CTS_LOOK_COUNT,  /* requests and bytes */
    CTS_LOOK_WRITES, /* only what is written: launches that are not wanted */
    CTS_LOOK_ORDER,  /* of unwritten bytes: what comes first in each CTA */
    CTS_LOOK_SIGNAL, /* of races: which atomics stand before and after */
    CTS_LOOK_NAME,   /* who touches what is suspected */
    CTS_LOOK_OTHER,  /* who else touches the bytes of examples */
    CTS_LOOK_RACES,  /* what happens inside each CTA */
};

/* A fault while it is being summed. */
struct cts_access_fault_row {
    enum cts_finding_kind kind;
    uint32_t kernel, site;
    uint32_t other_site; /* of a race in a CTA; else CTS_NONE */
    uint8_t space;
    size_t last_launch; /* index + 1 */
    struct cts_access_fault fault;
    struct cts_bits bytes; /* of the launch at hand */
};

struct cts_access_model;

struct cts_access_worker {
    struct cts_access_model *model;
    struct cts_access_rows rows;
    const struct cts_acc_batch *batch; /* the one at hand */
    struct cts_cost_memory costs;
    uint32_t *slot_of; /* by site * CTS_ACCESS_SPACES + space: slot + 1 */
    struct cts_access_slot *slots;
    size_t slot_count, slot_capacity;
    struct cts_access_place_sum *places; /* by allocation index; the last: outside */
    size_t place_hint;
    size_t paired;                             /* record whose pieces are known; SIZE_MAX: none */
    struct cts_access_place_sum *paired_place; /* its place; NULL: it has several */
    /* lent to settling */
    struct cts_spans spans, sorting;
    struct cts_spans crowd; /* of the CTA; moment: cts_access_moment_of() */
    struct cts_intervals parts[4];
    uint64_t *warp_ends;                                   /* by warp */
    struct cts_bits_cached pages[CTS_ACCESS_CACHED_PAGES]; /* of model->touched, by number */
    struct cts_race *race;                                 /* NULL until one is needed */
    struct cts_sets scattered; /* not painted yet: node is an index in `groups`; in CTS_LOOK_NAME
                                  not named yet: index in `late` * 32 + lane */
    struct {
        struct cts_access_group *items;
        size_t count, capacity;
    } groups;
    struct {
        struct cts_access_late {
            uint32_t cta, site;
            uint16_t warp;
        } *items;
        size_t count, capacity;
    } late; /* records whose lanes are not named yet */
    struct {
        struct cts_access_repeat *items;
        size_t count, capacity;
    } repeats; /* of the launch */
    uint64_t record_count, access_count;
    enum cts_status status;
    struct cts_error error;
};

/* Races inside the CTAs of the launch at hand: what the first look leaves for the second one, which
 * replays CTAs (launch-races.c, cta-races.c). */
enum { CTS_RACE_FILTER_EXPONENT = 18, CTS_RACE_FILTER_BITS = 1 << CTS_RACE_FILTER_EXPONENT };

struct cts_access_races {
    bool is_wanted;
    bool has_shared_stores, has_suspects;
    struct cts_bits suspects; /* bytes that several warps of a CTA touch */
    /* A bit for each hash of a word of 64 bytes with suspects: most words have none, and that is
     * seen here without fetching `suspects`. */
    uint64_t filter[CTS_RACE_FILTER_BITS / 64];
    bool is_untold; /* the launch has more to replay than is kept */
    struct {
        struct cts_access_alike *items;
        size_t count, capacity;
    } alike; /* CTAs that were replayed, for those that are like them */
    struct cts_map alike_of;
};

struct cts_access_model {
    const struct cts_catalogue *catalogue;
    const struct cts_access_source *source;
    struct cts_access_options options;
    struct cts_access_result *result;
    struct cts_summary_plan plan;
    bool is_planned, host_seen;
    struct cts_walk_sites sites;
    struct cts_walk *walk;
    struct cts_access_worker *workers;
    unsigned worker_count;
    size_t scattered_max; /* at most this many ranges wait for a worker */
    struct cts_bits_pool pool;
    struct cts_shadow *written; /* bytes that somebody wrote; NULL: not watched */
    struct cts_shadow_view written_view;
    struct cts_tensor_maps tensors;
    struct cts_access_padding padding;
    struct cts_access_reach reach; /* of the launch at hand: what it may store unseen */
    bool *is_unknown;              /* by allocation index: a launch may have stored there unseen */
    uint32_t rank;
    /* the launch at hand */
    const struct cts_launch *launch;
    size_t launch_index;
    uint64_t owner;
    struct cts_walk_scope scope; /* its records */
    enum cts_access_look look;
    bool watches_shared;
    struct cts_places places;
    struct cts_bits touched;       /* CTS_PLANE_ */
    struct cts_bits suspects;      /* CTS_SUSPECT_ */
    bool found[CTS_SUSPECT_COUNT]; /* whether there are any */
    struct cts_bits *site_bits;    /* by site */
    struct {
        struct cts_access_allocation *items;
        size_t count, capacity;
    } allocations;
    struct {
        struct cts_access_fault_row *items;
        size_t count, capacity;
    } faults;
    struct cts_access_uses uses, signals; /* of the launch at hand */
    struct cts_access_logged logged;      /* the same where the order of signals is recorded */
    bool knows_order;
    bool knows_barriers, knows_fences; /* they are recorded */
    bool has_signals; /* the launch takes words by atomics or volatile: they may order others */
    struct cts_access_races races;
    bool counts_stores;  /* the launch's races may be counted */
    uint32_t *stored_of; /* by site: index in `stored` + 1 */
    struct {
        struct cts_access_stored *items;
        size_t count, capacity;
    } stored;
    struct {
        struct cts_access_witness *items; /* by address */
        size_t count, capacity;
        bool are_read;
    } witnesses;
    pthread_mutex_t faults_lock;
    bool is_shared; /* several threads are at work */
};

/* ---- reading.c, launch-bits.c ---- */

CTS_MUST_CHECK enum cts_status cts_access_walk_set_up(struct cts_access_model *model,
                                                      struct cts_error *error);
/* Reads the launch at hand (model->scope) with all threads, as model->look says. */
CTS_MUST_CHECK enum cts_status cts_access_read_launch(struct cts_access_model *model,
                                                      struct cts_error *error);
struct cts_access_turn {
    size_t launch_index, chunk_begin, chunk_end;
    bool is_wanted; /* else only what it writes counts */
};
CTS_MUST_CHECK enum cts_status cts_access_run_launch(struct cts_access_model *model,
                                                     const struct cts_access_turn *turn,
                                                     struct cts_error *error);

/* ---- records.c ---- */

/* `end`: of the records of the CTA that follow one another. */
CTS_MUST_CHECK enum cts_status cts_access_add_record(struct cts_access_worker *worker,
                                                     struct cts_access_cta *cta, size_t record,
                                                     size_t end);

/* Those that two slots share go to both. */
CTS_MUST_CHECK enum cts_status cts_access_part_pairs(struct cts_access_worker *worker,
                                                     struct cts_access_cta *cta);
/* Whether two records of lists have the same addresses. */
static inline bool cts_access_same_lists(const struct cts_acc_batch *batch, size_t a, size_t b)
{
    return batch->pattern[a] == CTS_PATTERN_LIST && batch->pattern[b] == CTS_PATTERN_LIST &&
           batch->base[a] == batch->base[b] && batch->mask[a] == batch->mask[b] &&
           !memcmp(batch->offsets + batch->offset_start[a], batch->offsets + batch->offset_start[b],
                   (size_t)__builtin_popcount(batch->mask[a]) * sizeof *batch->offsets);
}

/* A record as stretches of bytes: `count` of `length_bytes`, `stride_bytes` apart. */
struct cts_access_stretch {
    uint64_t start;
    uint32_t length_bytes, stride_bytes, count;
};
/* Returns at most 32, for which `stretches` must have room; 0 with an error for a record that
 * passes the end of memory. */
unsigned cts_access_stretches(const struct cts_acc_batch *batch, size_t record,
                              uint32_t width_bytes, struct cts_access_stretch *stretches,
                              struct cts_error *error);

/* ---- cta-sets.c: a CTA's records are all read ---- */

CTS_MUST_CHECK enum cts_status cts_access_settle_cta(struct cts_access_worker *worker,
                                                     struct cts_access_cta *cta);

/* ---- cta-scattered.c ---- */

static inline unsigned cts_access_plane_of(const struct cts_access_slot *slot)
{
    return slot->class == CTS_CLASS_READ    ? CTS_PLANE_READ
           : slot->class == CTS_CLASS_STORE ? CTS_PLANE_STORED
                                            : CTS_PLANE_ATOMIC;
}
bool cts_access_is_scattered(const struct cts_access_model *model, const struct cts_intervals *set);
/* To be painted later, as the group says. */
CTS_MUST_CHECK enum cts_status cts_access_put_off(struct cts_access_worker *worker,
                                                  const struct cts_intervals *set,
                                                  const struct cts_access_group *group);
/* Paints what is scattered and waits, of the launch at hand. */
CTS_MUST_CHECK enum cts_status cts_access_paint_scattered(struct cts_access_worker *worker);

/* ---- cta-unite.c ---- */

/* Makes the set of a leader, and all that belongs to it, from the pieces. */
CTS_MUST_CHECK enum cts_status cts_access_unite(struct cts_access_worker *worker,
                                                const struct cts_pieces *pieces,
                                                struct cts_access_slot *leader);
/* Adds to a set that is made in ascending order. */
CTS_MUST_CHECK static inline enum cts_status
cts_access_append(struct cts_intervals *set, uint64_t start, uint64_t end, struct cts_error *error)
{
    struct cts_interval *const last = set->count ? &set->items[set->count - 1] : NULL;
    if (last && start <= last->end) {
        if (end > last->end) last->end = end;
        return CTS_OK;
    }
    if (set->count == set->capacity && CTS_ARRAY_RESERVE(set, set->count + 1, error))
        return CTS_MEMORY;
    set->items[set->count++] = (struct cts_interval){start, end};
    return CTS_OK;
}
/* Whose a span is, and whether it is written, stand where others have their moment. */
static inline uint32_t cts_access_moment_of(uint16_t warp, bool writes)
{
    return (uint32_t)warp << 1 | writes;
}
/* Whether no other slot of the CTA touches global memory between the first and last byte of the
 * leader's set. */
bool cts_access_is_apart(const struct cts_access_worker *worker, const struct cts_access_cta *cta,
                         size_t leader);
/* Unites the pieces of each warp. */
CTS_MUST_CHECK enum cts_status cts_access_compact(struct cts_access_worker *worker,
                                                  struct cts_pieces *pieces);
/* Frees what a struct cts_access_cta holds. */
void cts_access_cta_release(void *cta_state);

/* ---- race-counts.c: races between CTAs, counted from the bits of their stores ---- */

/* The sets of the CTA are known: what its stores add. */
CTS_MUST_CHECK enum cts_status cts_access_note_stores(struct cts_access_worker *worker,
                                                      const struct cts_access_cta *cta);
/* The launch is read: what its workers know of its stores. */
CTS_MUST_CHECK enum cts_status cts_access_gather_stores(struct cts_access_model *model,
                                                        struct cts_error *error);
bool cts_access_can_count_races(const struct cts_access_model *model);
/* Adds what races to the rows of faults. `in_suspects`: what races is in model->suspects, else it
 * is what several CTAs touch. */
CTS_MUST_CHECK enum cts_status cts_access_count_races(struct cts_access_model *model,
                                                      bool in_suspects, struct cts_error *error);
void cts_access_forget_stores(struct cts_access_model *model); /* the launch is over */

/* ---- witnesses.c: examples of races between CTAs ---- */

/* Those of races that the launch at hand is the first to have. */
CTS_MUST_CHECK enum cts_status cts_access_list_witnesses(struct cts_access_model *model,
                                                         struct cts_error *error);
/* The records of a run, in a look for others. */
CTS_MUST_CHECK enum cts_status cts_access_look_for_witnesses(struct cts_access_worker *worker,
                                                             const struct cts_access_cta *cta,
                                                             const struct cts_walk_run *run);
/* The launch has been read for them: the examples are known. */
void cts_access_conclude_witnesses(struct cts_access_model *model);

/* ---- written.c: what was written before ---- */

CTS_MUST_CHECK enum cts_status cts_access_take_step(struct cts_access_model *model,
                                                    const struct cts_step *step,
                                                    struct cts_error *error);

/* ---- launch-races.c, cta-races.c: races inside a CTA ---- */

/* What is recorded of the launch at hand. */
void cts_access_begin_races(struct cts_access_model *model, bool is_wanted);
/* The CTA's records are complete: which bytes do its warps share? */
/* Slots know their leaders, and these their sets. */
CTS_MUST_CHECK enum cts_status cts_access_note_sharing(struct cts_access_worker *worker,
                                                       const struct cts_access_cta *cta);
/* After the first look: the launch is read again, if anything is suspected. */
CTS_MUST_CHECK enum cts_status cts_access_find_cta_races(struct cts_access_model *model,
                                                         struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_access_take_race_run(struct cts_access_worker *worker,
                                                        struct cts_access_cta *cta,
                                                        const struct cts_walk_run *run);
CTS_MUST_CHECK enum cts_status cts_access_end_race_cta(struct cts_access_worker *worker,
                                                       struct cts_access_cta *cta);
void cts_access_forget_alike(struct cts_access_races *races); /* the launch is over */
void cts_access_kept_free(struct cts_access_kept *kept);      /* NULL is fine */
void cts_access_races_release(struct cts_access_races *races);
/* suspects.c: a race of a CTA in the rows of faults; the caller holds the lock. */
CTS_MUST_CHECK enum cts_status cts_access_add_cta_race(struct cts_access_model *model, uint32_t cta,
                                                       const struct cts_race_pair *pair,
                                                       struct cts_error *error);

/* ---- faults.c ---- */

/* Without a word that may be a signal and without barriers of the grid all races stay possible. */
bool cts_access_may_be_ordered(const struct cts_access_model *model);
CTS_MUST_CHECK enum cts_status cts_access_name_suspects(struct cts_access_model *model,
                                                        struct cts_error *error);
/* suspects.c: the row of a race between CTAs; the caller holds the lock. */
struct cts_access_fault_row *cts_access_race_row(struct cts_access_model *model, uint32_t site,
                                                 struct cts_error *error);
/* suspects.c: a record, in the looks that name suspects. */
CTS_MUST_CHECK enum cts_status cts_access_look_again(struct cts_access_worker *worker,
                                                     struct cts_access_cta *cta, size_t record);
/* suspects.c: those that wait. */
CTS_MUST_CHECK enum cts_status cts_access_name_scattered(struct cts_access_worker *worker);
/* The allocation that had the byte and was freed last before the launch; SIZE_MAX: none. */
size_t cts_access_was_freed(const struct cts_catalogue *catalogue, const struct cts_launch *launch,
                            uint64_t address);
/* ordering.c: notes a use. */
CTS_MUST_CHECK enum cts_status cts_access_note_use(struct cts_access_model *model,
                                                   const struct cts_access_use *use,
                                                   struct cts_error *error);
/* A barrier or fence, in the look for signals. */
void cts_access_note_barrier(const struct cts_access_model *model, struct cts_access_cta *cta,
                             const struct cts_acc_barrier *barrier);
/* signal-log.c: a record of the launch, in the look for signals; `lanes` has its addresses. */
struct cts_access_touch {
    const struct cts_site *site;
    uint32_t number, mask; /* of the site; of the lanes */
    uint16_t warp;
    const uint64_t *addresses;
};
CTS_MUST_CHECK enum cts_status cts_access_log_touch(struct cts_access_worker *worker,
                                                    struct cts_access_cta *cta,
                                                    const struct cts_access_touch *touch);
CTS_MUST_CHECK enum cts_status cts_access_log_barrier(struct cts_access_worker *worker,
                                                      struct cts_access_cta *cta,
                                                      const struct cts_acc_barrier *barrier);
/* The CTA's records are complete. */
CTS_MUST_CHECK enum cts_status cts_access_end_log(struct cts_access_worker *worker,
                                                  struct cts_access_cta *cta);
void cts_access_log_free(struct cts_access_log *log); /* NULL is fine */
/* Takes what is ordered from the suspected races. */
CTS_MUST_CHECK enum cts_status cts_access_judge_logged(struct cts_access_model *model,
                                                       struct cts_error *error);
/* Whether a plain load only looks whether an atomic behind it is worthwhile. */
bool cts_access_is_test(const struct cts_access_model *model, uint32_t site);
void cts_access_logged_release(struct cts_access_logged *logged);
/* ordering.c: a byte is no race: it is ordered, counted in *counter (NULL: its uses never
 * conflict).
 */
void cts_access_take_byte(struct cts_access_model *model, uint64_t address, uint64_t *counter);
/* There were more uses than are kept: no more are needed. */
bool cts_access_are_too_many(const struct cts_access_model *model);
/* Takes what an atomic orders from the suspected races; whether any are left. */
bool cts_access_take_ordered(struct cts_access_model *model);
/* relays.c: orders that several words make together. NULL: no memory. */
struct cts_access_relays;
struct cts_access_relays *cts_access_relays_new(const struct cts_access_model *model);
void cts_access_relays_free(struct cts_access_relays *relays); /* NULL is fine */
/* Whether they order the uses of a byte in one epoch; takes its steps from *left, of 0: false. */
bool cts_access_relays_order(struct cts_access_relays *relays, struct cts_access_uses *signals,
                             const struct cts_access_use *uses, size_t use_count, uint64_t *left);
/* A read of shared memory that its CTA has not written. */
CTS_MUST_CHECK enum cts_status cts_access_add_shared_read(struct cts_access_worker *worker,
                                                          struct cts_access_cta *cta,
                                                          size_t record);
/* After the last launch. */
CTS_MUST_CHECK enum cts_status cts_access_conclude_faults(struct cts_access_model *model,
                                                          struct cts_error *error);
/* findings.c: the faults as findings. */
CTS_MUST_CHECK enum cts_status cts_access_faults_find(struct cts_access_model *model,
                                                      struct cts_error *error);

#endif
