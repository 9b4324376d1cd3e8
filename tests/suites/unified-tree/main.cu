// Managed objects: operator new on the unified heap, a pointer-linked tree, strings, prefetch and
// advice, system-wide atomics, host access between launches.
#include <cstdio>
#include <cstring>
#include <cstdlib>
#include <cuda_runtime.h>
class Managed
{
  public:
    void *operator new(size_t len)
    {
        void *ptr;
        cudaMallocManaged(&ptr, len);
        cudaDeviceSynchronize();
        return ptr;
    }
    void operator delete(void *ptr)
    {
        cudaDeviceSynchronize();
        cudaFree(ptr);
    }
};
class String : public Managed
{
    int length;
    char *data;

  public:
    String() : length(0), data(0) {}
    String(const char *s) : length(0), data(0)
    {
        _realloc(strlen(s));
        strcpy(data, s);
    }
    String(const String &s) : length(0), data(0)
    {
        _realloc(s.length);
        strcpy(data, s.data);
    }
    ~String() { cudaFree(data); }
    String &operator=(const char *s)
    {
        _realloc(strlen(s));
        strcpy(data, s);
        return *this;
    }
    __host__ __device__ char &operator[](int pos) const { return data[pos]; }
    __host__ __device__ const char *c_str() const { return data; }
    __host__ __device__ int size() const { return length; }

  private:
    void _realloc(int len)
    {
        cudaFree(data);
        length = len;
        cudaMallocManaged(&data, length + 1);
    }
};
struct Node : public Managed {
    int key, count;
    Node *left, *right;
    String name;
    Node(int k) : key(k), count(0), left(nullptr), right(nullptr)
    {
        char b[32];
        snprintf(b, sizeof b, "node-%d", k);
        name = b;
    }
};
__managed__ int visited;
__managed__ Node *root;
__device__ __managed__ float table[4] = {1.5f, 2.5f};
__global__ void lookup(const int *keys, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        Node *p = root;
        while (p) {
            atomicAdd_system(&visited, 1);
            if (keys[i] == p->key) {
                atomicAdd(&p->count, 1);
                break;
            }
            p = keys[i] < p->key ? p->left : p->right;
        }
    }
}
__global__ void upper(Node *p)
{
    if (!p) return;
    int t = threadIdx.x;
    if (t < p->name.size() && p->name[t] >= 'a' && p->name[t] <= 'z') p->name[t] += 'A' - 'a';
    if (t == 0) table[2] = table[0] + table[1];
}
static Node *insert(Node *p, int k)
{
    if (!p) return new Node(k);
    if (k < p->key)
        p->left = insert(p->left, k);
    else if (k > p->key)
        p->right = insert(p->right, k);
    return p;
}
static int total(Node *p, int *nodes)
{
    if (!p) return 0;
    ++*nodes;
    return p->count + total(p->left, nodes) + total(p->right, nodes);
}
static void drop(Node *p)
{
    if (p) {
        drop(p->left);
        drop(p->right);
        delete p;
    }
}
int main()
{
    int bad = 0, n = 1000, nodes = 0, *keys;
    cudaMallocManaged(&keys, n * sizeof(int), cudaMemAttachGlobal);
    for (int i = 0; i < 60; i++) root = insert(root, (i * 37) % 101);
    for (int i = 0; i < n; i++) keys[i] = i % 101;
    int dev = 0, cma = 0;
    cudaGetDevice(&dev);
    cudaDeviceGetAttribute(&cma, cudaDevAttrConcurrentManagedAccess, dev);
#if CUDART_VERSION >= 13000
    if (cma) {
        cudaMemLocation l = {cudaMemLocationTypeDevice, dev};
        cudaMemAdvise(keys, n * sizeof(int), cudaMemAdviseSetReadMostly, l);
        cudaMemPrefetchAsync(keys, n * sizeof(int), l, 0, 0);
    }
#else
    if (cma) {
        cudaMemAdvise(keys, n * sizeof(int), cudaMemAdviseSetReadMostly, dev);
        cudaMemPrefetchAsync(keys, n * sizeof(int), dev, 0);
    }
#endif
    lookup<<<4, 64>>>(keys, n);
    cudaError_t e = cudaDeviceSynchronize();
    int sum = total(root, &nodes), want = 0;
    bool in[101] = {};
    for (int i = 0; i < 60; i++) in[(i * 37) % 101] = true;
    for (int i = 0; i < n; i++) want += in[i % 101];
    bad += sum != want || nodes != 60 || visited < n;
    printf("%d found of %d, %d visits, %s\n", sum, want, visited, cudaGetErrorString(e));
    for (Node *p = root; p; p = p->left) upper<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    bad += strncmp(root->name.c_str(), "NODE-", 5) != 0 || table[2] != 4.0f;
    puts(root->name.c_str());
    drop(root);
    cudaFree(keys);
    printf("bad %d\n", bad);
    return bad || cudaGetLastError();
}
