// Clusters by cooperative groups: a histogram in distributed shared memory, sums from block to block; and copies by the copy
// engine, which cuda::barrier counts.
//@ sm_90
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(1, 1, 1) alone(int *out) {
    __shared__ int mine;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) mine = 5 + blockIdx.x;
    cluster.sync();
    int *other = cluster.map_shared_rank(&mine, 0);
    out[4 * (blockIdx.x * blockDim.x + threadIdx.x)] = *other;
    out[4 * (blockIdx.x * blockDim.x + threadIdx.x) + 1] = cluster.num_blocks() * 10 + cluster.block_rank();
    out[4 * (blockIdx.x * blockDim.x + threadIdx.x) + 2] = cluster.num_threads();
    out[4 * (blockIdx.x * blockDim.x + threadIdx.x) + 3] = cluster.thread_rank();
    cluster.sync();
}
// run: alone grid=3 block=8
//= out: s32 sum([[5 + b, 10, 8, t] for b in range(3) for t in range(8)], [])
// out: s32 5 10 8 0 5 10 8 1 5 10 8 2 5 10 8 3 5 10 8 4 5 10 8 5 5 10 8 6 5 10 8 7 6 10 8 0 6 10 8 1 6 10 8 2 6 10 8 3 6 10 8 4 6 10 8 5 6 10 8 6 6 10 8 7 7 10 8 0 7 10 8 1 7 10 8 2 7 10 8 3 7 10 8 4 7 10 8 5 7 10 8 6 7 10 8 7

// A histogram whose bins are spread over the blocks of a cluster.
extern "C" __global__ void histogram(unsigned *bins, int per_block, const unsigned *in, int length) {
    extern __shared__ unsigned mine[];
    auto cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < per_block; i += blockDim.x) mine[i] = 0;
    cluster.sync();
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = thread; i < length; i += gridDim.x * blockDim.x) {
        unsigned value = in[i];
        unsigned *there = cluster.map_shared_rank(mine, value / per_block);
        atomicAdd(there + value % per_block, 1);
    }
    cluster.sync();
    unsigned *out = bins + cluster.block_rank() * per_block;
    for (int i = threadIdx.x; i < per_block; i += blockDim.x) atomicAdd(&out[i], mine[i]);
}
//# values = [(i * i * 7 + i * 13) % 64 for i in range(500)]
// run: histogram grid=8 block=64 cluster=4 shared=64
//= inout: u32 [0] * 64 -> [values.count(b) for b in range(64)]
// inout: u32 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -> 15 0 14 0 16 0 16 0 16 0 16 0 16 0 16 0 16 0 16 0 15 0 16 0 14 0 16 0 16 0 16 0 16 0 16 0 16 0 16 0 16 0 16 0 16 0 14 0 16 0 16 0 16 0 16 0 16 0 14 0 14 0 16 0
// arg: s32 16
//= in: u32 values
// in: u32 @1
// arg: s32 500

// Each block of the cluster sums its part; block 0 then reads the sums of the others. Arrival and wait are apart.
extern "C" __global__ void __cluster_dims__(2, 2, 1) sums(const int *in, int *out) {
    __shared__ int parts[64];
    __shared__ int sum;
    auto cluster = cg::this_cluster();
    auto block = cg::this_thread_block();
    int number = block.thread_rank();
    int at = (cluster.block_rank() + 4 * (blockIdx.x / 2)) * 64 + number;
    parts[number] = in[at];
    block.sync();
    for (int half = 32; half > 0; half /= 2) {
        if (number < half) parts[number] += parts[number + half];
        block.sync();
    }
    if (number == 0) sum = parts[0] * (1 + cluster.block_rank());
    auto token = cluster.barrier_arrive();
    cluster.barrier_wait(std::move(token));
    if (cluster.block_rank() == 0 && number < (int)cluster.num_blocks()) {
        int *theirs = cluster.map_shared_rank(&sum, number);
        out[4 * (blockIdx.x / 2) + number] = *theirs + 1000 * cluster.query_shared_rank(theirs);
    }
    cluster.sync();
}
//# numbers = [(i * 37) % 101 - 50 for i in range(512)]
//# part = lambda b: sum(numbers[64 * b:64 * b + 64])
// run: sums grid=4,2 block=8,8
//= in: s32 numbers
// in: s32 @2
//= out: s32 [part(b) * (1 + b % 4) + 1000 * (b % 4) for b in range(8)]
// out: s32 -15 872 2267 2756 -9 1086 1982 2780

// Tiles come by the copy engine, two at a time, and go back the same way.
extern "C" __global__ void scale(const float *in, float *out, int tiles, float factor) {
    constexpr int elements = 64;
    __shared__ alignas(128) float tile[2][elements];
    __shared__ alignas(128) float result[elements];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> full[2];
    if (threadIdx.x == 0) {
        init(&full[0], blockDim.x);
        init(&full[1], blockDim.x);
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    }
    __syncthreads();
    auto fetch = [&](int index) {
        auto &barrier = full[index % 2];
        if (threadIdx.x == 0) {
            cuda::device::memcpy_async_tx(tile[index % 2], in + (blockIdx.x * tiles + index) * elements,
                                          cuda::aligned_size_t<16>(sizeof(tile[0])), barrier);
            return cuda::device::barrier_arrive_tx(barrier, 1, sizeof(tile[0]));
        }
        return barrier.arrive();
    };
    cuda::barrier<cuda::thread_scope_block>::arrival_token tokens[2];
    tokens[0] = fetch(0);
    for (int index = 0; index < tiles; index++) {
        if (index + 1 < tiles) tokens[(index + 1) % 2] = fetch(index + 1);
        full[index % 2].wait(std::move(tokens[index % 2]));
        for (int i = threadIdx.x; i < elements; i += blockDim.x) result[i] = tile[index % 2][i] * factor;
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared,
                                     out + (blockIdx.x * tiles + index) * elements, result, sizeof(result));
            cuda::ptx::cp_async_bulk_commit_group();
            cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
        }
        __syncthreads();
    }
}
//# reals = [((i * 29) % 17) / 4 for i in range(384)]
// run: scale grid=2 block=32
//= in: f32 reals
// in: f32 @3
//= out: f32 [x * 2.5 for x in reals]
// out: f32 @4
// arg: s32 3
// arg: f32 2.5

// memcpy_async of all threads: the library asks the copy engine for it.
extern "C" __global__ void gather(const int *in, int *out) {
    __shared__ alignas(16) int tile[128];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> full;
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&full, block.size());
    block.sync();
    cuda::memcpy_async(block, tile, in + blockIdx.x * 128, cuda::aligned_size_t<16>(sizeof(tile)), full);
    full.arrive_and_wait();
    for (int i = threadIdx.x; i < 128; i += blockDim.x) out[blockIdx.x * 128 + i] = tile[127 - i];
}
//# ints = [(i * i) % 1009 for i in range(256)]
// run: gather grid=2 block=64
//= in: s32 ints
// in: s32 0 1 4 9 16 25 36 49 64 81 100 121 144 169 196 225 256 289 324 361 400 441 484 529 576 625 676 729 784 841 900 961 15 80 147 216 287 360 435 512 591 672 755 840 927 7 98 191 286 383 482 583 686 791 898 1007 109 222 337 454 573 694 817 942 60 189 320 453 588 725 864 1005 139 284 431 580 731 884 30 187 346 507 670 835 1002 162 333 506 681 858 28 209 392 577 764 953 135 328 523 720 919 111 314 519 726 935 137 350 565 782 1001 213 436 661 888 108 339 572 807 35 274 515 758 1003 241 490 741 994 240 497 756 8 271 536 803 63 334 607 882 150 429 710 993 269 556 845 127 420 715 3 302 603 906 202 509 818 120 433 748 56 375 696 10 335 662 991 313 646 981 309 648 989 323 668 6 355 706 50 405 762 112 473 836 192 559 928 290 663 29 406 785 157 540 925 303 692 74 467 862 250 649 41 444 849 247 656 58 471 886 294 713 125 548 973 391 820 242 675 101 538 977 409 852 288 735 175 626 70 525 982 432 893 347 812 270 739 201 674 140 617 87 568 42 527 5 494 985 469 964 452 951 443 946 442 949 449
//= out: s32 [ints[128 * b + 127 - i] for b in range(2) for i in range(128)]
// out: s32 994 741 490 241 1003 758 515 274 35 807 572 339 108 888 661 436 213 1001 782 565 350 137 935 726 519 314 111 919 720 523 328 135 953 764 577 392 209 28 858 681 506 333 162 1002 835 670 507 346 187 30 884 731 580 431 284 139 1005 864 725 588 453 320 189 60 942 817 694 573 454 337 222 109 1007 898 791 686 583 482 383 286 191 98 7 927 840 755 672 591 512 435 360 287 216 147 80 15 961 900 841 784 729 676 625 576 529 484 441 400 361 324 289 256 225 196 169 144 121 100 81 64 49 36 25 16 9 4 1 0 449 949 442 946 443 951 452 964 469 985 494 5 527 42 568 87 617 140 674 201 739 270 812 347 893 432 982 525 70 626 175 735 288 852 409 977 538 101 675 242 820 391 973 548 125 713 294 886 471 58 656 247 849 444 41 649 250 862 467 74 692 303 925 540 157 785 406 29 663 290 928 559 192 836 473 112 762 405 50 706 355 6 668 323 989 648 309 981 646 313 991 662 335 10 696 375 56 748 433 120 818 509 202 906 603 302 3 715 420 127 845 556 269 993 710 429 150 882 607 334 63 803 536 271 8 756 497 240
