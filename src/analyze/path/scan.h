/* Finds places at which a timeline can be cut. Each location is read once, and no event is kept.
 *
 * A *cut* is a collective of all processes (with one process: a synchronisation with its device)
 * during which nothing else is pending: no message, no other collective, no device work, no thread
 * of a team, no lock. Events after the cut depend on earlier ones only through the process that
 * came last. */
#ifndef CTS_ANALYZE_PATH_SCAN_H
#define CTS_ANALYZE_PATH_SCAN_H

#include "analyze/path/raw.h"

struct load;
struct frame;

/* One process at a candidate for a cut. A balance sums a random number for each operation: added
 * when it begins, subtracted when it ends; the number depends on the operation's identity. The
 * balance is 0 if every operation has ended, and otherwise with a probability of 2^-64. */
struct cts_path_cut {
    uint64_t enter_ns, leave_ns; /* of the call */
    uint64_t index;   /* of its enter (alone: its leave) among the events of its thread */
    uint64_t events;  /* of the process until then */
    uint64_t balance; /* of what several processes begin and end */
    uint64_t works;   /* of launches and activities */
    uint32_t unclean; /* locations on which something is under way */
};

struct cts_path_cuts { /* of one process, by time */
    struct cts_path_cut *items;
    size_t count, capacity;
};

/* The state of the scan of one location. */
struct cts_path_scan {
    struct cts_path_cuts *cuts; /* of its process; appended to by its first thread */
    bool first;                 /* this is that thread */
    bool alone;                 /* there is one process */
    bool one_device;            /* its process has one */
    uint32_t world;             /* communicator of all processes; NONE */
    uint64_t balance, works;
    struct cts_map orders;           /* of collectives by key */
    CTS_PATH_LIST(uint32_t, dirty);  /* streams with work that this thread has not awaited */
    CTS_PATH_LIST(uint64_t, failed); /* events and streams whose last query failed */
    uint32_t forks, locks;           /* open */
    bool spoiled;                    /* never clean again */
    size_t next;                     /* of cuts: the next that this location comes to */
    struct cts_path_cut at;          /* the call of MPI that is open, as far as it is known */
    uint32_t at_node;                /* its enter node; NONE */
    bool is_cut;                     /* it is a collective of all */
    uint64_t first_ns;               /* of its nodes; UINT64_MAX: none */
};

void cts_scan_event(struct load *load, uint64_t time_ns);
void cts_scan_flush(struct load *load, uint64_t end_ns);
void cts_scan_entered(struct load *load, const struct frame *frame);
void cts_scan_left(struct load *load, const struct frame *frame, uint64_t leave_ns);
void cts_scan_activity(struct load *load, const struct frame *frame);
void cts_scan_call(struct load *load, const struct frame *frame);
/* The channel of a message: sender, receiver, communicator and tag. */
struct cts_path_channel {
    uint32_t from, to, communicator, tag;
};
void cts_scan_sent(struct load *load, const struct cts_path_channel *channel);
void cts_scan_received(struct load *load, const struct cts_path_channel *channel);
void cts_scan_member(struct load *load, const struct cts_path_member *member);
void cts_scan_collective(struct load *load, uint32_t communicator);
void cts_scan_fork(struct load *load, bool begins);
void cts_scan_thread(struct load *load, uint32_t kind, uint64_t key);
void cts_scan_lock(struct load *load, bool acquired);
void cts_scan_spoil(struct load *load);
void cts_scan_end(struct load *load);
void cts_path_scan_release(struct cts_path_scan *scan);

#endif
