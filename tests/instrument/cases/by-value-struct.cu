// By-value arguments of a kernel are not memory that anything communicates through; what their
// pointers point to is.
struct settings {
    float *out;
    int n;
    float weight[16];
};
__global__ void k(settings s, int i)
{
    s.out[LANE] = s.weight[i & 15];
}
struct view {
    float *data;
    __device__ float &operator()(int i) const { return data[i]; }
};
__global__ void wrapped(view v)
{
    v(LANE) = 2;
}
template <class F> __global__ void apply(F f)
{
    f(LANE);
}
__device__ void use(float *a)
{
    auto f = [=](int i) { a[i] = 3; };
    f(LANE);
}
__global__ void captured(float *a)
{
    use(a);
}
//@ count 1 site .*function='k\(
//@ has 10:17 store 4 global .*function='k\(.*type='float' variable='s.out'
//@ has 14:[0-9]+ store 4 global|18:13 store 4 global .*variable='v.data'
//@ has 26:[0-9]+ store 4 global .*function='captured
