/* Streams and events: order, overlap, the default stream's rules, callbacks, graphs. The wait
 * kernel holds a stream up until the host sets its flag, so that no test depends on timing. */
#include "kernels.h"

#include <pthread.h>
#include <stdatomic.h>

static void let_go(volatile int *flag)
{
    __atomic_store_n((int *)(uintptr_t)flag, 1, __ATOMIC_RELEASE);
}

/* A stream that is held up, and memory to see effects in. */
struct scene {
    cudaStream_t held, other;
    volatile int *flag;
    int *done, *data;
};

static struct scene begin_with(unsigned held_flags, unsigned other_flags)
{
    struct scene scene;
    assert_success(cudaStreamCreateWithFlags(&scene.held, held_flags));
    assert_success(cudaStreamCreateWithFlags(&scene.other, other_flags));
    scene.flag = new_flag();
    assert_success(cudaMallocHost((void **)&scene.done, sizeof *scene.done));
    assert_success(cudaMallocHost((void **)&scene.data, 1000 * sizeof *scene.data));
    memset(scene.data, 0, 1000 * sizeof *scene.data);
    *scene.done = 0;
    return scene;
}

static struct scene begin(void)
{
    return begin_with(cudaStreamDefault, cudaStreamDefault);
}

static void end(struct scene *scene)
{
    let_go(scene->flag);
    assert_success(cudaDeviceSynchronize());
    assert_success(cudaStreamDestroy(scene->held));
    assert_success(cudaStreamDestroy(scene->other));
    assert_success(cudaFreeHost((void *)(uintptr_t)scene->flag));
    assert_success(cudaFreeHost(scene->done));
    assert_success(cudaFreeHost(scene->data));
    cudaGetLastError();
}

static void a_stream_keeps_its_order(void **state)
{
    (void)state;
    struct scene scene = begin();
    assert_success(launch_wait(scene.flag, scene.done, scene.held));
    assert_success(launch_fill(scene.data, 0, 1000, scene.held));
    for (int i = 1; i <= 50; i++) {
        assert_success(launch_add(scene.data, i, 1000, scene.held));
        if (i == 25) assert_success(cudaMemsetAsync(scene.data + 500, 0, 2000, scene.other));
    }
    assert_int_equal(cudaStreamQuery(scene.held), cudaErrorNotReady);
    assert_success(cudaGetLastError()); /* an answer, no failure */
    let_go(scene.flag);
    assert_success(cudaStreamSynchronize(scene.held));
    assert_success(cudaStreamQuery(scene.held));
    assert_int_equal(scene.data[10], 10 + 1275);
    assert_int_equal(scene.data[999], 999 + 1275);
    end(&scene);
}

static void streams_overlap(void **state)
{
    (void)state;
    struct scene scene = begin();
    assert_success(launch_wait(scene.flag, scene.done, scene.held));
    assert_success(launch_fill(scene.data, 3, 1000, scene.other));
    assert_success(cudaStreamSynchronize(scene.other)); /* while the other one is held up */
    assert_int_equal(scene.data[7], 10);
    assert_int_equal(cudaStreamQuery(scene.held), cudaErrorNotReady);
    assert_int_equal(*scene.done, 0);
    end(&scene);
}

static void the_legacy_stream_waits_for_blocking_streams(void **state)
{
    (void)state;
    struct scene scene = begin();
    assert_success(launch_wait(scene.flag, scene.done, scene.held));
    assert_success(launch_fill(scene.data, 1, 1000, NULL));       /* behind the held one */
    assert_success(launch_add(scene.data, 1, 1000, scene.other)); /* behind the legacy one */
    assert_int_equal(cudaStreamQuery(NULL), cudaErrorNotReady);
    assert_int_equal(cudaStreamQuery(scene.other), cudaErrorNotReady);
    assert_int_equal(scene.data[0], 0);
    let_go(scene.flag);
    assert_success(cudaStreamSynchronize(scene.other));
    assert_int_equal(scene.data[0], 2);
    end(&scene);
}

static void non_blocking_streams_do_not_take_part(void **state)
{
    (void)state;
    struct scene scene = begin_with(cudaStreamNonBlocking, cudaStreamNonBlocking);
    assert_success(launch_wait(scene.flag, scene.done, scene.held));
    assert_success(launch_fill(scene.data, 1, 1000, NULL));
    assert_success(cudaStreamSynchronize(NULL));
    assert_int_equal(scene.data[0], 1);
    assert_int_equal(*scene.done, 0);
    let_go(scene.flag);
    assert_success(cudaStreamSynchronize(scene.held));

    /* And the other way round: the legacy stream held up, a non-blocking one free. */
    *(int *)(uintptr_t)scene.flag = 0;
    *scene.done = 0;
    assert_success(launch_wait(scene.flag, scene.done, cudaStreamLegacy));
    assert_success(launch_add(scene.data, 5, 1000, scene.other));
    assert_success(cudaStreamSynchronize(scene.other));
    assert_int_equal(scene.data[0], 6);
    assert_int_equal(cudaStreamQuery(cudaStreamLegacy), cudaErrorNotReady);
    end(&scene);
}

static void blocking_copies_wait_for_the_legacy_rules(void **state)
{
    (void)state;
    struct scene scene = begin();
    int *device, back[100];
    assert_success(cudaMalloc((void **)&device, sizeof back));
    for (int round = 0; round < 20; round++) {
        assert_success(launch_fill(device, round, 100, scene.other));
        assert_success(cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost));
        assert_int_equal(back[99], 99 + round);
    }
    assert_success(cudaFree(device));
    end(&scene);
}

static void events_order_streams(void **state)
{
    (void)state;
    struct scene scene = begin_with(cudaStreamNonBlocking, cudaStreamNonBlocking);
    cudaEvent_t event;
    assert_success(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    assert_success(cudaEventQuery(event)); /* never recorded: nothing to wait for */
    assert_success(launch_wait(scene.flag, scene.done, scene.held));
    assert_success(launch_fill(scene.data, 1, 1000, scene.held));
    assert_success(cudaEventRecord(event, scene.held));
    assert_int_equal(cudaEventQuery(event), cudaErrorNotReady);
    assert_success(cudaStreamWaitEvent(scene.other, event, 0));
    assert_success(launch_add(scene.data, 10, 1000, scene.other));
    assert_int_equal(cudaStreamQuery(scene.other), cudaErrorNotReady);
    /* Recording anew does not move what waits already. */
    cudaStream_t third;
    assert_success(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
    assert_success(cudaEventRecord(event, third));
    assert_success(cudaEventSynchronize(event));
    assert_int_equal(cudaStreamQuery(scene.other), cudaErrorNotReady);
    let_go(scene.flag);
    assert_success(cudaStreamSynchronize(scene.other));
    assert_int_equal(scene.data[5], 16);
    assert_success(cudaEventDestroy(event));
    assert_int_equal(cudaEventRecord(event, third), cudaErrorInvalidResourceHandle);
    assert_success(cudaStreamDestroy(third));
    end(&scene);
}

static void events_have_times(void **state)
{
    (void)state;
    struct scene scene = begin();
    cudaEvent_t first, last, untimed;
    float ms = -1;
    assert_success(cudaEventCreate(&first));
    assert_success(cudaEventCreate(&last));
    assert_success(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    assert_int_equal(cudaEventElapsedTime(&ms, first, last), cudaErrorInvalidResourceHandle);
    assert_success(cudaEventRecord(first, scene.held));
    assert_success(launch_wait(scene.flag, scene.done, scene.held));
    assert_success(cudaEventRecord(last, scene.held));
    assert_success(cudaEventRecord(untimed, scene.held));
    assert_int_equal(cudaEventElapsedTime(&ms, first, last), cudaErrorNotReady);
    let_go(scene.flag);
    assert_success(cudaEventSynchronize(last));
    assert_success(cudaEventElapsedTime(&ms, first, last));
    assert_true(ms > 0 && ms < 60000);
    float back = 1;
    assert_success(cudaEventElapsedTime(&back, last, first));
    assert_true(back == -ms);
    assert_success(cudaEventSynchronize(untimed));
    assert_int_equal(cudaEventElapsedTime(&ms, first, untimed), cudaErrorInvalidResourceHandle);
    assert_success(cudaEventDestroy(first));
    assert_success(cudaEventDestroy(last));
    assert_success(cudaEventDestroy(untimed));
    end(&scene);
}

struct call {
    int *data;
    _Atomic int seen;
    cudaError_t inside;
};

static void on_stream(void *argument)
{
    struct call *const call = argument;
    atomic_store(&call->seen, call->data[0]);
    call->inside = cudaDeviceSynchronize(); /* not allowed here */
}

static void callback(cudaStream_t stream, cudaError_t status, void *argument)
{
    (void)stream;
    struct call *const call = argument;
    atomic_fetch_add(&call->seen, status == cudaSuccess ? 1000 : 0);
}

static void host_functions_are_part_of_the_order(void **state)
{
    (void)state;
    struct scene scene = begin();
    struct call call = {.data = scene.data, .seen = -1};
    assert_success(launch_wait(scene.flag, scene.done, scene.held));
    assert_success(launch_fill(scene.data, 7, 1000, scene.held));
    assert_success(cudaLaunchHostFunc(scene.held, on_stream, &call));
    assert_success(cudaStreamAddCallback(scene.held, callback, &call, 0));
    assert_success(launch_add(scene.data, 1, 1000, scene.held));
    assert_int_equal(atomic_load(&call.seen), -1);
    let_go(scene.flag);
    assert_success(cudaStreamSynchronize(scene.held));
    assert_int_equal(atomic_load(&call.seen), 1007);
    assert_int_equal(call.inside, cudaErrorNotPermitted);
    assert_int_equal(scene.data[0], 8);
    end(&scene);
}

static void destroying_a_stream_leaves_its_work(void **state)
{
    (void)state;
    struct scene scene = begin();
    cudaStream_t gone;
    assert_success(cudaStreamCreate(&gone));
    assert_success(launch_wait(scene.flag, scene.done, gone));
    assert_success(launch_fill(scene.data, 9, 1000, gone));
    assert_success(cudaStreamDestroy(gone));
    assert_int_equal(cudaStreamDestroy(gone), cudaErrorInvalidResourceHandle);
    assert_int_equal(launch_fill(scene.data, 1, 10, gone), cudaErrorInvalidResourceHandle);
    assert_int_equal(scene.data[0], 0);
    let_go(scene.flag);
    assert_success(cudaDeviceSynchronize());
    assert_int_equal(scene.data[0], 9);
    end(&scene);
}

/* Gives NULL when all went well. */
static void *use_own_stream(void *argument)
{
    struct scene *const scene = argument;
    for (int i = 0; i < 100; i++) {
        if (launch_add(scene->data, 1, 1000, cudaStreamPerThread) != cudaSuccess) return scene;
        if (i % 10 == 0 && cudaStreamSynchronize(cudaStreamPerThread) != cudaSuccess) return scene;
    }
    return cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess ? NULL : scene;
}

static void threads_have_streams_of_their_own(void **state)
{
    (void)state;
    struct scene scenes[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) scenes[i] = begin();
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, use_own_stream, &scenes[i]);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
        assert_int_equal(scenes[i].data[999], 100);
        end(&scenes[i]);
    }
}

static void priorities_and_flags(void **state)
{
    (void)state;
    int least = 9, greatest = 9, priority;
    unsigned flags;
    cudaStream_t stream;
    assert_success(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    assert_true(greatest < least);
    assert_success(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest - 10));
    assert_success(cudaStreamGetPriority(stream, &priority));
    assert_int_equal(priority, greatest);
    assert_success(cudaStreamGetFlags(stream, &flags));
    assert_int_equal(flags, cudaStreamNonBlocking);
    assert_success(cudaStreamDestroy(stream));
    assert_int_equal(cudaStreamCreateWithFlags(&stream, 8), cudaErrorInvalidValue);
    assert_int_equal(cudaStreamSynchronize((cudaStream_t)&flags), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
}

static void captured_graphs(void **state)
{
    (void)state;
    struct scene scene = begin();
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t node_count = 0, root_count = 0;
    assert_success(cudaEventCreate(&fork));
    assert_success(cudaEventCreate(&join));
    assert_success(cudaStreamBeginCapture(scene.held, cudaStreamCaptureModeGlobal));
    assert_success(launch_fill(scene.data, 100, 500, scene.held));
    assert_success(cudaEventRecord(fork, scene.held));
    assert_success(cudaStreamWaitEvent(scene.other, fork, 0));
    assert_success(launch_add(scene.data, 1, 250, scene.other));
    assert_success(cudaEventRecord(join, scene.other));
    assert_success(cudaMemsetAsync(scene.data + 500, 0, 4, scene.held) == cudaSuccess
                       ? cudaErrorUnknown
                       : cudaSuccess); /* pinned memory: the host would have to wait */
    cudaGetLastError();
    assert_int_equal(cudaStreamEndCapture(scene.held, &graph), cudaErrorStreamCaptureInvalidated);

    assert_success(cudaStreamBeginCapture(scene.held, cudaStreamCaptureModeGlobal));
    assert_int_equal(launch_fill(scene.data, 100, 500, NULL), cudaErrorStreamCaptureImplicit);
    assert_success(launch_fill(scene.data, 100, 500, scene.held));
    assert_success(cudaEventRecord(fork, scene.held));
    assert_success(cudaStreamWaitEvent(scene.other, fork, 0));
    assert_success(launch_add(scene.data, 1, 250, scene.other));
    assert_success(cudaEventRecord(join, scene.other));
    assert_int_equal(cudaEventQuery(join), cudaErrorCapturedEvent);
    assert_success(launch_add(scene.data + 250, 2, 250, scene.held));
    assert_success(cudaStreamWaitEvent(scene.held, join, 0));
    assert_success(launch_add(scene.data, 1000, 500, scene.held));
    assert_success(cudaStreamEndCapture(scene.held, &graph));
    assert_int_equal(scene.data[0], 0); /* nothing ran */
    assert_success(cudaGraphGetNodes(graph, NULL, &node_count));
    assert_success(cudaGraphGetRootNodes(graph, NULL, &root_count));
    assert_int_equal(node_count, 4);
    assert_int_equal(root_count, 1);
    assert_success(cudaGraphInstantiate(&exec, graph, 0));
    assert_success(cudaGraphDestroy(graph));
    for (int i = 0; i < 3; i++) assert_success(cudaGraphLaunch(exec, scene.held));
    assert_success(cudaStreamSynchronize(scene.held));
    assert_int_equal(scene.data[10], 100 + 10 + 1 + 1000);
    assert_int_equal(scene.data[300], 100 + 300 + 2 + 1000);
    assert_success(cudaGraphExecDestroy(exec));

    /* A stream that was forked and not joined. */
    assert_success(cudaStreamBeginCapture(scene.held, cudaStreamCaptureModeRelaxed));
    assert_success(launch_fill(scene.data, 1, 10, scene.held));
    assert_success(cudaEventRecord(fork, scene.held));
    assert_success(cudaStreamWaitEvent(scene.other, fork, 0));
    assert_success(launch_add(scene.data, 1, 10, scene.other));
    assert_int_equal(cudaStreamEndCapture(scene.held, &graph), cudaErrorStreamCaptureUnjoined);
    assert_null(graph);
    assert_success(launch_add(scene.data, 1, 10, scene.other)); /* free again */
    assert_success(cudaEventDestroy(fork));
    assert_success(cudaEventDestroy(join));
    end(&scene);
}

static void graphs_by_hand(void **state)
{
    (void)state;
    struct scene scene = begin();
    int *device, value = 3, n = 100;
    assert_success(cudaMalloc((void **)&device, 400));
    void *args[] = {&device, &value, &n};
    cudaGraph_t graph;
    cudaGraphNode_t set, add, copy;
    cudaGraphExec_t exec;
    assert_success(cudaGraphCreate(&graph, 0));
    const struct cudaMemsetParams fill = {
        .dst = device, .value = 0x01010101, .elementSize = 4, .width = 100, .height = 1};
    struct cudaKernelNodeParams kernel = {.func = (void *)(uintptr_t)stub_add,
                                          .gridDim = extent(2),
                                          .blockDim = extent(64),
                                          .kernelParams = args};
    assert_success(cudaGraphAddKernelNode(&add, graph, NULL, 0, &kernel));
    assert_success(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &fill));
    assert_success(cudaGraphAddMemcpyNode1D(&copy, graph, &add, 1, scene.data, device, 400,
                                            cudaMemcpyDeviceToHost));
    assert_success(cudaGraphAddDependencies(graph, &set, &add, 1));
    assert_success(cudaGraphInstantiate(&exec, graph, 0));
    value = 1000; /* the node has its own copy */
    assert_success(cudaGraphLaunch(exec, scene.other));
    assert_success(cudaStreamSynchronize(scene.other));
    assert_int_equal(scene.data[99], 0x01010101 + 3);
    assert_success(cudaGraphExecKernelNodeSetParams(exec, add, &kernel));
    assert_success(cudaGraphLaunch(exec, scene.other));
    assert_success(cudaStreamSynchronize(scene.other));
    assert_int_equal(scene.data[99], 0x01010101 + 1000);
    assert_success(cudaGraphAddDependencies(graph, &copy, &set, 1)); /* a circle */
    cudaGraphExec_t none;
    assert_int_equal(cudaGraphInstantiate(&none, graph, 0), cudaErrorInvalidValue);
    assert_success(cudaGraphExecDestroy(exec));
    assert_success(cudaGraphDestroy(graph));
    assert_success(cudaFree(device));
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_keeps_its_order),
        cmocka_unit_test(streams_overlap),
        cmocka_unit_test(the_legacy_stream_waits_for_blocking_streams),
        cmocka_unit_test(non_blocking_streams_do_not_take_part),
        cmocka_unit_test(blocking_copies_wait_for_the_legacy_rules),
        cmocka_unit_test(events_order_streams),
        cmocka_unit_test(events_have_times),
        cmocka_unit_test(host_functions_are_part_of_the_order),
        cmocka_unit_test(destroying_a_stream_leaves_its_work),
        cmocka_unit_test(threads_have_streams_of_their_own),
        cmocka_unit_test(priorities_and_flags),
        cmocka_unit_test(captured_graphs),
        cmocka_unit_test(graphs_by_hand),
    };
    return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
