/* A fault in a kernel: what is said, and what it does to the device. Two devices here. */
#include "kernels.h"

#include <signal.h>

struct poke {
    int *data;
    cudaError_t filled, poked, synchronized;
};

static void poke_nowhere(void *argument)
{
    struct poke *const poke = argument;
    poke->filled = launch_fill(poke->data, 1, 100, NULL);
    poke->poked = launch_poke((void *)0x40, NULL);
    launch_fill(poke->data, 1000, 100, NULL); /* dropped, or refused already */
    poke->synchronized = cudaDeviceSynchronize();
}

static void faults_poison_the_device(void **state)
{
    (void)state;
    signal(SIGSEGV, SIG_DFL); /* cmocka's, which would shadow the engine's: it starts below */
    char text[1000];
    struct poke poke = {0};
    void *memory;
    assert_success(cudaMallocManaged((void **)&poke.data, 400, cudaMemAttachGlobal));
    catch_stderr(poke_nowhere, &poke, text, sizeof text);
    assert_success(poke.filled);
    assert_success(poke.poked);
    assert_int_equal(poke.synchronized, cudaErrorIllegalAddress);
    assert_int_equal(poke.data[3], 4); /* what came before it was done, what came after not */
    static const char start[] = "ctascope: kernel 'poke(int *)': CTA (0,0,0), thread (0,0,0): ";
    assert_memory_equal(text, start, sizeof start - 1);
    assert_non_null(strstr(text, "0x40"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); /* one line */
    assert_int_equal(cudaMalloc(&memory, 4), cudaErrorIllegalAddress);
    assert_int_equal(cudaMemcpy(memory, memory, 4, cudaMemcpyDefault), cudaErrorIllegalAddress);
    assert_int_equal(launch_fill(poke.data, 0, 1, NULL), cudaErrorIllegalAddress);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress); /* sticks */
    assert_success(cudaSetDevice(1));                              /* the others are sound */
    assert_success(cudaMalloc(&memory, 4));
    assert_success(cudaFree(memory));
    assert_success(cudaSetDevice(0));
    assert_success(cudaDeviceReset());
    assert_success(cudaGetLastError());
    assert_success(launch_fill(poke.data, 10, 100, NULL));
    assert_success(cudaDeviceSynchronize());
    assert_int_equal(poke.data[3], 13);
}

int main(void)
{
    setenv("CTASCOPE_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_poison_the_device),
    };
    return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
