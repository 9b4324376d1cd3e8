/* NVTX: ranges and marks, which are regions in a timeline that ctascope records. */
#ifndef CTASCOPE_NVTX_H
#define CTASCOPE_NVTX_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION                  3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration *nvtxStringHandle_t;
typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;
typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_v2 {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType;
    int32_t reserved0;
    union payload_t {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_v2;
typedef nvtxEventAttributes_v2 nvtxEventAttributes_t;

/* What a function does is asked of ctascope's recorder, which has them by NVTX's module and number;
 * without one they do nothing. */
static inline void *ctascope_nvtx_function_(unsigned module, unsigned id)
{
    static void *found;
    static int asked;
    if (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&found, dlsym((void *)0, "ctascope_nvtx_function"), __ATOMIC_RELAXED);
        __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
    }
    void *const get = __atomic_load_n(&found, __ATOMIC_RELAXED);
    return get ? ((void *(*)(unsigned, unsigned))get)(module, id) : (void *)0;
}

#define CTS_NVTX_(returns, name, module, id, parameters, ...)                                      \
    static inline returns name parameters                                                          \
    {                                                                                              \
        void *const function = ctascope_nvtx_function_(module, id);                                \
        return function ? ((returns(*) parameters)function)(__VA_ARGS__) : (returns)0;             \
    }
CTS_NVTX_(void, nvtxInitialize, 5, 15, (const void *reserved), reserved)
CTS_NVTX_(void, nvtxMarkA, 1, 2, (const char *message), message)
CTS_NVTX_(void, nvtxMarkW, 1, 3, (const wchar_t *message), message)
CTS_NVTX_(void, nvtxMarkEx, 1, 1, (const nvtxEventAttributes_t *attributes), attributes)
CTS_NVTX_(int, nvtxRangePushA, 1, 9, (const char *message), message)
CTS_NVTX_(int, nvtxRangePushW, 1, 10, (const wchar_t *message), message)
CTS_NVTX_(int, nvtxRangePushEx, 1, 8, (const nvtxEventAttributes_t *attributes), attributes)
CTS_NVTX_(int, nvtxRangePop, 1, 11, (void))
CTS_NVTX_(nvtxRangeId_t, nvtxRangeStartA, 1, 5, (const char *message), message)
CTS_NVTX_(nvtxRangeId_t, nvtxRangeStartW, 1, 6, (const wchar_t *message), message)
CTS_NVTX_(nvtxRangeId_t, nvtxRangeStartEx, 1, 4, (const nvtxEventAttributes_t *attributes),
          attributes)
CTS_NVTX_(void, nvtxRangeEnd, 1, 7, (nvtxRangeId_t id), id)
CTS_NVTX_(void, nvtxNameOsThreadA, 1, 14, (uint32_t thread, const char *name), thread, name)
CTS_NVTX_(void, nvtxNameOsThreadW, 1, 15, (uint32_t thread, const wchar_t *name), thread, name)
CTS_NVTX_(void, nvtxNameCategoryA, 1, 12, (uint32_t category, const char *name), category, name)
CTS_NVTX_(void, nvtxNameCategoryW, 1, 13, (uint32_t category, const wchar_t *name), category, name)
CTS_NVTX_(nvtxDomainHandle_t, nvtxDomainCreateA, 5, 12, (const char *name), name)
CTS_NVTX_(nvtxDomainHandle_t, nvtxDomainCreateW, 5, 13, (const wchar_t *name), name)
CTS_NVTX_(void, nvtxDomainDestroy, 5, 14, (nvtxDomainHandle_t domain), domain)
CTS_NVTX_(int, nvtxDomainRangePushEx, 5, 4,
          (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes), domain, attributes)
CTS_NVTX_(int, nvtxDomainRangePop, 5, 5, (nvtxDomainHandle_t domain), domain)
CTS_NVTX_(nvtxRangeId_t, nvtxDomainRangeStartEx, 5, 2,
          (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes), domain, attributes)
CTS_NVTX_(void, nvtxDomainRangeEnd, 5, 3, (nvtxDomainHandle_t domain, nvtxRangeId_t id), domain, id)
CTS_NVTX_(void, nvtxDomainMarkEx, 5, 1,
          (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes), domain, attributes)
CTS_NVTX_(nvtxStringHandle_t, nvtxDomainRegisterStringA, 5, 10,
          (nvtxDomainHandle_t domain, const char *string), domain, string)
CTS_NVTX_(nvtxStringHandle_t, nvtxDomainRegisterStringW, 5, 11,
          (nvtxDomainHandle_t domain, const wchar_t *string), domain, string)
CTS_NVTX_(void, nvtxDomainNameCategoryA, 5, 8,
          (nvtxDomainHandle_t domain, uint32_t category, const char *name), domain, category, name)
CTS_NVTX_(void, nvtxDomainNameCategoryW, 5, 9,
          (nvtxDomainHandle_t domain, uint32_t category, const wchar_t *name), domain, category,
          name)
#undef CTS_NVTX_

#define nvtxMark         nvtxMarkA
#define nvtxRangePush    nvtxRangePushA
#define nvtxRangeStart   nvtxRangeStartA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxDomainCreate nvtxDomainCreateA

#endif
