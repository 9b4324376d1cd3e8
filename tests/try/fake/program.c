/* A program of the CUDA driver with a case for each way in which a stretch can go on a GPU: program
 * CASE. Without a GPU, it runs on fake-cuda.c. */
#include <cuda.h>
#include <cudaProfiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvtx3/nvToolsExt.h>

enum { COUNT = 4096, BYTES = COUNT * sizeof(float) };

static CUdeviceptr x, y, z;
static CUmodule module;
static CUstream streams[2];

static CUfunction kernel(const char *name)
{
    CUfunction function = NULL;
    if (cuModuleGetFunction(&function, module, name) != CUDA_SUCCESS) exit(9);
    return function;
}

static void launch(const char *name, CUstream stream, void **parameters)
{
    (void)cuLaunchKernel(kernel(name), COUNT / 256, 1, 1, 256, 1, 1, 0, stream, parameters, NULL);
}

static void fill(CUdeviceptr to, float value, CUstream stream)
{
    int n = COUNT;
    launch("fill", stream, (void *[]){&to, &value, &n});
}

static void twice(CUdeviceptr from, CUdeviceptr to, CUstream stream)
{
    int n = COUNT;
    launch("twice", stream, (void *[]){&from, &to, &n});
}

static void add(CUdeviceptr from, CUdeviceptr to, CUstream stream)
{
    int n = COUNT;
    launch("add", stream, (void *[]){&from, &to, &n});
}

static void nothing(void *data)
{
    (void)data;
}

/* Steps 0 to 2 of three launches each, every second in an NVTX range. */
static void run_ranges(void)
{
    for (int i = 0; i < 3; i++) {
        fill(y, (float)i, NULL);
        nvtxRangePushA("step");
        fill(x, (float)i + 1, NULL);
        twice(x, z, NULL);
        nvtxRangePop();
        cuCtxSynchronize();
    }
}

/* What the driver does, and replays do not. */
static void run_refused(const char *which)
{
    CUDA_MEMCPY2D plane = {0};
    if (!strcmp(which, "host-function")) cuLaunchHostFunc(NULL, nothing, NULL);
    if (!strcmp(which, "copy-2d")) cuMemcpy2DAsync_v2(&plane, NULL);
    if (!strcmp(which, "peer")) cuMemcpyPeerAsync(x, NULL, y, NULL, 4, NULL);
    if (!strcmp(which, "wait-value"))
        cuStreamWaitValue32_v2(streams[0], x, 1, CU_STREAM_WAIT_VALUE_GEQ);
    if (!strcmp(which, "update")) cuGraphExecUpdate_v2(NULL, NULL, NULL);
    if (!strcmp(which, "extra")) {
        void *extra[] = {CU_LAUNCH_PARAM_END};
        (void)cuLaunchKernel(kernel("fill"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
    }
    if (!strcmp(which, "crash")) launch("crash", NULL, NULL);
}

static void run_graph(void)
{
    CUgraph graph;
    CUgraphExec exec;
    cuStreamBeginCapture_v2(streams[0], CU_STREAM_CAPTURE_MODE_GLOBAL);
    twice(x, y, streams[0]);
    twice(y, z, streams[0]);
    cuStreamEndCapture(streams[0], &graph);
    cuGraphInstantiateWithFlags(&exec, graph, 0);
    cuGraphLaunch(exec, streams[0]);
}

/* Two streams, ordered by an event; without one in `race`. */
static void run_streams(int race)
{
    CUevent event;
    cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    twice(x, y, streams[0]);
    cuEventRecord(event, streams[0]);
    if (!race) cuStreamWaitEvent(streams[1], event, 0);
    twice(y, z, streams[1]);
    cuStreamSynchronize(streams[0]);
    cuStreamSynchronize(streams[1]);
}

static void run_case(const char *which)
{
    CUdeviceptr more, table;
    float value = 3;
    if (!strcmp(which, "streams") || !strcmp(which, "race")) run_streams(which[0] == 'r');
    if (!strcmp(which, "graph")) run_graph();
    if (!strcmp(which, "tick")) launch("tick", NULL, (void *[]){&x});
    if (!strcmp(which, "freed")) {
        cuMemAlloc_v2(&more, BYTES);
        twice(x, more, NULL);
        twice(more, y, NULL);
        cuMemFree_v2(more);
    }
    if (!strcmp(which, "chase")) {
        cuMemAlloc_v2(&table, 64);
        cuMemcpyHtoD_v2(table, &y, sizeof y);
        int n = COUNT;
        launch("chase", NULL, (void *[]){&table, &z, &n});
    }
    if (!strcmp(which, "copies")) {
        cuMemcpyDtoDAsync_v2(y, x, BYTES, NULL);
        cuMemsetD32Async(z, 0x40400000, COUNT, NULL);
        add(y, z, NULL);
        cuMemcpyHtoD_v2(z, &value, sizeof value);
    }
}

int main(int argc, char **argv)
{
    static float values[COUNT];
    const char *const which = argc > 1 ? argv[1] : "";
    CUdeviceptr variable;
    size_t bytes;
    cuModuleLoad(&module, "kernels");
    cuModuleGetGlobal_v2(&variable, &bytes, module, "state");
    CUdeviceptr *const all[] = {&x, &y, &z};
    for (int i = 0; i < 3; i++) {
        cuMemAlloc_v2(all[i], BYTES);
        cuMemsetD8_v2(*all[i], (unsigned char)i, BYTES);
    }
    for (int i = 0; i < 2; i++) cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING);
    if (!strcmp(which, "never")) {
        fill(x, 1, NULL);
        return 0;
    }
    if (!strcmp(which, "large")) cuMemAlloc_v2(&variable, 80 << 20);
    if (!strncmp(which, "before-", 7)) run_refused(which + 7);
    if (!strcmp(which, "ranges")) {
        run_ranges();
    } else {
        cuProfilerStart();
        fill(x, 1, NULL);
        cuCtxSynchronize();
        run_refused(which);
        run_case(which);
        twice(x, y, NULL);
        twice(y, z, NULL);
        cuCtxSynchronize();
        cuProfilerStop();
    }
    cuMemcpyDtoH_v2(values, z, BYTES);
    printf("%s: %g %g\n", which, values[0], values[COUNT - 1]);
    return 0;
}
