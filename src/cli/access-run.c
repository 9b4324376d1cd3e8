#include "cli/access-run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/open-recording.h"
#include "common/array.h"
#include "common/name-filter.h"
#include "common/progress.h"

/* ---- which launches ---- */

static enum cts_status want_launch(const struct cts_catalogue *catalogue, const char *text,
                                   bool *wanted, struct cts_error *error)
{
    char *end;
    errno = 0;
    const unsigned long long id = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return cts_fail(error, CTS_USAGE, "--launch takes the id of a launch, not '%s'", text);
    const struct cts_launch *const launch =
        id < CTS_NONE ? cts_catalogue_launch(catalogue, (uint32_t)id) : NULL;
    if (!launch)
        return cts_fail(error, CTS_USAGE,
                        "the run has no launch %s (ctascope dump --table launches lists them)",
                        text);
    wanted[launch - catalogue->launches] = true;
    return CTS_OK;
}

/* --kernel-name, or its former spelling: --kernel EXPRESSION is --kernel-name regex:EXPRESSION. */
static enum cts_status make_filter(const struct cts_arguments *arguments,
                                   struct cts_name_filter *filter, bool *is_given,
                                   struct cts_error *error)
{
    static const char prefix[] = "regex:";
    const char *const name = cts_argument(arguments, "kernel-name");
    const char *const former = name ? NULL : cts_argument(arguments, "kernel");
    const bool complete = !former || !strncmp(former, prefix, sizeof prefix - 1);
    char *text = NULL;
    *is_given = name || former;
    *filter = (struct cts_name_filter){0};
    if (!*is_given) return CTS_OK;
    if (asprintf(&text, "%s%s", complete ? "" : prefix, name ? name : former) < 0)
        return cts_fail(error, CTS_MEMORY, "out of memory");
    struct cts_error reason;
    /* The filter borrows a name; an expression it has compiled. */
    const enum cts_status status = cts_name_filter_make(filter, name ? name : text, &reason);
    if (status) cts_fail(error, CTS_USAGE, "--kernel-name %s: %s", text, reason.text);
    filter->name = name ? name : former; /* not what is freed */
    free(text);
    return status;
}

static enum cts_status want_kernels(const struct cts_catalogue *catalogue,
                                    const struct cts_name_filter *filter, bool *wanted,
                                    struct cts_error *error)
{
    bool any = false;
    for (size_t i = 0; i < catalogue->launch_count; i++) {
        const uint32_t id = catalogue->launches[i].kernel;
        const struct cts_kernel *const kernel =
            id < catalogue->kernel_count ? &catalogue->kernels[id] : NULL;
        if (!kernel || !kernel->name) continue;
        if (!cts_name_filter_takes_kernel(filter, kernel->name,
                                          kernel->mangled ? kernel->mangled : ""))
            continue;
        wanted[i] = any = true;
    }
    return any ? CTS_OK
               : cts_fail(error, CTS_USAGE, "no kernel that was launched matches --kernel-name %s",
                          filter->name);
}

/* *wanted stays NULL where nothing is chosen. With both options a launch must match both. */
static enum cts_status choose_launches(const struct cts_arguments *arguments,
                                       const struct cts_catalogue *catalogue, bool **wanted,
                                       struct cts_error *error)
{
    struct cts_name_filter filter;
    bool by_kernel;
    const size_t count = catalogue->launch_count;
    bool *const launches = cts_array_zeroed(count, sizeof **wanted, error);
    bool *const kernels = cts_array_zeroed(count, sizeof **wanted, error);
    enum cts_status status = launches && kernels ? CTS_OK : CTS_MEMORY;
    if (!status) status = make_filter(arguments, &filter, &by_kernel, error);
    const bool has_filter = !status;
    bool by_launch = false;
    int at = 0;
    for (const char *text; !status && (text = cts_argument_next(arguments, "launch", &at));) {
        status = want_launch(catalogue, text, launches, error);
        by_launch = true;
    }
    if (!status && by_kernel) status = want_kernels(catalogue, &filter, kernels, error);
    if (has_filter) cts_name_filter_release(&filter);
    if (!status && (by_launch || by_kernel)) {
        for (size_t i = 0; i < count; i++)
            launches[i] = (launches[i] || !by_launch) && (kernels[i] || !by_kernel);
        *wanted = launches;
    } else {
        free(launches);
    }
    free(kernels);
    return status;
}

/* ---- the run ---- */

static enum cts_status analyse(const struct cts_access_options *options, const bool *wanted,
                               struct cts_access_run *run, struct cts_error *error)
{
    enum cts_status status = cts_recording_need_accesses(&run->recording, error);
    if (status) return status;
    const struct cts_access_source source = cts_access_source_of(run->recording.reader);
    struct cts_access_options all = *options;
    struct cts_progress progress;
    cts_progress_begin(&progress, stderr, "analysing", cts_access_source_total(&source));
    all.progress = &progress;
    all.wanted = wanted;
    all.history = true;
    status = cts_access_analyze(&run->recording.catalogue, &source, &all, &run->result, error);
    cts_progress_end(&progress);
    return status;
}

enum cts_status cts_access_run_open(const struct cts_arguments *arguments, const char *path,
                                    const struct cts_access_options *options,
                                    struct cts_access_run *run, struct cts_error *error)
{
    bool *wanted = NULL;
    *run = (struct cts_access_run){.path = path};
    enum cts_status status = cts_recording_open(path, &run->recording, error);
    if (status) return status;
    status = choose_launches(arguments, &run->recording.catalogue, &wanted, error);
    if (!status) {
        do {
            status = analyse(options, wanted, run, error);
        } while (cts_cli_again(status, &run->recording));
    }
    free(wanted);
    if (status)
        cts_recording_close(&run->recording);
    else
        cts_cli_tell_gaps(arguments->verb, path, &run->recording.catalogue.gaps);
    return status;
}

void cts_access_run_close(struct cts_access_run *run)
{
    cts_access_release(&run->result);
    cts_recording_close(&run->recording);
}
