/* Messages between `ctascope try` and the program that it runs, over a stream socket.
 *
 *   OFFSET SIZE  MEANING (all little-endian)
 *        0    4  "CTST"
 *        4    4  version, 2
 *        8    4  enum cts_trial_message
 *       12    4  0
 *       16    8  bytes that follow
 *
 * What follows is the members of the struct of trial.h in their order: numbers of 4 and 8 bytes,
 * texts as a length of 4 bytes and the bytes with a NUL behind them, arrays as a count of 8 bytes
 * and their items. */
#ifndef CTS_TRACE_TRIAL_MESSAGE_H
#define CTS_TRACE_TRIAL_MESSAGE_H

#include "common/buffer.h"
#include "trace/trial/trial.h"

enum cts_trial_message {
    CTS_TRIAL_STRETCH = 1, /* program: the stretch is closed; struct cts_stretch */
    CTS_TRIAL_ABSENT,      /* program: it ends without a stretch; struct cts_trial_absence */
    CTS_TRIAL_PLAN,        /* try: replay this; struct cts_trial_plan */
    CTS_TRIAL_RESULT,      /* program: struct cts_trial_result */
    CTS_TRIAL_FINISH,      /* try: go on with the program; nothing follows */
};

/* A process that used the device and had no stretch. */
struct cts_trial_absence {
    uint32_t launch_count; /* launches of the process */
    const char *reason;
    const char **kernels; /* by launch; owned, the texts lie in `storage` */
    size_t kernel_count;  /* 0 unless kernels were asked for */
    void *storage;        /* owned */
};
void cts_trial_absence_release(struct cts_trial_absence *absence);

/* A message in a buffer, which must be empty or zeroed. */
CTS_MUST_CHECK enum cts_status cts_trial_put_stretch(struct cts_buffer *buffer,
                                                     const struct cts_stretch *stretch,
                                                     struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_trial_put_absence(struct cts_buffer *buffer,
                                                     const struct cts_trial_absence *absence,
                                                     struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_trial_put_plan(struct cts_buffer *buffer,
                                                  const struct cts_trial_plan *plan,
                                                  struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_trial_put_result(struct cts_buffer *buffer,
                                                    const struct cts_trial_result *result,
                                                    struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_trial_put_finish(struct cts_buffer *buffer,
                                                    struct cts_error *error);

/* What a received message holds. The struct is filled, and owned by the caller; CTS_FORMAT where
 * the bytes are no such message. */
CTS_MUST_CHECK enum cts_status cts_trial_get_stretch(const struct cts_buffer *buffer,
                                                     struct cts_stretch *stretch,
                                                     struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_trial_get_absence(const struct cts_buffer *buffer,
                                                     struct cts_trial_absence *absence,
                                                     struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_trial_get_plan(const struct cts_buffer *buffer,
                                                  struct cts_trial_plan *plan,
                                                  struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_trial_get_result(const struct cts_buffer *buffer,
                                                    struct cts_trial_result *result,
                                                    struct cts_error *error);

/* Sends a buffer's message; receives one into an empty buffer. CTS_IO: the other side is gone (a
 * receiver is told so by *kind 0 and CTS_OK where that happens between two messages). */
CTS_MUST_CHECK enum cts_status cts_trial_send(int socket, const struct cts_buffer *buffer,
                                              struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_trial_receive(int socket, struct cts_buffer *buffer,
                                                 enum cts_trial_message *kind,
                                                 struct cts_error *error);

#endif
