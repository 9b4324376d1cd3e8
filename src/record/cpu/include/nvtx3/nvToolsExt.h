/* NVTX: ranges and marks for NVIDIA's profilers, which nobody reads here. */
#ifndef CTASCOPE_NVTX_H
#define CTASCOPE_NVTX_H

#include <stddef.h>
#include <stdint.h>

#define NVTX_VERSION                  3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration *nvtxStringHandle_t;
enum { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 };
enum { NVTX_MESSAGE_UNKNOWN = 0, NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_UNICODE = 2 };
enum { NVTX_PAYLOAD_UNKNOWN = 0, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1 };
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

#define CTS_NVTX_ static inline
CTS_NVTX_ void nvtxInitialize(const void *reserved)
{
    (void)reserved;
}
CTS_NVTX_ void nvtxMarkA(const char *message)
{
    (void)message;
}
CTS_NVTX_ void nvtxMarkEx(const nvtxEventAttributes_t *attributes)
{
    (void)attributes;
}
CTS_NVTX_ int nvtxRangePushA(const char *message)
{
    return (void)message, 0;
}
CTS_NVTX_ int nvtxRangePushEx(const nvtxEventAttributes_t *attributes)
{
    return (void)attributes, 0;
}
CTS_NVTX_ int nvtxRangePop(void)
{
    return 0;
}
CTS_NVTX_ nvtxRangeId_t nvtxRangeStartA(const char *message)
{
    return (void)message, 0;
}
CTS_NVTX_ nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *attributes)
{
    return (void)attributes, 0;
}
CTS_NVTX_ void nvtxRangeEnd(nvtxRangeId_t id)
{
    (void)id;
}
CTS_NVTX_ void nvtxNameOsThreadA(uint32_t thread, const char *name)
{
    (void)thread, (void)name;
}
CTS_NVTX_ void nvtxNameCategoryA(uint32_t category, const char *name)
{
    (void)category, (void)name;
}
CTS_NVTX_ nvtxDomainHandle_t nvtxDomainCreateA(const char *name)
{
    return (void)name, (nvtxDomainHandle_t)0;
}
CTS_NVTX_ void nvtxDomainDestroy(nvtxDomainHandle_t domain)
{
    (void)domain;
}
CTS_NVTX_ int nvtxDomainRangePushEx(nvtxDomainHandle_t domain,
                                    const nvtxEventAttributes_t *attributes)
{
    return (void)domain, (void)attributes, 0;
}
CTS_NVTX_ int nvtxDomainRangePop(nvtxDomainHandle_t domain)
{
    return (void)domain, 0;
}
CTS_NVTX_ void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    (void)domain, (void)attributes;
}
#undef CTS_NVTX_

#define nvtxMark         nvtxMarkA
#define nvtxRangePush    nvtxRangePushA
#define nvtxRangeStart   nvtxRangeStartA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxDomainCreate nvtxDomainCreateA

#endif
