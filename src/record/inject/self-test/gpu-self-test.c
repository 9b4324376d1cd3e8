/* A program on a GPU that needs nothing but the driver: `ctascope doctor` records it and looks at
 * what came of it.
 *
 *     gpu-self-test                       runs the kernel and checks its result
 *     gpu-self-test devices               says the driver's version and the devices
 *     gpu-self-test version LIBRARY NAME  says what LIBRARY's NAME(uint32_t *) stores
 *
 * The driver is opened at run time and the kernel is PTX, which it compiles: no toolkit is needed,
 * neither here nor where this is built. The kernel makes 3 accesses by each of 256 threads, in 8
 * warps: 768 accesses, 24 warp records. Ends with 4 where there is no driver or no device, with 1
 * where something fails; one line says what. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_MACHINE = 4, THREADS = 256, BLOCK = 64 };

/* As cuda.h has them. */
enum { MAJOR_ATTRIBUTE = 75, MINOR_ATTRIBUTE = 76 };
typedef uint64_t device_address;

static struct {
    int (*cuInit)(unsigned);
    int (*cuDriverGetVersion)(int *);
    int (*cuDeviceGetCount)(int *);
    int (*cuDeviceGet)(int *, int);
    int (*cuDeviceGetName)(char *, int, int);
    int (*cuDeviceGetAttribute)(int *, int, int);
    int (*cuDeviceTotalMem_v2)(size_t *, int);
    int (*cuDevicePrimaryCtxRetain)(void **, int);
    int (*cuCtxSetCurrent)(void *);
    int (*cuModuleLoadData)(void **, const void *);
    int (*cuModuleGetFunction)(void **, void *, const char *);
    int (*cuMemAlloc_v2)(device_address *, size_t);
    int (*cuMemcpyHtoD_v2)(device_address, const void *, size_t);
    int (*cuMemcpyDtoH_v2)(void *, device_address, size_t);
    int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void *, void **, void **);
    int (*cuCtxSynchronize)(void);
    int (*cuGetErrorString)(int, const char **);
} cuda;

static const char kernel_text[] = ".version 6.0\n"
                                  ".target sm_50\n"
                                  ".address_size 64\n"
                                  ".visible .entry ctascope_self_test(\n"
                                  "    .param .u64 pa, .param .u64 pb, .param .u64 pc)\n"
                                  "{\n"
                                  "    .reg .b32 %r<5>;\n"
                                  "    .reg .f32 %f<4>;\n"
                                  "    .reg .b64 %d<8>;\n"
                                  "    ld.param.u64 %d1, [pa];\n"
                                  "    ld.param.u64 %d2, [pb];\n"
                                  "    ld.param.u64 %d3, [pc];\n"
                                  "    mov.u32 %r1, %ctaid.x;\n"
                                  "    mov.u32 %r2, %ntid.x;\n"
                                  "    mov.u32 %r3, %tid.x;\n"
                                  "    mad.lo.u32 %r4, %r1, %r2, %r3;\n"
                                  "    mul.wide.u32 %d4, %r4, 4;\n"
                                  "    add.u64 %d5, %d1, %d4;\n"
                                  "    add.u64 %d6, %d2, %d4;\n"
                                  "    add.u64 %d7, %d3, %d4;\n"
                                  "    ld.global.f32 %f1, [%d5];\n"
                                  "    ld.global.f32 %f2, [%d6];\n"
                                  "    add.f32 %f3, %f1, %f2;\n"
                                  "    st.global.f32 [%d7], %f3;\n"
                                  "    ret;\n"
                                  "}\n";

/* ---- the driver ---- */

static const char *text_of(int result)
{
    const char *text = NULL;
    if (cuda.cuGetErrorString) (void)cuda.cuGetErrorString(result, &text);
    return text ? text : "unknown error";
}

static int find(void *library, const char *name, void *place)
{
    void *const function = dlsym(library, name);
    memcpy(place, &function, sizeof function);
    if (!function) printf("the driver has no %s: it is too old\n", name);
    return function != NULL;
}

/* 0, or an exit status. */
static int open_driver(void)
{
    void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("no NVIDIA driver: %s\n", dlerror());
        return EXIT_MACHINE;
    }
#define FIND(name)                                                                                 \
    if (!find(library, #name, &cuda.name)) return EXIT_MACHINE;
    FIND(cuInit)
    FIND(cuDriverGetVersion)
    FIND(cuDeviceGetCount)
    FIND(cuDeviceGet)
    FIND(cuDeviceGetName)
    FIND(cuDeviceGetAttribute)
    FIND(cuDeviceTotalMem_v2)
    FIND(cuDevicePrimaryCtxRetain)
    FIND(cuCtxSetCurrent)
    FIND(cuModuleLoadData)
    FIND(cuModuleGetFunction)
    FIND(cuMemAlloc_v2)
    FIND(cuMemcpyHtoD_v2)
    FIND(cuMemcpyDtoH_v2)
    FIND(cuLaunchKernel)
    FIND(cuCtxSynchronize)
    FIND(cuGetErrorString)
#undef FIND
    const int result = cuda.cuInit(0);
    if (result == 0) return 0;
    printf("CUDA cannot be initialised: %s\n", text_of(result));
    return EXIT_MACHINE;
}

static int say_devices(void)
{
    int version = 0, count = 0;
    const int status = open_driver();
    if (status) return status;
    (void)cuda.cuDriverGetVersion(&version);
    if (cuda.cuDeviceGetCount(&count) || count == 0) {
        puts("the driver has no device");
        return EXIT_MACHINE;
    }
    printf("CUDA %d.%d: ", version / 1000, version % 1000 / 10);
    for (int i = 0; i < count; i++) {
        int device = 0, major = 0, minor = 0;
        size_t bytes = 0;
        char name[128] = "GPU";
        (void)cuda.cuDeviceGet(&device, i);
        (void)cuda.cuDeviceGetName(name, sizeof name, device);
        (void)cuda.cuDeviceGetAttribute(&major, MAJOR_ATTRIBUTE, device);
        (void)cuda.cuDeviceGetAttribute(&minor, MINOR_ATTRIBUTE, device);
        (void)cuda.cuDeviceTotalMem_v2(&bytes, device);
        printf("%s%s (%d.%d, %.1f GiB)", i ? ", " : "", name, major, minor,
               (double)bytes / (1 << 30));
    }
    putchar('\n');
    return 0;
}

/* ---- the kernel ---- */

static int check(int result, const char *what)
{
    if (result == 0) return 0;
    printf("%s: %s\n", what, text_of(result));
    return EXIT_FAILED;
}
#define CHECK(call)                                                                                \
    if (check(cuda.call, #call)) return EXIT_FAILED

static int run_kernel(void)
{
    float values[THREADS];
    device_address memory[3];
    void *arguments[] = {&memory[0], &memory[1], &memory[2], NULL};
    void *context, *module, *function;
    int device;
    const int status = open_driver();
    if (status) return status;
    for (int i = 0; i < THREADS; i++) values[i] = (float)i;
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, kernel_text));
    CHECK(cuModuleGetFunction(&function, module, "ctascope_self_test"));
    for (int i = 0; i < 3; i++) CHECK(cuMemAlloc_v2(&memory[i], sizeof values));
    for (int i = 0; i < 2; i++) CHECK(cuMemcpyHtoD_v2(memory[i], values, sizeof values));
    CHECK(cuLaunchKernel(function, THREADS / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH_v2(values, memory[2], sizeof values));
    for (int i = 0; i < THREADS; i++)
        if (values[i] != 2.0f * (float)i) {
            printf("thread %d of the kernel stored %g instead of %g\n", i, (double)values[i],
                   2.0 * i);
            return EXIT_FAILED;
        }
    return 0;
}

/* ---- versions ---- */

static int say_version(const char *path, const char *name)
{
    int (*get)(uint32_t *);
    uint32_t version = 0;
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *const function = library ? dlsym(library, name) : NULL;
    memcpy(&get, &function, sizeof get);
    if (!function || get(&version)) {
        printf("%s\n", library ? "it does not say its version" : dlerror());
        return EXIT_FAILED;
    }
    printf("%u\n", version);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 1) return run_kernel();
    if (argc == 2 && strcmp(argv[1], "devices") == 0) return say_devices();
    if (argc == 4 && strcmp(argv[1], "version") == 0) return say_version(argv[2], argv[3]);
    fprintf(stderr, "usage: gpu-self-test [devices | version LIBRARY NAME]\n");
    return EXIT_USAGE;
}
