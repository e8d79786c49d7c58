// CUDA C++ twin of `kernels/src/scan.rs`, `scan_tiles.rs` and `scan_compact.rs`: prefix sums and
// stream compaction. CUB's are in `cub.cu`.
// By hand: nvcc -ptx -arch=sm_90 -o scan.ptx docs/compare/scan.cu; host scan --ptx scan.ptx

#include <cstddef>
#include <cstdint>

// A slice is two parameters: its first element and its length.
#define VALUES const unsigned* __restrict__ values, size_t length
#define WORDS const uint4* __restrict__ values, size_t length
#define SUMS unsigned* sums, size_t sum_length
#define WORDS_OF_SUMS uint4* sums, size_t sum_length
#define TOTALS unsigned* totals, size_t total_length
#define EARLIER_TOTALS const unsigned* __restrict__ totals, size_t total_length
#define LOOK_BACK unsigned *ticket, uint64_t *table, unsigned number

constexpr unsigned Block = 256, TreeBlock = 128, Tile = 4096, Full = 0xffffffffu;

// A lane's sum of all values up to its own, and the sum of all 32.
__device__ __forceinline__ unsigned scan_warp(unsigned value, unsigned* total) {
    unsigned sum = value;
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const unsigned earlier = __shfl_up_sync(Full, sum, distance);
        if (threadIdx.x % 32 >= distance) sum += earlier;
    }
    *total = __shfl_sync(Full, sum, 31);
    return sum;
}

// The total of the warps before this one, and of all.
__device__ __forceinline__ unsigned earlier_warps(const unsigned* totals, unsigned warp,
                                                  unsigned* all) {
    unsigned before = 0;
    *all = 0;
#pragma unroll
    for (unsigned other = 0; other < 8; ++other) {
        before += other < warp ? totals[other] : 0;
        *all += totals[other];
    }
    return before;
}

extern "C" __global__ void __launch_bounds__(256) scan_hillis_steele(VALUES, SUMS, TOTALS) {
    __shared__ unsigned even[256], odd[256];
    const unsigned t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * Block + t;
    even[t] = i < length ? values[i] : 0;
    __syncthreads();
    for (unsigned distance = 1; distance < Block; distance *= 4) {
        odd[t] = even[t] + (t >= distance ? even[t - distance] : 0);
        __syncthreads();
        even[t] = odd[t] + (t >= 2 * distance ? odd[t - 2 * distance] : 0);
        __syncthreads();
    }
    if (i < sum_length) sums[i] = even[t];
    if (t == 0 && blockIdx.x < total_length) totals[blockIdx.x] = even[255];
}

template <class Place>
__device__ __forceinline__ void tree(VALUES, SUMS, TOTALS, Place place) {
    __shared__ unsigned stage[2 * Block];
    const unsigned block = blockIdx.x, t = threadIdx.x;
    const size_t first = size_t(block) * Block + t, second = first + TreeBlock;
    const unsigned own[2] = {first < length ? values[first] : 0,
                             second < length ? values[second] : 0};
    stage[place(t)] = own[0];
    stage[place(t + TreeBlock)] = own[1];
    unsigned pairs = TreeBlock, distance = 1;
    for (; pairs > 0; pairs /= 2, distance *= 2) {
        __syncthreads();
        if (t < pairs) {
            const unsigned left = 2 * distance * t + distance - 1;
            stage[place(left + distance)] += stage[place(left)];
        }
    }
    if (t == 0) {
        if (block < total_length) totals[block] = stage[place(Block - 1)];
        stage[place(Block - 1)] = 0;
    }
    for (pairs = 1, distance = TreeBlock; pairs < Block; pairs *= 2, distance /= 2) {
        __syncthreads();
        if (t < pairs) {
            const unsigned left = 2 * distance * t + distance - 1;
            const unsigned before = stage[place(left + distance)];
            stage[place(left + distance)] = before + stage[place(left)];
            stage[place(left)] = before;
        }
    }
    __syncthreads();
    if (first < sum_length) sums[first] = stage[place(t)] + own[0];
    if (second < sum_length) sums[second] = stage[place(t + TreeBlock)] + own[1];
}

extern "C" __global__ void __launch_bounds__(128) scan_blelloch(VALUES, SUMS, TOTALS) {
    tree(values, length, sums, sum_length, totals, total_length, [](unsigned i) { return i; });
}

extern "C" __global__ void __launch_bounds__(128)
    scan_padded(VALUES, SUMS, TOTALS, unsigned log_banks) {
    tree(values, length, sums, sum_length, totals, total_length,
         [=](unsigned i) { return i + (i >> log_banks); });
}

extern "C" __global__ void __launch_bounds__(256) scan_shuffle(VALUES, SUMS, TOTALS) {
    __shared__ unsigned warp_totals[8];
    const unsigned t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * Block + t;
    unsigned warp_total, all;
    const unsigned sum = scan_warp(i < length ? values[i] : 0, &warp_total);
    if (t % 32 == 0) warp_totals[t / 32] = warp_total;
    __syncthreads();
    const unsigned before = earlier_warps(warp_totals, t / 32, &all);
    if (i < sum_length) sums[i] = before + sum;
    if (t == 0 && blockIdx.x < total_length) totals[blockIdx.x] = all;
}

extern "C" __global__ void __launch_bounds__(256) scan_add(EARLIER_TOTALS, SUMS) {
    const size_t i = size_t(blockIdx.x) * Block + threadIdx.x;
    if (blockIdx.x > 0 && blockIdx.x - 1 < total_length && i < sum_length) {
        sums[i] += totals[blockIdx.x - 1];
    }
}

__device__ __forceinline__ uint4 plus(uint4 word, unsigned more) {
    return {word.x + more, word.y + more, word.z + more, word.w + more};
}

// A thread's part of a tile: the sums of its warp's values up to each of its own.
struct Part {
    size_t words;
    uint4 sums[4];
    unsigned total;

    __device__ __forceinline__ Part(unsigned tile, WORDS) : total(0) {
        words = tile * (Tile / 4) + threadIdx.x / 32 * 128 + threadIdx.x % 32;
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            const size_t word = words + 32 * k;
            sums[k] = word < length ? values[word] : uint4{0, 0, 0, 0};
        }
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            uint4& word = sums[k];
            word.y += word.x;
            word.z += word.y;
            word.w += word.z;
            unsigned of_round;
            const unsigned before = total + scan_warp(word.w, &of_round) - word.w;
            word = plus(word, before);
            total += of_round;
        }
    }

    __device__ __forceinline__ void write(unsigned before, WORDS_OF_SUMS) const {
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            const size_t word = words + 32 * k;
            if (word < sum_length) sums[word] = plus(this->sums[k], before);
        }
    }
};

__device__ __forceinline__ unsigned earlier_tiles(EARLIER_TOTALS, unsigned tile) {
    return tile > 0 && tile - 1 < total_length ? totals[tile - 1] : 0;
}

extern "C" __global__ void __launch_bounds__(256) scan_totals(WORDS, TOTALS) {
    __shared__ unsigned warp_totals[8];
    const unsigned t = threadIdx.x;
    unsigned sum = 0, all;
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
        const size_t i = size_t(blockIdx.x) * (Tile / 4) + 256 * k + t;
        if (i < length) {
            const uint4 word = values[i];
            sum += word.x + word.y + word.z + word.w;
        }
    }
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(Full, sum, distance);
    }
    if (t % 32 == 0) warp_totals[t / 32] = sum;
    __syncthreads();
    earlier_warps(warp_totals, 8, &all);
    if (t == 0 && blockIdx.x < total_length) totals[blockIdx.x] = all;
}

extern "C" __global__ void __launch_bounds__(256)
    scan_from(WORDS, EARLIER_TOTALS, WORDS_OF_SUMS) {
    __shared__ unsigned warp_totals[8];
    const unsigned tile = blockIdx.x, t = threadIdx.x;
    const Part part(tile, values, length);
    if (t % 32 == 0) warp_totals[t / 32] = part.total;
    __syncthreads();
    unsigned all;
    const unsigned warps = earlier_warps(warp_totals, t / 32, &all);
    part.write(earlier_tiles(totals, total_length, tile) + warps, sums, sum_length);
}

__device__ __forceinline__ void publish(uint64_t* entry, unsigned status, unsigned value) {
    const uint64_t word = uint64_t(status) << 32 | value;
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(entry), "l"(word) : "memory");
}

__device__ __forceinline__ unsigned find(const uint64_t* entry, unsigned number, unsigned* value) {
    uint64_t word;
    do {
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(entry) : "memory");
    } while (unsigned(word >> 32) / 2 != number);
    *value = unsigned(word);
    return unsigned(word >> 32);
}

// The sum of a block's own value and those of the blocks before it, by one thread.
__device__ __forceinline__ unsigned look_back(uint64_t* table, unsigned block, unsigned own,
                                              unsigned number) {
    unsigned sum = own;
    publish(table + block, 2 * number, sum);
    for (unsigned at = block; at > 0;) {
        at -= 1;
        unsigned value;
        const unsigned status = find(table + at, number, &value);
        sum += value;
        if (status % 2 == 1) break;
    }
    publish(table + block, 2 * number + 1, sum);
    return sum;
}

// The same by a warp.
__device__ __forceinline__ unsigned look_back_by_warp(uint64_t* table, unsigned block, unsigned own,
                                                      unsigned number) {
    const unsigned lane = threadIdx.x % 32;
    if (lane == 0) publish(table + block, 2 * number, own);
    unsigned sum = own;
    for (unsigned end = block; end > 0;) {
        unsigned status = 1, value = 0;
        if (lane < end) status = find(table + (end - 1 - lane), number, &value);
        const unsigned found = __ballot_sync(Full, status % 2 == 1);
        const unsigned nearest = found == 0 ? 32 : __ffs(found) - 1;
        unsigned counted = lane <= nearest ? value : 0;
#pragma unroll
        for (unsigned distance = 16; distance > 0; distance /= 2) {
            counted += __shfl_xor_sync(Full, counted, distance);
        }
        sum += counted;
        end = found == 0 ? end - 32 : 0;
    }
    if (lane == 0) publish(table + block, 2 * number + 1, sum);
    return sum;
}

// The tile that this block takes.
__device__ __forceinline__ unsigned take(unsigned* ticket) {
    __shared__ unsigned tile;
    if (threadIdx.x == 0) tile = atomicInc(ticket, gridDim.x - 1);
    __syncthreads();
    const unsigned taken = tile;
    __syncthreads();
    return taken;
}

extern "C" __global__ void __launch_bounds__(256) scan_single(WORDS, WORDS_OF_SUMS, LOOK_BACK) {
    __shared__ unsigned warp_totals[8], before;
    const unsigned tile = take(ticket), t = threadIdx.x;
    const Part part(tile, values, length);
    if (t % 32 == 0) warp_totals[t / 32] = part.total;
    __syncthreads();
    unsigned all;
    if (t == 0) {
        earlier_warps(warp_totals, 8, &all);
        before = look_back(table, tile, all, number) - all;
    }
    __syncthreads();
    const unsigned warps = earlier_warps(warp_totals, t / 32, &all);
    part.write(before + warps, sums, sum_length);
}

extern "C" __global__ void __launch_bounds__(256) scan_window(WORDS, WORDS_OF_SUMS, LOOK_BACK) {
    __shared__ unsigned warp_totals[8], before;
    const unsigned tile = take(ticket), t = threadIdx.x;
    const Part part(tile, values, length);
    if (t % 32 == 0) warp_totals[t / 32] = part.total;
    __syncthreads();
    unsigned all;
    if (t < 32) {
        earlier_warps(warp_totals, 8, &all);
        const unsigned sum = look_back_by_warp(table, tile, all, number);
        if (t == 0) before = sum - all;
    }
    __syncthreads();
    const unsigned warps = earlier_warps(warp_totals, t / 32, &all);
    part.write(before + warps, sums, sum_length);
}

// A thread's values of a tile, and how many its warp keeps.
struct Kept {
    unsigned values[16], total;

    __device__ __forceinline__ Kept(unsigned tile, VALUES) : total(0) {
        const size_t first = tile * Tile + threadIdx.x / 32 * 512 + threadIdx.x % 32;
#pragma unroll
        for (unsigned k = 0; k < 16; ++k) {
            const size_t i = first + 32 * k;
            this->values[k] = i < length ? values[i] : 0;
        }
#pragma unroll
        for (unsigned k = 0; k < 16; ++k) {
            total += __popc(__ballot_sync(Full, this->values[k] != 0));
        }
    }

    __device__ __forceinline__ void write(unsigned before, unsigned* kept,
                                          size_t kept_length) const {
        const unsigned earlier = (1u << threadIdx.x % 32) - 1;
#pragma unroll
        for (unsigned k = 0; k < 16; ++k) {
            const unsigned lanes = __ballot_sync(Full, values[k] != 0);
            const unsigned place = before + __popc(lanes & earlier);
            if (values[k] != 0 && place < kept_length) kept[place] = values[k];
            before += __popc(lanes);
        }
    }
};

extern "C" __global__ void __launch_bounds__(256) scan_compact_count(VALUES, TOTALS) {
    __shared__ unsigned warp_totals[8];
    const unsigned t = threadIdx.x;
    const Kept part(blockIdx.x, values, length);
    if (t % 32 == 0) warp_totals[t / 32] = part.total;
    __syncthreads();
    unsigned all;
    earlier_warps(warp_totals, 8, &all);
    if (t == 0 && blockIdx.x < total_length) totals[blockIdx.x] = all;
}

extern "C" __global__ void __launch_bounds__(256)
    scan_compact_scatter(VALUES, EARLIER_TOTALS, unsigned* kept, size_t kept_length) {
    __shared__ unsigned warp_totals[8];
    const unsigned tile = blockIdx.x, t = threadIdx.x;
    const Kept part(tile, values, length);
    if (t % 32 == 0) warp_totals[t / 32] = part.total;
    __syncthreads();
    unsigned all;
    const unsigned warps = earlier_warps(warp_totals, t / 32, &all);
    part.write(earlier_tiles(totals, total_length, tile) + warps, kept, kept_length);
}

extern "C" __global__ void __launch_bounds__(256)
    scan_compact_single(VALUES, unsigned* kept, size_t kept_length, LOOK_BACK) {
    __shared__ unsigned warp_totals[8], before;
    const unsigned tile = take(ticket), t = threadIdx.x;
    const Kept part(tile, values, length);
    if (t % 32 == 0) warp_totals[t / 32] = part.total;
    __syncthreads();
    unsigned all;
    if (t < 32) {
        earlier_warps(warp_totals, 8, &all);
        const unsigned sum = look_back_by_warp(table, tile, all, number);
        if (t == 0) before = sum - all;
    }
    __syncthreads();
    const unsigned warps = earlier_warps(warp_totals, t / 32, &all);
    part.write(before + warps, kept, kept_length);
}
