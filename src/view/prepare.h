/* Work ahead of the page's questions, on a thread of its own: the launch that the page opens first
 * is read while the browser starts, and of a launch that has been opened the bytes that several
 * warps touch are looked for, which takes longest of all; private to view/. */
#ifndef CTS_VIEW_PREPARE_H
#define CTS_VIEW_PREPARE_H

#include "view/run.h"

struct cts_view_preparation;

/* The run must outlive it. */
CTS_MUST_CHECK enum cts_status cts_view_prepare(struct cts_view_run *run,
                                                struct cts_view_preparation **preparation,
                                                struct cts_error *error);
/* The page looks at this launch now. */
void cts_view_prepare_launch(struct cts_view_preparation *preparation, uint32_t launch);
/* Others are being answered, and come first. */
void cts_view_prepare_wait(struct cts_view_preparation *preparation);
void cts_view_prepare_go_on(struct cts_view_preparation *preparation);
/* Makes it end soon, without waiting for it: a question may be waiting for what it reads. */
void cts_view_prepare_cancel(struct cts_view_preparation *preparation);
void cts_view_prepare_stop(struct cts_view_preparation *preparation);

#endif
