/* A libsanitizer-public.so that refuses as FAKE_SUBSCRIBE and FAKE_ENABLE say (a SanitizerResult
 * each), and is there for programs that launch nothing. FAKE_WITHOUT: an old one. */
#include <stdlib.h>

static int answer(const char *name)
{
    const char *const value = getenv(name);
    return value ? (int)strtol(value, NULL, 10) : 0;
}

#define FUNCTION(name, result)                                                                     \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return result;                                                                             \
    }
FUNCTION(sanitizerSubscribe, answer("FAKE_SUBSCRIBE"))
FUNCTION(sanitizerEnableDomain, answer("FAKE_ENABLE"))
FUNCTION(sanitizerEnableCallback, 0)
FUNCTION(sanitizerAddPatches, 0)
FUNCTION(sanitizerPatchInstructions, 0)
FUNCTION(sanitizerPatchModule, 0)
FUNCTION(sanitizerUnpatchModule, 0)
FUNCTION(sanitizerSetLaunchCallbackData, 0)
FUNCTION(sanitizerGetFunctionPcAndSize, 0)
FUNCTION(sanitizerAlloc, 0)
FUNCTION(sanitizerAllocHost, 0)
FUNCTION(sanitizerMemcpyHostToDeviceAsync, 0)
#ifndef FAKE_WITHOUT
FUNCTION(sanitizerStreamSynchronize, 0)
#endif

int sanitizerGetResultString(int result, const char **text);
int sanitizerGetResultString(int result, const char **text)
{
    *text = result == 14
                ? "The attempted operation is not supported on the current system or device"
                : "Sanitizer is unable to initialize its connection to the CUDA driver";
    return 0;
}
