/* The rules: why something waits. One line here and one file in rules/ for each.
 *
 *     X(ENUMERATOR, file and symbol, name as printed, name in the paper, meaning)
 *
 * The paper is Schmitt, Dietrich, Juckeland 2017 (see README.md, Papers). Its patterns are in
 * section 3.3 and, for MPI, in section 3.2; "": not in the paper. The printed name is the paper's
 * without "Pattern". The order here is the order of the output. If two rules match one wait and
 * both end at the same time, the first rule counts. */
#ifndef CTS_ANALYZE_PATH_RULES_H
#define CTS_ANALYZE_PATH_RULES_H

#define CTS_PATH_PATTERN_MAP(X)                                                                    \
    X(BLAME_KERNEL, blame_kernel, "BlameKernel", "BlameKernelPattern, 3.3.1",                      \
      "a host call waits for device work")                                                         \
    X(BLAME_SYNC, blame_sync, "BlameSync", "BlameSyncPattern, 3.3.2",                              \
      "a device idles because a host call comes late")                                             \
    X(EVENT_QUERY, event_query, "EventQuery", "EventQueryPattern, 3.3.3",                          \
      "the host polls an unfinished event")                                                        \
    X(STREAM_QUERY, stream_query, "StreamQuery", "StreamQueryPattern, 3.3.3",                      \
      "the host polls a busy stream")                                                              \
    X(STREAM_WAIT, stream_wait, "StreamWait", "StreamWaitPattern, 3.3.4",                          \
      "a stream waits for an event or a graph's branch on another stream")                         \
    X(NULL_STREAM, null_stream, "NullStream", "NullStreamPattern, 3.3.4",                          \
      "a stream and the null stream take turns")                                                   \
    X(FULL_DEVICE, full_device, "full device", "",                                                 \
      "a kernel waits until another stream's kernel leaves the device")                            \
    X(FIRST_LAUNCH, first_launch, "first launch", "",                                              \
      "the first launch of a kernel waits for running kernels")                                    \
    X(NCCL_WAIT, nccl_wait, "NCCL wait", "", "a kernel of a collective waits for the last rank's") \
    X(HOST_FUNCTION, host_function, "host function", "", "a stream waits for a host function")     \
    X(LATE_SENDER, late_sender, "late sender", "MPI late sender, 3.2",                             \
      "a receive waits for its send")                                                              \
    X(LATE_RECEIVER, late_receiver, "late receiver", "", "a send waits for its receive")           \
    X(LATE_PARTNER, late_partner, "late partner", "",                                              \
      "completing a request waits for the partner")                                                \
    X(MPI_BARRIER, mpi_barrier, "wait at barrier", "imbalanced MPI_Barrier, 3.2",                  \
      "MPI_Barrier waits for the last rank")                                                       \
    X(N_TO_N, n_to_n, "wait at n-to-n", "", "a collective waits for its last rank")                \
    X(LATE_ROOT, late_root, "late root", "", "a one-to-all collective waits for its root")         \
    X(EARLY_ROOT, early_root, "early root", "",                                                    \
      "the root of an all-to-one collective waits for the other ranks")                            \
    X(INIT_FINALIZE, init_finalize, "wait at init or finalize", "",                                \
      "MPI_Init or MPI_Finalize waits for the last rank")                                          \
    X(LATE_POST, late_post, "late post", "", "MPI_Win_start or _complete waits for MPI_Win_post")  \
    X(LATE_COMPLETE, late_complete, "late complete", "",                                           \
      "MPI_Win_wait waits for MPI_Win_complete")                                                   \
    X(LOCK, lock, "wait for lock", "", "MPI_Win_lock or _unlock waits until another rank unlocks") \
    X(ONE_SIDED, one_sided, "wait at one-sided", "",                                               \
      "a fence, or creating or freeing a window, waits for other ranks")                           \
    X(OMP_BARRIER, omp_barrier, "OpenMP barrier", "", "a team waits for its last thread")          \
    X(THREAD_JOIN, thread_join, "thread join", "", "a join waits for the thread's end")            \
    X(THREAD_LOCK, thread_lock, "thread lock", "", "a thread waits until another one unlocks")     \
    X(THREAD_SIGNAL, thread_signal, "thread signal", "",                                           \
      "a thread waits for another one's signal or post")                                           \
    X(THREAD_BARRIER, thread_barrier, "thread barrier", "",                                        \
      "pthread_barrier_wait waits for the last thread")                                            \
    X(OWN_COPY, own_copy, "own copy", "",                                                          \
      "not a wait: the call of a blocking copy ends with the copy")                                \
    X(UNRECORDED, not_recorded, "wait not recorded", "",                                           \
      "not a wait: from here on a thread for which another one waits is needed")                   \
    X(FORK, thread_start, "thread start", "",                                                      \
      "not a wait: the event that a thread's first event follows")

enum cts_path_pattern {
#define X(name, symbol, text, paper, help) CTS_PATH_PATTERN_##name,
    CTS_PATH_PATTERN_MAP(X)
#undef X
        CTS_PATH_PATTERN_COUNT,
    /* from here on: orders, which nobody waits for, and which no list shows */
    CTS_PATH_WAITS_END = CTS_PATH_PATTERN_OWN_COPY
};
extern const char *const cts_path_pattern_names[CTS_PATH_PATTERN_COUNT];
extern const char *const cts_path_pattern_texts[CTS_PATH_PATTERN_COUNT];

#endif
