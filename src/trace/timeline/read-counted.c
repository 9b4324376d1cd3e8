/* Records that are only counted: metrics, parameters, calling contexts, programs, files, and what
 * newer libraries may bring. One line each: its name in the library and what it has. */
#include "trace/timeline/read-events.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" /* nothing of them is looked at */

#define RECORDS(X)                                                                                 \
    X(Unknown)                                                                                     \
    X(Metric, OTF2_MetricRef a, uint8_t b, const OTF2_Type *c, const OTF2_MetricValue *d)          \
    X(ParameterString, OTF2_ParameterRef a, OTF2_StringRef b)                                      \
    X(ParameterInt, OTF2_ParameterRef a, int64_t b)                                                \
    X(ParameterUnsignedInt, OTF2_ParameterRef a, uint64_t b)                                       \
    X(RmaTryLock, OTF2_RmaWinRef a, uint32_t b, uint64_t c, OTF2_LockType d)                       \
    X(RmaWaitChange, OTF2_RmaWinRef a)                                                             \
    X(RmaOpTest, OTF2_RmaWinRef a, uint64_t b)                                                     \
    X(CallingContextEnter, OTF2_CallingContextRef a, uint32_t b)                                   \
    X(CallingContextLeave, OTF2_CallingContextRef a)                                               \
    X(CallingContextSample, OTF2_CallingContextRef a, uint32_t b, OTF2_InterruptGeneratorRef c)    \
    X(IoCreateHandle, OTF2_IoHandleRef a, OTF2_IoAccessMode b, OTF2_IoCreationFlag c,              \
      OTF2_IoStatusFlag d)                                                                         \
    X(IoDestroyHandle, OTF2_IoHandleRef a)                                                         \
    X(IoDuplicateHandle, OTF2_IoHandleRef a, OTF2_IoHandleRef b, OTF2_IoStatusFlag c)              \
    X(IoSeek, OTF2_IoHandleRef a, int64_t b, OTF2_IoSeekOption c, uint64_t d)                      \
    X(IoChangeStatusFlags, OTF2_IoHandleRef a, OTF2_IoStatusFlag b)                                \
    X(IoDeleteFile, OTF2_IoParadigmRef a, OTF2_IoFileRef b)                                        \
    X(IoOperationBegin, OTF2_IoHandleRef a, OTF2_IoOperationMode b, OTF2_IoOperationFlag c,        \
      uint64_t d, uint64_t e)                                                                      \
    X(IoOperationTest, OTF2_IoHandleRef a, uint64_t b)                                             \
    X(IoOperationIssued, OTF2_IoHandleRef a, uint64_t b)                                           \
    X(IoOperationComplete, OTF2_IoHandleRef a, uint64_t b, uint64_t c)                             \
    X(IoOperationCancelled, OTF2_IoHandleRef a, uint64_t b)                                        \
    X(IoAcquireLock, OTF2_IoHandleRef a, OTF2_LockType b)                                          \
    X(IoReleaseLock, OTF2_IoHandleRef a, OTF2_LockType b)                                          \
    X(IoTryLock, OTF2_IoHandleRef a, OTF2_LockType b)                                              \
    X(ProgramBegin, OTF2_StringRef a, uint32_t b, const OTF2_StringRef *c)                         \
    X(ProgramEnd, int64_t a)                                                                       \
    X(CommCreate, OTF2_CommRef a)                                                                  \
    X(CommDestroy, OTF2_CommRef a)

#define X(record, ...)                                                                             \
    static OTF2_CallbackCode on_##record(OTF2_LocationRef ref, OTF2_TimeStamp time,                \
                                         uint64_t position, void *user, OTF2_AttributeList *list,  \
                                         ##__VA_ARGS__)                                            \
    {                                                                                              \
        return give(user, CTS_EVENT_OTHER, time, list);                                            \
    }
RECORDS(X)
#undef X

void cts_set_counted_callbacks(OTF2_EvtReaderCallbacks *callbacks)
{
#define X(record, ...) OTF2_EvtReaderCallbacks_Set##record##Callback(callbacks, on_##record);
    RECORDS(X)
#undef X
}
