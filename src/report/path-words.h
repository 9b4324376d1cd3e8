/* What the path analysis means, in sentences: made once, for the terminal, JSON and the page. */
#ifndef CTS_REPORT_PATH_WORDS_H
#define CTS_REPORT_PATH_WORDS_H

#include "report/path-report.h"

enum { CTS_PATH_SENTENCES_MAX = 12, CTS_PATH_SENTENCE_SIZE = 640 };

struct cts_path_words {
    char text[CTS_PATH_SENTENCES_MAX][CTS_PATH_SENTENCE_SIZE];
    unsigned count;
};

void cts_path_words_make(const struct cts_path_report *report, struct cts_path_words *words);

/* One paragraph a sentence list, in lines of at most 80 columns. */
void cts_path_words_print(const struct cts_path_words *words, FILE *file);

#endif
