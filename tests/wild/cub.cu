// NVIDIA's own parts, as programs use them: block-wide sorts, scans and exchanges of CUB, its scan over blocks that look back, and
// the pipelines, barriers and atomics of libcu++. None of it has a fault, but for one read too many.
//@ sm_75 sm_90
#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>

// A scan over blocks in one pass: each block publishes its sum, and looks back over those before it.
extern "C" __global__ void __launch_bounds__(128) look_back(const int *in, int *out, unsigned *ready, unsigned long long *memory) {
    using Tiles = cub::ScanTileState<int>;
    using Prefix = cub::TilePrefixCallbackOp<int, cuda::std::plus<>, Tiles>;
    using Load = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<int, 128, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<int, 128>;
    __shared__ union { typename Load::TempStorage load; typename Store::TempStorage store; } moves;
    __shared__ typename Scan::TempStorage scan;
    __shared__ typename Prefix::TempStorage prefix;
    Tiles tiles;
    tiles.Init(gridDim.x, memory, 1 << 20);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(*ready);
    if (blockIdx.x == 0) {
        tiles.InitializeStatus(gridDim.x);
        __syncthreads();
        if (threadIdx.x == 0) flag.store(1, cuda::memory_order_release);
    } else {
        if (threadIdx.x == 0) while (flag.load(cuda::memory_order_acquire) == 0) __nanosleep(20);
    }
    __syncthreads();
    int items[4];
    Load(moves.load).Load(in + blockIdx.x * 512, items);
    __syncthreads();
    if (blockIdx.x == 0) {
        int sum;
        Scan(scan).ExclusiveSum(items, items, sum);
        if (threadIdx.x == 0) tiles.SetInclusive(0, sum);
    } else {
        Prefix before(tiles, prefix, cuda::std::plus<>{}, blockIdx.x);
        Scan(scan).ExclusiveSum(items, items, before);
    }
    Store(moves.store).Store(out + blockIdx.x * 512, items);
}
//# def scanned(x): return [sum(x[:i]) for i in range(len(x))]
//# y = [(i * 13 + 5) % 17 - 4 for i in range(3 * 512)]
// run: look_back grid=3 block=128
//= in: s32 y
// in: s32 @1
//= out: s32 scanned(y)
// out: s32 @2
// inout: u32 0 -> 1
// out: u64 *x64

// Sorts 512 pairs by the digits of their keys; then their keys by comparison, downwards.
extern "C" __global__ void __launch_bounds__(128) sorts(const unsigned *keys, unsigned *sorted, unsigned *from, int *downwards) {
    using Digits = cub::BlockRadixSort<unsigned, 128, 4, unsigned>;
    using Merge = cub::BlockMergeSort<int, 128, 4>;
    __shared__ typename Digits::TempStorage digits;
    __shared__ typename Merge::TempStorage merge;
    unsigned key[4], value[4];
    int compared[4];
    for (int i = 0; i < 4; i++) {
        value[i] = threadIdx.x * 4 + i;
        key[i] = keys[value[i]];
        compared[i] = key[i];
    }
    Digits(digits).SortBlockedToStriped(key, value);
    Merge(merge).Sort(compared, [](int a, int b) { return a > b; });
    for (int i = 0; i < 4; i++) {
        sorted[i * 128 + threadIdx.x] = key[i];
        from[i * 128 + threadIdx.x] = value[i];
        downwards[threadIdx.x * 4 + i] = compared[i];
    }
}
//# k = [(i * 7919 + 13) % 509 * 8388593 % 2**32 for i in range(512)]
//# order = sorted(range(512), key=lambda i: k[i])
//# signed = [x - 2**32 if x >= 2**31 else x for x in k]
// run: sorts block=128
// Merging reads one key beyond the last of its keys in shared memory, where nothing has written, and drops it when it compares the ends. That is the program's
// doing, not the compiler's; memory is told of where it is read, not where the value matters.
// blamed: unwritten
//= in: u32 k
// in: u32 @3
//= out: u32 [k[i] for i in order]
// out: u32 @4
//= out: u32 order
// out: u32 @5
//= out: s32 sorted(signed, reverse=True)
// out: s32 @6

// Reductions in three ways, a histogram, neighbours, a segmented sum of warps.
extern "C" __global__ void __launch_bounds__(128) sums(const int *in, int *three, int *counts, int *heads, int *segments) {
    using Raking = cub::BlockReduce<int, 128, cub::BLOCK_REDUCE_RAKING>;
    using Any = cub::BlockReduce<int, 128, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>;
    using Warps = cub::BlockReduce<int, 128, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
    using Histogram = cub::BlockHistogram<unsigned char, 128, 1, 16, cub::BLOCK_HISTO_SORT>;
    using Heads = cub::BlockDiscontinuity<int, 128>;
    using Warp = cub::WarpReduce<int>;
    __shared__ typename Raking::TempStorage raking;
    __shared__ typename Any::TempStorage any;
    __shared__ typename Warps::TempStorage warps;
    __shared__ typename Histogram::TempStorage histogram;
    __shared__ typename Heads::TempStorage discontinuity;
    __shared__ typename Warp::TempStorage warp[4];
    __shared__ int bins[16];
    int x[1] = {in[threadIdx.x]}, head[1];
    int a = Raking(raking).Sum(x[0]), b = Any(any).Reduce(x[0], cuda::maximum<>{}), c = Warps(warps).Sum(x[0], 100);
    if (threadIdx.x == 0) three[0] = a, three[1] = b, three[2] = c;
    unsigned char bin[1] = {(unsigned char)(x[0] & 15)};
    Histogram(histogram).Histogram(bin, bins);
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x] = bins[threadIdx.x];
    Heads(discontinuity).FlagHeads(head, x, cuda::std::not_equal_to<>{});
    heads[threadIdx.x] = head[0];
    int sum = Warp(warp[threadIdx.x / 32]).HeadSegmentedSum(x[0], head[0]);
    segments[threadIdx.x] = head[0] || threadIdx.x % 32 == 0 ? sum : -1;
}
//# z = [i // 5 % 23 for i in range(128)]
//# first = [int(i == 0 or z[i] != z[i - 1]) for i in range(128)]
//# def segment(i):
//#     if not first[i] and i % 32: return -1
//#     end = i + 1
//#     while end % 32 and not first[end]: end += 1
//#     return sum(z[i:end])
// run: sums block=128
//= in: s32 z
// in: s32 0 0 0 0 0 1 1 1 1 1 2 2 2 2 2 3 3 3 3 3 4 4 4 4 4 5 5 5 5 5 6 6 6 6 6 7 7 7 7 7 8 8 8 8 8 9 9 9 9 9 10 10 10 10 10 11 11 11 11 11 12 12 12 12 12 13 13 13 13 13 14 14 14 14 14 15 15 15 15 15 16 16 16 16 16 17 17 17 17 17 18 18 18 18 18 19 19 19 19 19 20 20 20 20 20 21 21 21 21 21 22 22 22 22 22 0 0 0 0 0 1 1 1 1 1 2 2 2
//= out: s32 [sum(z), max(z), sum(z[:100])]
// out: s32 1276 22 950
//= out: s32 [sum(v % 16 == b for v in z) for b in range(16)]
// out: s32 15 15 13 10 10 10 10 5 5 5 5 5 5 5 5 5
//= out: s32 first
// out: s32 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0
//= out: s32 [segment(i) for i in range(128)]
// out: s32 0 -1 -1 -1 -1 5 -1 -1 -1 -1 10 -1 -1 -1 -1 15 -1 -1 -1 -1 20 -1 -1 -1 -1 25 -1 -1 -1 -1 12 -1 18 -1 -1 35 -1 -1 -1 -1 40 -1 -1 -1 -1 45 -1 -1 -1 -1 50 -1 -1 -1 -1 55 -1 -1 -1 -1 48 -1 -1 -1 12 65 -1 -1 -1 -1 70 -1 -1 -1 -1 75 -1 -1 -1 -1 80 -1 -1 -1 -1 85 -1 -1 -1 -1 90 -1 -1 -1 -1 19 76 -1 -1 -1 100 -1 -1 -1 -1 105 -1 -1 -1 -1 110 -1 -1 -1 -1 0 -1 -1 -1 -1 5 -1 -1 -1 -1 6 -1 -1

// Two stages of copies that go on while the block computes.
extern "C" __global__ void __launch_bounds__(64) pipeline(const float *in, float *out) {
    auto block = cooperative_groups::this_thread_block();
    __shared__ alignas(16) float stage[2][64 * 4];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto copies = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int fetched = 0, used = 0; used < 4; used++) {
        for (; fetched < 4 && fetched < used + 2; fetched++) {
            copies.producer_acquire();
            cuda::memcpy_async(block, stage[fetched % 2], in + fetched * 256, cuda::aligned_size_t<16>(1024), copies);
            copies.producer_commit();
        }
        copies.consumer_wait();
        for (int i = 0; i < 4; i++) sum += stage[used % 2][(threadIdx.x * 4 + i * 5) % 256];
        copies.consumer_release();
    }
    out[threadIdx.x] = sum;
}
//# w = [(i * 29) % 64 / 4 for i in range(1024)]
// run: pipeline block=64
//= in: f32 w
// in: f32 @7
//= out: f32 [sum(w[u * 256 + (t * 4 + i * 5) % 256] for u in range(4) for i in range(4)) for t in range(64)]
// out: f32 102.0 118.0 134.0 150.0 102.0 118.0 134.0 150.0 102.0 118.0 134.0 150.0 102.0 118.0 134.0 150.0 102.0 118.0 134.0 150.0 102.0 118.0 134.0 150.0 102.0 118.0 134.0 150.0 102.0 118.0 134.0 150.0 102.0 118.0 134.0 150.0 102.0 118.0 134.0 150.0 102.0 118.0 134.0 150.0 102.0 118.0 134.0 150.0 102.0 118.0 134.0 150.0 102.0 118.0 134.0 150.0 102.0 118.0 134.0 150.0 102.0 118.0 134.0 150.0

// A barrier whose threads arrive before they wait, and one that counts down what a copy has brought.
extern "C" __global__ void __launch_bounds__(64) barriers(const int *in, int *out) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ cuda::std::aligned_storage_t<sizeof(Barrier), alignof(Barrier)> place;
    Barrier &bar = reinterpret_cast<Barrier &>(place);
    __shared__ int x[64], copied[64];
    auto block = cooperative_groups::this_thread_block();
    if (threadIdx.x == 0) init(&bar, 64);
    block.sync();
    x[threadIdx.x] = in[threadIdx.x] * 3;
    auto token = bar.arrive();
    int mine = in[threadIdx.x] + 1;
    bar.wait(cuda::std::move(token));
    int sum = x[63 - threadIdx.x] + mine;
    cuda::memcpy_async(block, copied, in, sizeof copied, bar);
    bar.arrive_and_wait();
    out[threadIdx.x] = sum + copied[(threadIdx.x + 7) % 64];
}
// run: barriers block=64
//= in: s32 z[:64]
// in: s32 0 0 0 0 0 1 1 1 1 1 2 2 2 2 2 3 3 3 3 3 4 4 4 4 4 5 5 5 5 5 6 6 6 6 6 7 7 7 7 7 8 8 8 8 8 9 9 9 9 9 10 10 10 10 10 11 11 11 11 11 12 12 12 12
//= out: s32 [z[63 - t] * 3 + z[t] + 1 + z[(t + 7) % 64] for t in range(64)]
// out: s32 38 38 38 39 36 37 37 37 38 35 36 36 36 37 34 35 35 35 36 33 34 34 34 35 32 33 33 33 34 31 32 32 32 33 30 31 31 31 32 29 30 30 30 31 28 29 29 29 30 27 28 28 28 29 26 27 27 15 15 12 13 13 14 14

// Atomics of every order; a lock; a value that a fence publishes.
extern "C" __global__ void orders(int *cells, int *out) {
    using Atomic = cuda::atomic_ref<int, cuda::thread_scope_device>;
    Atomic count(cells[0]), lock(cells[1]), flag(cells[3]), largest(cells[5]);
    count.fetch_add(threadIdx.x, cuda::memory_order_seq_cst);
    largest.fetch_max(int(blockIdx.x * blockDim.x + threadIdx.x), cuda::memory_order_relaxed);
    if (threadIdx.x == 0) {
        int expected = 0;
        while (!lock.compare_exchange_weak(expected, 1, cuda::memory_order_acquire)) expected = 0;
        cells[2] += 5;
        lock.store(0, cuda::memory_order_release);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        cells[4] = 77;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        flag.store(1, cuda::memory_order_relaxed);
    }
    if (threadIdx.x == 0) {
        while (flag.load(cuda::memory_order_relaxed) == 0) {}
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        out[blockIdx.x] = cells[4] + blockIdx.x;
    }
}
// run: orders grid=4 block=40
// inout: s32 0 0 0 0 0 0 -> 3120 0 20 1 77 159
// out: s32 77 78 79 80
