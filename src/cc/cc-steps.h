/* What the compiles for the CPU device (cc-compile.c) and for GPUs (cc-cuda.c) share. */
#ifndef CTS_CC_STEPS_H
#define CTS_CC_STEPS_H

#include "cc/cc.h"

/* ---- commands (cc-command.c) ---- */

/* "<directory>/<name>" */
const char *cc_part(struct cc_session *session, const char *directory, const char *name);
/* One or two words; `second` may be NULL. */
void cc_add(struct cc_process *process, const char *first, const char *second);
/* The version of CUDA whose API the CPU device shows, where the command line asks for one. */
void cc_add_cuda_version(struct cc_session *session, struct cc_process *process);
void cc_add_plugin(struct cc_session *session, struct cc_process *process);
void cc_add_colours(struct cc_process *process);
void cc_add_host_options(struct cc_session *session, struct cc_process *process);
const char *cc_device_optimisation(const struct cc_request *request);
/* clang in CUDA mode with our headers in place of a toolkit's; side: --cuda-host-only, ... */
void cc_open_own(struct cc_session *session, struct cc_process *process, const char *side,
                 const char *architecture);
void cc_close_cuda(struct cc_process *process, const struct cc_input *input, const char *output);

/* What makes clang as tolerant as nvcc and its host compiler are; needs session->overlay. */
void cc_add_tolerances(struct cc_session *session, struct cc_process *process);
void cc_add_device_dialect(struct cc_process *process);

/* ---- the headers that every source includes first (cc-precompiled.c) ---- */

#define CC_CPU_ARCHITECTURE "sm_90" /* what device code on the CPU is compiled for */

/* Sets session->precompiled_device and _host if they are precompiled, and this request's options
 * mean the same to them; whether it did. */
bool cc_find_precompiled(struct cc_session *session);
/* Returns an exit status. */
int cc_precompile_headers(struct cc_session *session);

/* ---- toolkits (cc-toolkit.c) ---- */

/* The directory of an installed toolkit, or NULL. */
const char *cc_look_for_toolkit(struct cc_pool *pool);

/* ---- sources (cc-tolerate.c) ---- */

/* The file for -ivfsoverlay that puts mended copies in the places of a source and of its headers;
 * NULL if there is nothing to mend. It lives as long as the session. */
const char *cc_tolerate(struct cc_session *session, const struct cc_input *input);

/* ---- messages (cc-explain.c) ---- */

/* Whether these messages of a compiler or linker say that we lack something; then prints what, and
 * what to do. */
bool cc_explain(const char *messages);
/* The text of a file of messages, to be freed; empty if there is none. */
char *cc_read_messages(const char *path);

/* ---- for GPUs (cc-cuda.c) ---- */

int cc_compile_for_gpu(struct cc_session *session, const struct cc_input *input,
                       struct cc_list *objects, const char *object_name);
/* clang in CUDA mode, with the toolkit's headers or ours. */
void cc_open_for_gpu(struct cc_session *session, struct cc_process *process, const char *side);
/* For C and C++ sources. */
void cc_add_runtime_headers(struct cc_session *session, struct cc_process *process);

#endif
