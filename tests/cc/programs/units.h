static __host__ __device__ __noinline__ int shared_value(int i)
{
    return 3 * i;
}
template <class T> __device__ __noinline__ T twice(T value)
{
    return value + value;
}
