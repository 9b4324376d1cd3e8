/* What the path analysis means, in sentences: made once, for the terminal, JSON and the page. */
#ifndef CTS_REPORT_PATH_WORDS_H
#define CTS_REPORT_PATH_WORDS_H

#include "common/json.h"
#include "report/path-report.h"

enum { CTS_PATH_SENTENCES_MAX = 12, CTS_PATH_SENTENCE_SIZE = 640 };

struct cts_path_words {
    char text[CTS_PATH_SENTENCES_MAX][CTS_PATH_SENTENCE_SIZE];
    unsigned count;
};

void cts_path_words_make(const struct cts_path_report *report, struct cts_path_words *words);

/* One paragraph a sentence list, in lines of at most 80 columns. */
void cts_path_words_print(const struct cts_path_words *words, FILE *file);

/* What was measured: "TRACE: 2 processes, 1 device stream, 40 events". */
struct cts_timeline_extent {
    const char *path;
    uint64_t process_count, stream_count, event_count;
};
void cts_timeline_extent_print(const struct cts_timeline_extent *extent, FILE *file);

/* Where the critical path is, as members of the object that is open. */
void cts_path_json_places(struct cts_json *json, const struct cts_path *result);

#endif
