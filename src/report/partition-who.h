/* Who touches an address, as a sheet. */
#ifndef CTS_REPORT_PARTITION_WHO_H
#define CTS_REPORT_PARTITION_WHO_H

#include "report/sheet.h"
#include "trace/catalogue.h"
#include "trace/summaries.h"

struct cts_who_report {
    const struct cts_catalogue *catalogue;
    const struct cts_toucher *touchers;
    size_t count;
};

struct cts_sheet cts_who_sheet(const struct cts_who_report *report);

#endif
