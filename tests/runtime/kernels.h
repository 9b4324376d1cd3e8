/* Kernels for the tests, registered as clang's code and the plugin would register them. The stubs
 * are what cudaLaunchKernel takes. */
#ifndef CTS_TEST_KERNELS_H
#define CTS_TEST_KERNELS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "record/cpu/include/ctascope_driver_api.h"
#include "record/cpu/include/ctascope_runtime_api.h"

/* data[i] = value + i for i < n; 1-D. Two memory instructions are recorded: none loaded, one
 * stored. Instrumented. */
void stub_fill(void);
/* data[i] += value for i < n. One load and one store. Instrumented. */
void stub_add(void);
/* Waits until *flag is not 0 (the host sets it), then writes 1 to *done. One thread. */
void stub_wait(void);
/* Stores to address `where`. One thread. */
void stub_poke(void);
/* out[cta] = sum of 0 .. n-1 through n words of dynamic shared memory. */
void stub_shared(void);
/* Registered by the host alone: there is no device code. */
void stub_missing(void);
/* At most 64 threads per CTA. */
void stub_small(void);
/* Takes a struct of 40 bytes by value and a char: out[0] = sum of its five words + the char. */
void stub_struct(void);
/* out[i] = texture's 32-bit word i, read through the handle. */
void stub_fetch(void);

struct five_words {
    int64_t word[5];
};

/* Shadows of device variables. */
extern int shadow_table[16];
extern int shadow_constant[4];
extern int shadow_texture[64]; /* struct textureReference */
extern int shadow_managed;

static inline dim3 extent(unsigned x)
{
    return (dim3){x, 1, 1};
}

cudaError_t launch_fill(int *data, int value, int n, cudaStream_t stream);
cudaError_t launch_add(int *data, int value, int n, cudaStream_t stream);
cudaError_t launch_wait(volatile int *flag, int *done, cudaStream_t stream);
cudaError_t launch_poke(void *where, cudaStream_t stream);

#define assert_success(call) assert_int_equal((call), cudaSuccess)

/* Runs `act` with stderr caught; the text is NUL-terminated. No assertions in `act`: what they say
 * would be caught too. */
size_t catch_stderr(void (*act)(void *data), void *data, char *text, size_t capacity);

/* Pinned int that kernels can wait for. */
volatile int *new_flag(void);

#endif
