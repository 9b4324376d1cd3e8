/* The trials of one `ctascope try`: over one or several executions of the program, as a trial may
 * end it. */
#ifndef CTS_CLI_TRY_TALK_H
#define CTS_CLI_TRY_TALK_H

#include "analyze/try/try-outcome.h"
#include "common/buffer.h"

/* An operation as the user names it: "launch:3", "copy:1", "memset:2", "wait:0"; "3" is a launch.
 */
struct cts_try_name {
    uint32_t kind; /* enum cts_trial_kind */
    uint32_t number;
};
struct cts_try_wish {
    enum cts_try_change_kind kind;
    struct cts_try_name op, other; /* as the kind needs them */
    uint32_t name_count;
    uint64_t delay_ns;
    uint32_t streams;
    bool raw_only;
    const char *memory;                 /* SECOND_BUFFER: name of an allocation */
    struct cts_try_cta_order cta_order; /* CTA_ORDER; `ctas` owned by the talk */
};
CTS_MUST_CHECK bool cts_try_read_name(const char *text, struct cts_try_name *name);

enum { CTS_TRY_WISHES_MAX = 64 };
struct cts_try_talk {
    struct cts_try_wish wishes[CTS_TRY_WISHES_MAX]; /* of the user, tried together */
    size_t wish_count;
    bool all_findings;
    const char *live; /* names of what is compared; NULL: all that the program still has */
    const struct cts_flow_result *flow; /* of the recording; NULL: none */
    bool keeps_gaps;
    uint32_t repeats;
    /* filled: */
    struct cts_stretch stretch;
    bool has_stretch;
    struct cts_try_match match;
    struct cts_try_needs needs;
    struct cts_try_findings findings;
    struct cts_try_ranges dead;
    uint64_t *bytes; /* by operation: read and written; NULL: unknown */
    struct cts_try_change changes[CTS_TRY_WISHES_MAX];
    struct cts_try_outcome outcome;
    size_t current;         /* the trial that is being executed */
    bool is_lost;           /* the program ended in it */
    bool needs_restart;     /* it failed in a way that leaves the device unusable */
    enum cts_status status; /* why nothing, or nothing more, is tried */
    struct cts_error error;
};

/* For the service: `state` is the talk. */
void cts_try_talk_over(void *state, int socket, const struct cts_buffer *stretch);
/* The program ended in the middle: the trial at hand has that as its result. True if others are
 * left, for which it has to be started again. */
bool cts_try_talk_goes_on(struct cts_try_talk *talk, const char *how_it_ended);
void cts_try_talk_release(struct cts_try_talk *talk);

#endif
