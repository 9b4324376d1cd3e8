/* The launches of a run that ended in an error of the device, as JSON: the same for every verb. */
#ifndef CTS_REPORT_FAULTS_H
#define CTS_REPORT_FAULTS_H

#include "common/json.h"
#include "trace/catalogue.h"

/* The member "faults": an array of objects, empty where there are none. */
void cts_json_faults(struct cts_json *json, const struct cts_catalogue *catalogue);

#endif
