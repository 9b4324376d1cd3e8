/* Cooperative groups: the block, the grid of a cooperative launch, tiles of up to 1024 threads,
 * coalesced threads, and their collectives.
 *
 * A group inside a warp is a mask of lanes; its collectives are the warp's with that mask. Every
 * group that is no larger than a warp derives from cts_lanes, which has the members that they
 * share; `rank` counts from the mask's lowest lane. A larger tile has a named
 * barrier and exchanges values through shared memory, as on a GPU. A cluster is one block: launches
 * with larger ones are refused. Groups over several devices are not supported. */
#ifndef CTASCOPE_COOPERATIVE_GROUPS_H
#define CTASCOPE_COOPERATIVE_GROUPS_H
#define _COOPERATIVE_GROUPS_H_ 1

#include "cuda_runtime.h"

#ifndef __CUDA__
#error "cooperative_groups.h is for sources compiled as CUDA"
#endif

#define CTS_CG_ __device__ __forceinline__

namespace cooperative_groups
{

namespace details
{
CTS_CG_ unsigned int block_rank_of_thread()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
CTS_CG_ unsigned int block_size()
{
    return blockDim.x * blockDim.y * blockDim.z;
}

/* Any trivially copyable value, word by word, through `one`, a shuffle of an unsigned int. */
template <class T, class Shuffle> CTS_CG_ T shuffle_words(T value, Shuffle one)
{
    constexpr int words = ((int)sizeof(T) + 3) / 4;
    unsigned int buffer[words] = {};
    __builtin_memcpy(buffer, &value, sizeof value);
#pragma unroll
    for (int i = 0; i < words; i++) buffer[i] = one(buffer[i]);
    __builtin_memcpy(&value, buffer, sizeof value);
    return value;
}
} // namespace details

/* A group of at most 32 lanes of one warp. */
class cts_lanes
{
  public:
    CTS_CG_ void sync() const { __syncwarp(mask_); }
    CTS_CG_ unsigned int size() const { return (unsigned int)__popc(mask_); }
    CTS_CG_ unsigned int num_threads() const { return size(); }
    CTS_CG_ unsigned int thread_rank() const
    {
        return (unsigned int)__popc(mask_ & ((1u << cts_lane_()) - 1));
    }
    CTS_CG_ unsigned int meta_group_size() const { return meta_size_; }
    CTS_CG_ unsigned int meta_group_rank() const { return meta_rank_; }
    CTS_CG_ int any(int predicate) const { return __any_sync(mask_, predicate); }
    CTS_CG_ int all(int predicate) const { return __all_sync(mask_, predicate); }
    CTS_CG_ unsigned int ballot(int predicate) const
    {
        return pack(__ballot_sync(mask_, predicate));
    }
    template <class T> CTS_CG_ unsigned int match_any(T value) const
    {
        return pack(__match_any_sync(mask_, value));
    }
    template <class T> CTS_CG_ unsigned int match_all(T value, int &predicate) const
    {
        return pack(__match_all_sync(mask_, value, &predicate));
    }
    template <class T> CTS_CG_ T shfl(T value, int rank) const
    {
        const unsigned int mask = mask_;
        const int lane = lane_of((unsigned int)rank);
        return details::shuffle_words(
            value, [=](unsigned int word) { return __shfl_sync(mask, word, lane); });
    }
    /* Beyond an end of the group a thread gets its own value. */
    template <class T> CTS_CG_ T shfl_up(T value, unsigned int delta) const
    {
        const unsigned int rank = thread_rank();
        return shfl(value, (int)(rank >= delta ? rank - delta : rank));
    }
    template <class T> CTS_CG_ T shfl_down(T value, unsigned int delta) const
    {
        const unsigned int rank = thread_rank();
        return shfl(value, (int)(rank + delta < size() ? rank + delta : rank));
    }
    template <class T> CTS_CG_ T shfl_xor(T value, unsigned int bits) const
    {
        const unsigned int rank = thread_rank() ^ bits;
        return shfl(value, (int)(rank < size() ? rank : thread_rank()));
    }
    CTS_CG_ unsigned int cts_mask() const { return mask_; }
    CTS_CG_ unsigned int cts_count() const { return (unsigned int)__popc(mask_); }

  protected:
    unsigned int mask_, meta_size_, meta_rank_;

    CTS_CG_ cts_lanes(unsigned int mask, unsigned int meta_size, unsigned int meta_rank)
        : mask_(mask), meta_size_(meta_size), meta_rank_(meta_rank)
    {
    }
    /* The lane of a rank: in a run of lanes, counted from its first. */
    CTS_CG_ int lane_of(unsigned int rank) const
    {
        const unsigned int first = (unsigned int)__ffs((int)mask_) - 1;
        const unsigned int run = mask_ >> first;
        if ((run & (run + 1)) == 0) return (int)(first + rank);
        return (int)__fns(mask_, 0, (int)rank + 1);
    }
    /* Bits of a warp-wide mask, by rank. */
    CTS_CG_ unsigned int pack(unsigned int lanes) const
    {
        const unsigned int first = (unsigned int)__ffs((int)mask_) - 1;
        const unsigned int run = mask_ >> first;
        if ((run & (run + 1)) == 0) return (lanes & mask_) >> first;
        unsigned int result = 0, rank = 0;
        for (int lane = 0; lane < 32; lane++)
            if (mask_ >> lane & 1) result |= (lanes >> lane & 1) << rank++;
        return result;
    }
};

/* What a GPU needs for tiles of more than 32 threads; here they have their own. */
template <unsigned int MaxBlockSize = 1024> struct block_tile_memory {
    char cts_unused;
};

class thread_block
{
  public:
    CTS_CG_ static void sync() { __syncthreads(); }
    CTS_CG_ static unsigned int thread_rank() { return details::block_rank_of_thread(); }
    CTS_CG_ static unsigned int size() { return details::block_size(); }
    CTS_CG_ static unsigned int num_threads() { return details::block_size(); }
    CTS_CG_ static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    CTS_CG_ static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    CTS_CG_ static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    CTS_CG_ static dim3 dim_threads() { return group_dim(); }
    /* Arrival and wait are one barrier: waiting is what synchronises. */
    struct arrival_token {
    };
    CTS_CG_ arrival_token barrier_arrive() const { return {}; }
    CTS_CG_ void barrier_wait(arrival_token &&) const { __syncthreads(); }

  private:
    CTS_CG_ thread_block() {}
    friend CTS_CG_ thread_block this_thread_block();
};
CTS_CG_ thread_block this_thread_block()
{
    return thread_block();
}
template <unsigned int MaxBlockSize>
CTS_CG_ thread_block this_thread_block(block_tile_memory<MaxBlockSize> &)
{
    return this_thread_block();
}

class cluster_group
{
  public:
    struct arrival_token {
    };
    CTS_CG_ static void sync() { __syncthreads(); }
    CTS_CG_ static arrival_token barrier_arrive() { return {}; }
    CTS_CG_ static void barrier_wait() { __syncthreads(); }
    CTS_CG_ static void barrier_wait(arrival_token &&) { __syncthreads(); }
    CTS_CG_ static unsigned int block_rank() { return 0; }
    CTS_CG_ static unsigned int num_blocks() { return 1; }
    CTS_CG_ static dim3 block_index() { return dim3(0, 0, 0); }
    CTS_CG_ static dim3 dim_blocks() { return dim3(1, 1, 1); }
    CTS_CG_ static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    CTS_CG_ static dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    CTS_CG_ static unsigned int thread_rank() { return details::block_rank_of_thread(); }
    CTS_CG_ static unsigned int size() { return details::block_size(); }
    CTS_CG_ static unsigned int num_threads() { return details::block_size(); }
    CTS_CG_ static unsigned int query_shared_rank(const void *) { return 0; }
    template <class T> CTS_CG_ static T *map_shared_rank(T *address, int) { return address; }
};
CTS_CG_ cluster_group this_cluster()
{
    return cluster_group();
}

class grid_group
{
  public:
    /* Whether the launch was cooperative is known to the engine: sync() elsewhere is an error that
     * names it. */
    CTS_CG_ bool is_valid() const { return true; }
    CTS_CG_ void sync() const { __cts_grid_sync(); }
    CTS_CG_ static unsigned long long num_blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    CTS_CG_ static unsigned long long block_rank()
    {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    CTS_CG_ static unsigned long long size() { return num_blocks() * details::block_size(); }
    CTS_CG_ static unsigned long long num_threads() { return size(); }
    CTS_CG_ static unsigned long long thread_rank()
    {
        return block_rank() * details::block_size() + details::block_rank_of_thread();
    }
    CTS_CG_ static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    CTS_CG_ static dim3 dim_blocks() { return group_dim(); }
    CTS_CG_ static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }

  private:
    CTS_CG_ grid_group() {}
    friend CTS_CG_ grid_group this_grid();
};
CTS_CG_ grid_group this_grid()
{
    return grid_group();
}

class coalesced_group : public cts_lanes
{
  public:
    /* For partitions, which know the mask. */
    CTS_CG_ coalesced_group(unsigned int mask, unsigned int meta_size, unsigned int meta_rank)
        : cts_lanes(mask, meta_size, meta_rank)
    {
    }
};
CTS_CG_ coalesced_group coalesced_threads()
{
    return coalesced_group(__activemask(), 1, 0);
}

namespace details
{
/* The lanes of the calling thread's tile of `size` consecutive threads. */
CTS_CG_ unsigned int tile_mask(unsigned int size)
{
    const unsigned int lane = cts_lane_();
    return size >= 32 ? 0xffffffffu : ((1u << size) - 1) << (lane & ~(size - 1));
}
/* Lanes of the warp that exist: the last one of a block may be cut short. */
CTS_CG_ unsigned int existing_lanes()
{
    const unsigned int first = block_rank_of_thread() & ~31u, left = block_size() - first;
    return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}
} // namespace details

template <unsigned int Size, class Parent = void, bool Large = (Size > 32)>
class thread_block_tile : public cts_lanes
{
    static_assert((Size & (Size - 1)) == 0 && Size > 0, "a tile's size is a power of two");

  public:
    CTS_CG_ thread_block_tile(unsigned int mask, unsigned int meta_size, unsigned int meta_rank)
        : cts_lanes(mask, meta_size, meta_rank)
    {
    }
    template <class Other>
    CTS_CG_ thread_block_tile(const thread_block_tile<Size, Other> &other)
        : cts_lanes(other.cts_mask(), other.meta_group_size(), other.meta_group_rank())
    {
    }
    CTS_CG_ static constexpr unsigned int size() { return Size; }
    CTS_CG_ static constexpr unsigned int num_threads() { return Size; }
    CTS_CG_ unsigned int thread_rank() const { return cts_lane_() & (Size - 1); }
    /* The warp's own shuffles keep within a segment of Size lanes. */
    template <class T> CTS_CG_ T shfl(T value, int rank) const
    {
        const unsigned int mask = mask_;
        return details::shuffle_words(
            value, [=](unsigned int word) { return __shfl_sync(mask, word, rank, Size); });
    }
    template <class T> CTS_CG_ T shfl_up(T value, unsigned int delta) const
    {
        const unsigned int mask = mask_;
        return details::shuffle_words(
            value, [=](unsigned int word) { return __shfl_up_sync(mask, word, delta, Size); });
    }
    template <class T> CTS_CG_ T shfl_down(T value, unsigned int delta) const
    {
        const unsigned int mask = mask_;
        return details::shuffle_words(
            value, [=](unsigned int word) { return __shfl_down_sync(mask, word, delta, Size); });
    }
    template <class T> CTS_CG_ T shfl_xor(T value, unsigned int bits) const
    {
        const unsigned int mask = mask_;
        return details::shuffle_words(
            value, [=](unsigned int word) { return __shfl_xor_sync(mask, word, (int)bits, Size); });
    }
};

/* Of 64 to 1024 threads: several warps of the block. */
template <unsigned int Size, class Parent> class thread_block_tile<Size, Parent, true>
{
    static_assert(Size <= 1024 && (Size & (Size - 1)) == 0, "tiles have at most 1024 threads");

  public:
    CTS_CG_ thread_block_tile(unsigned int, unsigned int meta_size, unsigned int meta_rank)
        : meta_size_(meta_size), meta_rank_(meta_rank)
    {
    }
    template <class Other>
    CTS_CG_ thread_block_tile(const thread_block_tile<Size, Other> &other)
        : meta_size_(other.meta_group_size()), meta_rank_(other.meta_group_rank())
    {
    }
    /* Barrier 0 is the block's own, and there are 15 others: one too few for 16 tiles of 64. */
    CTS_CG_ void sync() const
    {
        const unsigned int tile = details::block_rank_of_thread() / Size;
        if (cts_count() == details::block_size()) {
            __syncthreads();
        } else {
            if (tile == 15)
                __assertfail("16 tiles of 64 threads are not supported on the CPU device",
                             "cooperative_groups.h", 0, "sync", sizeof(char));
            __barrier_sync_count(1 + tile, (cts_count() + 31) / 32 * 32);
        }
    }
    CTS_CG_ static constexpr unsigned int size() { return Size; }
    CTS_CG_ static constexpr unsigned int num_threads() { return Size; }
    CTS_CG_ static unsigned int thread_rank()
    {
        return details::block_rank_of_thread() & (Size - 1);
    }
    CTS_CG_ unsigned int meta_group_size() const { return meta_size_; }
    CTS_CG_ unsigned int meta_group_rank() const { return meta_rank_; }
    CTS_CG_ int any(int predicate) const
    {
        return count_of(__any_sync(cts_mask(), predicate)) != 0;
    }
    CTS_CG_ int all(int predicate) const
    {
        return count_of(__any_sync(cts_mask(), !predicate)) == 0;
    }
    template <class T> CTS_CG_ T shfl(T value, int rank) const
    {
        return exchange(value, (unsigned int)rank & (Size - 1));
    }
    template <class T> CTS_CG_ T shfl_up(T value, unsigned int delta) const
    {
        return exchange(value, thread_rank() >= delta ? thread_rank() - delta : thread_rank());
    }
    template <class T> CTS_CG_ T shfl_down(T value, unsigned int delta) const
    {
        const unsigned int rank = thread_rank();
        return exchange(value, rank + delta < cts_count() ? rank + delta : rank);
    }
    template <class T> CTS_CG_ T shfl_xor(T value, unsigned int bits) const
    {
        return exchange(value, (thread_rank() ^ bits) & (Size - 1));
    }
    /* Threads of the tile that exist, and the lanes of this thread's warp. */
    CTS_CG_ static unsigned int cts_count()
    {
        const unsigned int left =
            details::block_size() - details::block_rank_of_thread() / Size * Size;
        return left < Size ? left : Size;
    }
    CTS_CG_ static unsigned int cts_mask() { return details::existing_lanes(); }

  private:
    unsigned int meta_size_, meta_rank_;

    CTS_CG_ static unsigned int *scratch()
    {
        __shared__ unsigned int words[1024];
        return words;
    }
    template <class T> CTS_CG_ T exchange(T value, unsigned int rank) const
    {
        const unsigned int own = details::block_rank_of_thread(), first = own - thread_rank();
        return details::shuffle_words(value, [=](unsigned int word) {
            scratch()[own] = word;
            sync();
            const unsigned int got = scratch()[first + rank];
            sync();
            return got;
        });
    }
    /* The number of warps of the tile in which the flag, equal in each warp's lanes, is set. */
    CTS_CG_ unsigned int count_of(int flag) const
    {
        const unsigned int first = (details::block_rank_of_thread() - thread_rank()) / 32;
        unsigned int count = 0;
        if (cts_lane_() == 0) scratch()[details::block_rank_of_thread() / 32] = flag != 0;
        sync();
        for (unsigned int i = 0; i < (cts_count() + 31) / 32; i++) count += scratch()[first + i];
        sync();
        return count;
    }
};

/* Any of the groups of a block, with its kind known at run time. */
class thread_group
{
  public:
    CTS_CG_ thread_group(const thread_block &) : mask_(0), size_(details::block_size()) {}
    CTS_CG_ thread_group(const cts_lanes &lanes) : mask_(lanes.cts_mask()), size_(lanes.size()) {}
    CTS_CG_ void sync() const
    {
        if (mask_)
            __syncwarp(mask_);
        else
            __syncthreads();
    }
    CTS_CG_ unsigned int size() const { return size_; }
    CTS_CG_ unsigned int num_threads() const { return size_; }
    CTS_CG_ unsigned int thread_rank() const
    {
        return mask_ ? (unsigned int)__popc(mask_ & ((1u << cts_lane_()) - 1))
                     : details::block_rank_of_thread();
    }
    CTS_CG_ unsigned int cts_mask() const { return mask_; }

  private:
    unsigned int mask_; /* lanes of the warp; 0: the block */
    unsigned int size_;
};

/* ---- partitions ---- */

/* The parent's type is left out of the tile's: functions over thread_block_tile<N> take any. */
template <unsigned int Size> CTS_CG_ thread_block_tile<Size> tiled_partition(const thread_block &)
{
    return thread_block_tile<Size>(details::tile_mask(Size) & details::existing_lanes(),
                                   (details::block_size() + Size - 1) / Size,
                                   details::block_rank_of_thread() / Size);
}
template <unsigned int Size, unsigned int ParentSize, class Grandparent>
CTS_CG_ thread_block_tile<Size>
tiled_partition(const thread_block_tile<ParentSize, Grandparent> &parent)
{
    static_assert(Size <= ParentSize, "a tile is no larger than its parent");
    return thread_block_tile<Size>(details::tile_mask(Size) & parent.cts_mask(), ParentSize / Size,
                                   parent.thread_rank() / Size);
}
CTS_CG_ coalesced_group tiled_partition(const coalesced_group &parent, unsigned int size)
{
    unsigned int mask = 0, rank = 0;
    const unsigned int mine = parent.thread_rank() / size;
    for (unsigned int lane = 0; lane < 32; lane++)
        if (parent.cts_mask() >> lane & 1) mask |= (rank++ / size == mine ? 1u : 0u) << lane;
    return coalesced_group(mask, (parent.size() + size - 1) / size, mine);
}
/* Of a block or a run of lanes: `size` is a power of two of at most 32. */
CTS_CG_ thread_group tiled_partition(const thread_group &parent, unsigned int size)
{
    const unsigned int existing = parent.cts_mask() ? parent.cts_mask() : details::existing_lanes();
    return thread_group(coalesced_group(details::tile_mask(size) & existing, 1, 0));
}
template <class Label, class Group>
CTS_CG_ coalesced_group labeled_partition(const Group &parent, Label label)
{
    const unsigned int mask = __match_any_sync(parent.cts_mask(), label);
    /* Groups are ranked by their first lanes. */
    unsigned int groups = 0, before = 0;
    const unsigned int own_first = (unsigned int)__ffs((int)mask) - 1;
    const unsigned int is_first = __ballot_sync(parent.cts_mask(), cts_lane_() == own_first);
    groups = (unsigned int)__popc(is_first);
    before = (unsigned int)__popc(is_first & ((1u << own_first) - 1));
    return coalesced_group(mask, groups, before);
}
template <class Group> CTS_CG_ coalesced_group binary_partition(const Group &parent, bool predicate)
{
    const unsigned int set = __ballot_sync(parent.cts_mask(), predicate);
    const unsigned int mask = predicate ? set : parent.cts_mask() & ~set;
    const bool both = set != 0 && set != parent.cts_mask();
    return coalesced_group(mask, both ? 2 : 1, predicate && both ? 1 : 0);
}

/* ---- functions of groups ---- */

template <class Group> CTS_CG_ void sync(const Group &group)
{
    group.sync();
}
template <class Group> CTS_CG_ auto thread_rank(const Group &group) -> decltype(group.thread_rank())
{
    return group.thread_rank();
}
template <class Group> CTS_CG_ auto group_size(const Group &group) -> decltype(group.size())
{
    return group.size();
}

template <class T> struct plus {
    CTS_CG_ T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less { /* the smaller */
    CTS_CG_ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater { /* the larger */
    CTS_CG_ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T> struct bit_and {
    CTS_CG_ T operator()(T a, T b) const { return a & b; }
};
template <class T> struct bit_or {
    CTS_CG_ T operator()(T a, T b) const { return a | b; }
};
template <class T> struct bit_xor {
    CTS_CG_ T operator()(T a, T b) const { return a ^ b; }
};

/* All threads get the result. A tile with all its lanes: a butterfly; else: one value after the
 * other, in order of rank. */
template <class Group, class T, class Operator>
CTS_CG_ T reduce(const Group &group, T value, Operator &&combine)
{
    const unsigned int size = group.size();
    if ((size & (size - 1)) == 0 && group.cts_count() == size) {
        for (unsigned int bits = 1; bits < size; bits <<= 1)
            value = combine(value, group.shfl_xor(value, bits));
        return value;
    }
    const unsigned int count = group.cts_count();
    T total = group.shfl(value, 0);
    for (unsigned int rank = 1; rank < count; rank++)
        total = combine(total, group.shfl(value, (int)rank));
    return total;
}
template <class Group, class T, class Operator>
CTS_CG_ T inclusive_scan(const Group &group, T value, Operator &&combine)
{
    const unsigned int rank = group.thread_rank();
    for (unsigned int delta = 1; delta < group.size(); delta <<= 1) {
        const T before = group.shfl_up(value, delta);
        if (rank >= delta) value = combine(before, value);
    }
    return value;
}
template <class Group, class T> CTS_CG_ T inclusive_scan(const Group &group, T value)
{
    return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T, class Operator>
CTS_CG_ T exclusive_scan(const Group &group, T value, Operator &&combine)
{
    const T before = group.shfl_up(inclusive_scan(group, value, combine), 1);
    return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> CTS_CG_ T exclusive_scan(const Group &group, T value)
{
    return exclusive_scan(group, value, plus<T>());
}

template <class Group, class Function>
CTS_CG_ void invoke_one(const Group &group, Function &&function)
{
    if (group.thread_rank() == 0) function();
}
template <class Group, class Function>
CTS_CG_ auto invoke_one_broadcast(const Group &group, Function &&function) -> decltype(function())
{
    decltype(function()) result{};
    if (group.thread_rank() == 0) result = function();
    return group.shfl(result, 0);
}

/* ---- copies: done at once by the group's threads; wait() is the barrier ---- */

template <class Group>
CTS_CG_ void memcpy_async(const Group &group, void *target, const void *source, size_t size_bytes)
{
    const size_t rank = group.thread_rank(), count = group.size();
    if ((((size_t)target | (size_t)source | size_bytes) & 15) == 0) {
        typedef int quad __attribute__((ext_vector_type(4), may_alias));
        for (size_t i = rank; i < size_bytes / 16; i += count)
            ((quad *)target)[i] = ((const quad *)source)[i];
    } else if ((((size_t)target | (size_t)source | size_bytes) & 3) == 0) {
        typedef int word __attribute__((may_alias));
        for (size_t i = rank; i < size_bytes / 4; i += count)
            ((word *)target)[i] = ((const word *)source)[i];
    } else {
        for (size_t i = rank; i < size_bytes; i += count)
            ((char *)target)[i] = ((const char *)source)[i];
    }
}
template <class Group, class T>
CTS_CG_ void memcpy_async(const Group &group, T *target, const T *source, size_t size_bytes)
{
    memcpy_async(group, (void *)target, (const void *)source, size_bytes);
}
/* Counts of elements; the smaller one. */
template <class Group, class T>
CTS_CG_ void memcpy_async(const Group &group, T *target, size_t target_count, const T *source,
                          size_t source_count)
{
    memcpy_async(group, (void *)target, (const void *)source,
                 (target_count < source_count ? target_count : source_count) * sizeof(T));
}
template <class Group> CTS_CG_ void wait(const Group &group)
{
    group.sync();
}
template <unsigned int Stages, class Group> CTS_CG_ void wait_prior(const Group &group)
{
    group.sync();
}

} // namespace cooperative_groups

#undef CTS_CG_

#endif
