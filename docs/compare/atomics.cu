// CUDA C++ twin of `kernels/src/atomics.rs`: histograms by atomic operations.
// By hand: nvcc -ptx -arch=sm_90 -o atomics.ptx docs/compare/atomics.cu; host atomics --ptx atomics.ptx

#include <cstddef>
#include <cstdint>

// A slice is two parameters: its first element and its length.
#define VALUES const uint8_t* __restrict__ values, size_t length
#define COUNTS unsigned* counts, size_t bins

#define FOR_EACH_INDEX(i)                                                              \
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x, step = size_t(gridDim.x) * 256; \
         i < length; i += step)

extern "C" __global__ void __launch_bounds__(256) atomics_global(VALUES, COUNTS) {
    FOR_EACH_INDEX(i) {
        const unsigned value = values[i];
        if (value < bins) atomicAdd(counts + value, 1u);
    }
}

// The lanes of a warp whose indices are below the length.
__device__ __forceinline__ unsigned lanes_with_values(size_t i, size_t length) {
    const size_t end = i - threadIdx.x % 32 + 32;
    return end <= length ? 0xffffffffu : 0xffffffffu >> (end - length);
}

// The first of the lanes that have a value adds their number.
__device__ __forceinline__ void add_first(COUNTS, unsigned value, unsigned same) {
    if (threadIdx.x % 32 == __ffs(same) - 1 && value < bins) {
        atomicAdd(counts + value, __popc(same));
    }
}

extern "C" __global__ void __launch_bounds__(256) atomics_ballot(VALUES, COUNTS) {
    FOR_EACH_INDEX(i) {
        const unsigned value = values[i], here = lanes_with_values(i, length);
        unsigned same = here;
#pragma unroll
        for (unsigned bit = 0; bit < 8; ++bit) {
            const bool is_set = value >> bit & 1;
            const unsigned set = __ballot_sync(here, is_set);
            same &= is_set ? set : ~set;
        }
        add_first(counts, bins, value, same);
    }
}

extern "C" __global__ void __launch_bounds__(256) atomics_match(VALUES, COUNTS) {
    FOR_EACH_INDEX(i) {
        const unsigned value = values[i], here = lanes_with_values(i, length);
        add_first(counts, bins, value, __match_any_sync(here, value));
    }
}

extern "C" __global__ void __launch_bounds__(256) atomics_shared(VALUES, COUNTS) {
    __shared__ unsigned own[256];
    const unsigned t = threadIdx.x;
    own[t] = 0;
    __syncthreads();
    FOR_EACH_INDEX(i) atomicAdd(own + values[i], 1u);
    __syncthreads();
    if (t < bins) atomicAdd(counts + t, own[t]);
}

extern "C" __global__ void __launch_bounds__(256) atomics_warp(VALUES, COUNTS) {
    __shared__ unsigned own[8][256];
    const unsigned t = threadIdx.x;
    for (unsigned warp = 0; warp < 8; ++warp) own[warp][t] = 0;
    __syncthreads();
    FOR_EACH_INDEX(i) atomicAdd(own[t / 32] + values[i], 1u);
    __syncthreads();
    unsigned sum = 0;
    for (unsigned warp = 0; warp < 8; ++warp) sum += own[warp][t];
    if (t < bins) atomicAdd(counts + t, sum);
}
