/* n-queens by recursion, linked lists and trees from malloc and new in kernels, virtual functions
 * with multiple inheritance, tables of function pointers, functors and extended lambdas. */
// options: --extended-lambda --expt-relaxed-constexpr -std=c++17 -lineinfo
#include "helper.h"
#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

__device__ int queens(int n, unsigned columns, unsigned left, unsigned right)
{
    const unsigned all = (1u << n) - 1;
    if (columns == all) return 1;
    int count = 0;
    for (unsigned free = all & ~(columns | left | right); free; free &= free - 1) {
        const unsigned bit = free & -free;
        count += queens(n, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return count;
}

__global__ void n_queens(int n, int *total)
{
    if (threadIdx.x < n) {
        const unsigned bit = 1u << threadIdx.x;
        atomicAdd(total, queens(n, bit, bit << 1, bit >> 1));
    }
}

struct node {
    int key;
    node *next, *children[2];
};

__device__ node *heads[16];
__device__ int failed_allocations;

__global__ void push(int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    node *const mine = (node *)malloc(sizeof(node));
    if (!mine) {
        atomicAdd(&failed_allocations, 1);
        return;
    }
    mine->key = i;
    unsigned long long *const head = (unsigned long long *)&heads[i % 16];
    unsigned long long seen = *head;
    do {
        mine->next = (node *)seen;
        seen = atomicCAS(head, (unsigned long long)mine->next, (unsigned long long)mine);
    } while ((node *)seen != mine->next);
}

__device__ void insert(node *&root, node *item)
{
    item->children[0] = item->children[1] = nullptr;
    if (!root)
        root = item;
    else
        insert(root->children[item->key > root->key], item);
}

__device__ int in_order(const node *root, int *out)
{
    if (!root) return 0;
    const int before = in_order(root->children[0], out);
    out[before] = root->key;
    return before + 1 + in_order(root->children[1], out + before + 1);
}

__device__ void drop(node *root)
{
    if (!root) return;
    drop(root->children[0]);
    drop(root->children[1]);
    free(root);
}

/* Each thread makes a tree of one list, writes it in order, frees it. */
__global__ void trees(int *out, int each)
{
    node *root = nullptr;
    unsigned pick = 12345;
    for (node *item = heads[threadIdx.x]; item;) {
        node *const next = item->next;
        item->key ^= (int)(pick & 0); /* keeps the walk data dependent */
        insert(root, item);
        item = next;
    }
    in_order(root, out + threadIdx.x * each);
    drop(root);
}

class Shape
{
  public:
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
class Named
{
  public:
    __device__ virtual int name() const { return 0; }
    int padding = 3;
};
class Circle : public Shape, public Named
{
    float r;

  public:
    __device__ Circle(float r) : r(r) {}
    __device__ float area() const override { return 3.0f * r * r; }
    __device__ int name() const override { return 'c' + padding; }
};
class Box : public Named, public Shape
{
    float w, h;

  public:
    __device__ Box(float w, float h) : w(w), h(h) {}
    __device__ float area() const final { return w * h; }
    __device__ int name() const override { return 'b'; }
};

__global__ void make(Shape **shapes, Named **names)
{
    const int i = threadIdx.x;
    if (i % 2) {
        Circle *const c = new Circle((float)i);
        shapes[i] = c, names[i] = c;
    } else {
        Box *const b = new Box((float)i, 2);
        shapes[i] = b, names[i] = b;
    }
}

__global__ void measure(Shape **shapes, Named **names, float *out)
{
    const int i = threadIdx.x;
    out[i] = shapes[i]->area() + (float)names[i]->name() / 1024;
    delete shapes[i];
}

typedef float (*op_t)(float, float);
__device__ float add(float a, float b)
{
    return a + b;
}
__device__ float mul(float a, float b)
{
    return a * b;
}
__device__ float sub(float a, float b)
{
    return a - b;
}
__device__ op_t table[] = {add, mul, sub};
__device__ op_t chosen = sub;

__global__ void dispatch(float *out, op_t from_host)
{
    const int i = threadIdx.x;
    out[i] = table[i % 3]((float)i, 2) + from_host(10, (float)i);
}

template <typename F, typename... Args> __global__ void generic(int n, F f, Args... args)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i, args...);
}
struct saxpy {
    float a;
    template <class T> __host__ __device__ void operator()(int i, const T *x, T *y) const
    {
        y[i] = a * x[i] + y[i];
    }
};

template <class T, class F> T reduce_by(const std::vector<T> &v, T first, F f)
{
    for (auto x : v) first = f(first, x);
    return first;
}

int main()
{
    int *total, h_total = 0;
    checkCudaErrors(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    checkCudaErrors(cudaDeviceSetLimit(cudaLimitStackSize, 16 << 10));
    checkCudaErrors(cudaMalloc(&total, sizeof(int)));
    checkCudaErrors(cudaMemset(total, 0, sizeof(int)));
    n_queens<<<1, 32>>>(8, total);
    checkCudaErrors(cudaMemcpy(&h_total, total, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(h_total == 92, "%d", h_total);

    const int n = 640, each = n / 16;
    int *out;
    checkCudaErrors(cudaMallocManaged(&out, n * sizeof(int)));
    push<<<5, 128>>>(n);
    trees<<<1, 16>>>(out, each);
    checkCudaErrors(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(out[i] == i % each * 16 + i / each, "%d: %d", i, out[i]);

    Shape **shapes;
    Named **names;
    float *areas, *again;
    checkCudaErrors(cudaMalloc(&shapes, 64 * sizeof(Shape *)));
    checkCudaErrors(cudaMalloc(&names, 64 * sizeof(Named *)));
    checkCudaErrors(cudaMallocManaged(&areas, 64 * sizeof(float)));
    make<<<1, 64>>>(shapes, names);
    measure<<<1, 64>>>(shapes, names, areas);
    checkCudaErrors(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) {
        const float want = i % 2 ? 3.0f * i * i + ('c' + 3) / 1024.0f : 2.0f * i + 'b' / 1024.0f;
        EXPECT(areas[i] == want, "%d: %g", i, areas[i]);
    }
    op_t host_side;
    checkCudaErrors(cudaMemcpyFromSymbol(&host_side, chosen, sizeof(op_t)));
    dispatch<<<1, 64>>>(areas, host_side);
    checkCudaErrors(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) {
        const float want = (i % 3 == 0 ? i + 2 : i % 3 == 1 ? 2 * i : i - 2) + 10 - i;
        EXPECT(areas[i] == want, "%d: %g", i, areas[i]);
    }

    checkCudaErrors(cudaMallocManaged(&again, 64 * sizeof(float)));
    for (int i = 0; i < 64; i++) again[i] = 1;
    generic<<<2, 32>>>(64, saxpy{2}, (const float *)areas, again);
    const float bias = 0.5f;
    float *const p = again;
    auto plus_bias = [=] __device__(int i) { p[i] += bias; };
    generic<<<2, 32>>>(64, plus_bias);
    auto both = [=] __host__ __device__(int i, float scale) { p[i] *= scale; };
    generic<<<2, 32>>>(64, both, 2.0f);
    generic<<<2, 32>>>(
        64, [p] __device__(int i, auto t) { p[i] += std::get<0>(t) + std::max(std::get<1>(t), 3); },
        std::make_tuple(1, 2));
    constexpr std::array<int, 3> steps{{1, 2, 3}};
    generic<<<2, 32>>>(64, [=] __device__(int i) { p[i] += steps[i % steps.size()]; });
    checkCudaErrors(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) {
        const float want = (2 * areas[i] + 1 + bias) * 2 + 1 + 3 + i % 3 + 1;
        EXPECT(again[i] == want, "%d: %g, not %g", i, again[i], want);
    }
    both(0, 0.0f);
    EXPECT(again[0] == 0 && reduce_by(std::vector<int>{1, 2, 3}, 0, std::plus<int>()) == 6,
           "host side");
    return verdict();
}
