/* The merge of a log for AVX-512; the build compiles this file with it, where there is such a
 * thing. log.c chooses. */
#ifdef __AVX512BW__
#define CTS_LOG_MERGE cts_log_merge_avx512
#include "record/cpu/engine/log-merge.h"
#else
typedef int cts_log_no_avx512;
#endif
