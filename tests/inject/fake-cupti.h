/* What a program asks of the CUPTI that is none: calls and records, as the real one would give
 * them. */
#ifndef CTS_TESTS_INJECT_FAKE_CUPTI_H
#define CTS_TESTS_INJECT_FAKE_CUPTI_H

#include <cupti.h>

/* A call's begin or end, if its callback is enabled. */
void fake_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, CUpti_ApiCallbackSite site,
               const void *parameters, int result, CUcontext context, uint32_t correlation);
void fake_resource(CUpti_CallbackId id, CUcontext context, CUstream stream);
/* Puts a record into CUPTI's buffer; its kind comes first. */
void fake_record(const void *record);
/* The number that a stream has from now on. */
void fake_name_stream(CUstream stream, uint32_t id);
uint64_t fake_time(void);
unsigned fake_forced_flushes(void);

#endif
