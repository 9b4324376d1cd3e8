/* What a verb has begun to write and not finished: worth nothing to anybody if a signal ends the
 * process. SIGINT, SIGTERM and SIGHUP remove it first; the process still ends by the signal. Other
 * signals are left alone, and so are these while there is nothing to remove.
 *
 * SIGKILL leaves what there is. Its names end in the number of the process, so that the next one
 * that writes to the same place can tell (cts_unfinished_sweep()). */
#ifndef CTS_COMMON_UNFINISHED_H
#define CTS_COMMON_UNFINISHED_H

enum cts_unfinished_kind {
    CTS_UNFINISHED_FILE,
    CTS_UNFINISHED_FOLDER,  /* and all that is in it, a few levels deep */
    CTS_UNFINISHED_ARCHIVE, /* an OTF2 archive `traces` in a folder, which stays */
    CTS_UNFINISHED_RUN,     /* was renamed and gets its name back; a new run.db there is removed */
};

/* Call before the thing is made. Returns a number for cts_unfinished_done(), -1 if too many things
 * are unfinished or a path is too long (then nothing removes it). `home`: the old name of a run;
 * NULL otherwise. */
int cts_unfinished_add(enum cts_unfinished_kind kind, const char *path, const char *home);
/* Call when it has been made. If a signal came meanwhile, this does not return. */
void cts_unfinished_made(void);
/* It is finished, or its maker has removed it. -1: nothing to do. */
void cts_unfinished_done(int number);

/* Calls `found` for each name in the directory of `target` that is the target's, `mark` (".part-",
 * ".old-") and the number of a process that is gone. `directory` is open; `path`: the name's. */
typedef void cts_unfinished_found(int directory, const char *name, const char *path);
void cts_unfinished_sweep(const char *target, const char *mark, cts_unfinished_found *found);

#endif
