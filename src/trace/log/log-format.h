/* The logs that the timeline recorder leaves in rank-N/timeline/: `definitions.log` of the process,
 * and K.log for each location (a thread or a stream). They live from the program's run to the
 * making of the archive.
 *
 * A log is a header and records of 8-byte words, all little-endian, in segments: the first of
 * 64 KiB (header included), the second of 256 KiB, all others of 1 MiB. No record crosses the end
 * of a segment. Room is allocated before it is used and reads as 0; a record's first word is never
 * 0 and is stored last. So whatever killed the process, a log is good up to its first word of 0,
 * after which it may go on in the next segment (the rest of this one was too small).
 *
 *   OFFSET SIZE  MEANING (header, 128 bytes)
 *        0    8  "CTSTLOG" and the version, '1'
 *        8    4  kind: enum cts_log_kind
 *       12    4  K
 *       16    4  process id
 *       20    4  thread id
 *       24    4  stream: device
 *       28    4  stream: ordinal in its name
 *       32    4  stream: flags, 1 null stream, 2 non-blocking
 *       36    4  0
 *       40    8  events that were lost, written at the end
 *       48   80  0
 *
 *   word 0 of a record: bits 0-7 type, 8-23 number of words, 24 has attributes, 32-63 `high`
 *
 * Attributes are the last words: a word of bits per enum cts_attribute, a word for each that is
 * present. STREAM_REF is the stream's K. Texts are a word with their length and their bytes,
 * padded with 0; an absent text has the length UINT32_MAX. */
#ifndef CTS_TRACE_LOG_H
#define CTS_TRACE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/timeline/timeline.h"

#define CTS_LOG_MAGIC "CTSTLOG1"

enum cts_log_kind { CTS_LOG_DEFINITIONS = 1, CTS_LOG_THREAD, CTS_LOG_STREAM };
enum { CTS_LOG_NULL_STREAM = 1, CTS_LOG_NON_BLOCKING = 2 };

enum {
    CTS_LOG_HEADER_BYTES = 128,
    CTS_LOG_FIRST_BYTES = 64 << 10,
    CTS_LOG_SECOND_BYTES = 256 << 10,
    CTS_LOG_SEGMENT_BYTES = 1 << 20,
    CTS_LOG_RECORD_WORDS_MAX = 8000, /* fits the first segment */
    CTS_LOG_TEXT_BYTES_MAX = 8192,
    CTS_LOG_EVENT_WORDS_MAX = 8 + 1 + CTS_ATTRIBUTE_COUNT,
};

/* What a copy goes from and to: `high` of CTS_RECORD_COPY. */
enum cts_recorder_copy_kind {
    CTS_COPY_HOST_TO_DEVICE,
    CTS_COPY_DEVICE_TO_HOST,
    CTS_COPY_DEVICE_TO_DEVICE,
    CTS_COPY_PEER,
    CTS_COPY_HOST_TO_HOST,
};

/* Types of records. An event's is its kind and 1. */
enum cts_log_type {
    CTS_RECORD_EVENT = 1,      /* + kind; word 1: time; then by kind, see cts_log_pack_event() */
    CTS_RECORD_ACTIVITY = 128, /* high: region; start, end, present | registers << 32, correlation,
                                  then with grid: x|y, z|block x, block y|z, static|dynamic shared;
                                  then of a collective: communicator, sequence, members, bytes,
                                  which follow words of 0 where no grid is known */
    CTS_RECORD_COPY,           /* high: kind; start, end, bytes, correlation, source's K or NONE */
    CTS_RECORD_REGION,         /* high: number; paradigm|role, begin|end line, 3 texts */
    CTS_RECORD_THREAD_NAME,    /* high: K; text */
    CTS_RECORD_DEVICE,         /* high: device; 2 texts: name, "cpu" or "gpu" */
    CTS_RECORD_COMMUNICATOR,   /* high: number; creator|number, parent's, member count|1: only a
                                  group, text; members are in records of their own */
    CTS_RECORD_WINDOW,         /* high: number; communicator, text */
    CTS_RECORD_MPI,            /* high: rank; count */
    CTS_RECORD_CLOCK,          /* local ns, offset ns */
    CTS_RECORD_LOST,           /* count, text */
    CTS_RECORD_MESSAGE,        /* high: 0 note, 1 warning, 2 error; text */
    CTS_RECORD_PROCESS,        /* high: pid; start ns, wall clock ns, 4 texts: host, boot, program,
                                  arguments */
    CTS_RECORD_FINISH,         /* ns */
    CTS_RECORD_MEMBERS,        /* more members: high: number; first|count, members */
    CTS_RECORD_TYPE_COUNT,
};
enum { CTS_RECORD_HAS_ATTRIBUTES = 1 << 24 };
/* Words of an activity: without a grid, with one, and of a collective. */
enum { CTS_ACTIVITY_PLAIN = 5, CTS_ACTIVITY_SHAPED = 9, CTS_ACTIVITY_OF_COLLECTIVE = 13 };

static inline uint64_t cts_log_word(unsigned type, uint32_t words, bool attributes, uint32_t high)
{
    return type | (uint64_t)words << 8 | (attributes ? CTS_RECORD_HAS_ATTRIBUTES : 0) |
           (uint64_t)high << 32;
}

static inline uint64_t cts_log_pair(uint32_t low, uint32_t high)
{
    return low | (uint64_t)high << 32;
}

/* Where the segment that begins at `offset` ends. */
static inline uint64_t cts_log_segment_end(uint64_t offset)
{
    if (offset < CTS_LOG_FIRST_BYTES) return CTS_LOG_FIRST_BYTES;
    const uint64_t second_end = CTS_LOG_FIRST_BYTES + CTS_LOG_SECOND_BYTES;
    if (offset < second_end) return second_end;
    return offset + CTS_LOG_SEGMENT_BYTES - (offset - second_end) % CTS_LOG_SEGMENT_BYTES;
}

/* An event as words (at least CTS_LOG_EVENT_WORDS_MAX of room); returns how many, word 0 included.
 * Regions, communicators and windows keep the numbers that they have. */
uint32_t cts_log_pack_event(uint64_t *words, const struct cts_timeline_event *event,
                            const struct cts_event_attributes *attributes);
/* The other way; false: the words are no event. attributes->present is 0 where there are none. */
bool cts_log_unpack_event(const uint64_t *words, uint32_t count, struct cts_timeline_event *event,
                          struct cts_event_attributes *attributes);

#endif
