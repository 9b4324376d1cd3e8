// Records whose members leave bytes unused: copied as a whole, in part, through shared memory, by
// words, from memory of no type. Nothing ever writes padding.
// only: faults
#include "pair.h"

struct Body {
    char kind; // 1-3 are padding
    int id;
    double mass;
    short charge; // 18-23 are padding
};

struct Shape {
    int kind; // 4-7 are padding
    union {
        double radius;
        double box[3];
    };
};

__global__ void make(Body *bodies, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bodies[i].kind = i % 3;
    bodies[i].id = i;
    bodies[i].mass = 1.0 / (i + 1);
#if DEFECT != 1
    bodies[i].charge = -1;
#endif
}

__global__ void make_shapes(Shape *shapes, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    shapes[i].kind = i % 2;
    if (i % 2)
        shapes[i].radius = i;
    else
        for (int k = 0; k < 3; k++) shapes[i].box[k] = k;
}

__global__ void copy(Body *to, const Body *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i]; // @1 uninitialised read
}

__global__ void age(Body *to, const Body *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Body body = from[i]; // @1 uninitialised read
    body.id += n;
    to[i] = body;
}

__global__ void by_words(unsigned *to, const unsigned *from, int words)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < words; k += gridDim.x * blockDim.x)
        to[k] = from[k]; // @1 uninitialised read
}

// Members go into shared memory one by one, and leave it as a whole.
__global__ void turn(Body *to, const Body *from, int n)
{
    __shared__ Body tile[128];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    tile[t].kind = from[i].kind;
    tile[t].id = from[i].id;
#if DEFECT != 2
    tile[t].mass = from[i].mass;
#endif
    tile[t].charge = from[i].charge; // @1 uninitialised read
    __syncthreads();
    to[i] = tile[127 - t]; // @2 uninitialised read
}

__global__ void copy_shapes(Shape *to, const Shape *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

static void *untyped(size_t bytes)
{
    void *memory = nullptr;
    cudaMalloc(&memory, bytes);
    return memory;
}

int main()
{
    const int n = 1024, words = n * sizeof(Body) / sizeof(unsigned);
    Body *bodies, *copies;
    Shape *shapes, *others;
    cudaMalloc(&bodies, n * sizeof *bodies);
    cudaMalloc(&copies, n * sizeof *copies);
    cudaMalloc(&shapes, n * sizeof *shapes);
    cudaMalloc(&others, n * sizeof *others);
    Body *const nameless = static_cast<Body *>(untyped(n * sizeof(Body)));
    make<<<n / 128, 128>>>(bodies, n);
    make<<<n / 128, 128>>>(nameless, n);
    make_shapes<<<n / 128, 128>>>(shapes, n);
    copy<<<n / 128, 128>>>(copies, bodies, n);
    copy<<<n / 128, 128>>>(copies, nameless, n);
    age<<<n / 128, 128>>>(copies, bodies, n);
    age<<<n / 128, 128>>>(copies, nameless, n);
    by_words<<<4, 128>>>(reinterpret_cast<unsigned *>(copies),
                         reinterpret_cast<const unsigned *>(bodies), words);
    turn<<<n / 128, 128>>>(copies, bodies, n);
    copy_shapes<<<n / 128, 128>>>(others, shapes, n);
    CHECK(cudaDeviceSynchronize());
}
