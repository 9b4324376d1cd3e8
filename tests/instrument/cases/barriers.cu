// Barriers, fences and asynchronous copies are sites of their own, in the order of the program.
__device__ void named(int number) { asm volatile("bar.sync %0, 64;" ::"r"(number) : "memory"); }
__global__ void k(int *a, const int *b, unsigned to)
{
    __shared__ int s[64];
    s[threadIdx.x] = a[LANE];
    __syncthreads();
    a[LANE] = s[63 - threadIdx.x] + __nvvm_bar0_popc(s[0]);
    __nvvm_bar_warp_sync(0xffffu);
    __nvvm_membar_cta();
    __nvvm_membar_gl();
    __nvvm_membar_sys();
    asm volatile("barrier.sync 3;" ::: "memory");
    named(a[1]);
    asm volatile("bar.arrive 2, 96;" ::: "memory");
    asm volatile("cp.async.commit_group;\n cp.async.wait_group 1;" ::: "memory");
}
//@ has 7:5 barrier 0 barrier
//@ has 8:.* barrier 0 barrier
//@ has 9:5 warp barrier 0 barrier
//@ has 10:5 fence 0 barrier
//@ has 11:5 fence 0 barrier
//@ has 12:5 fence 0 barrier
//@ has 13:5 barrier 0 barrier
//@ has 2:.* barrier 0 barrier
//@ has 15:5 barrier arrive 0 barrier
//@ has 16:5 commit of asynchronous copies 0 barrier
//@ has 16:5 wait for asynchronous copies 0 barrier
//@ count 12 ^site .* 0 barrier
//@ no ^skipped
//@ ir call void @__cts_event\(i32 [0-9]*, i64 65535\)
//@ ir call void @__cts_event\(i32 [0-9]*, i64 4\)
//@ ir call void @__cts_event\(i32 [0-9]*, i64 24579\)
