// CUDA C++ twin of `exercises/histogram_in_phases`: the values of 2048 bytes, counted in private
// counters of 64 threads.
// By hand: nvcc -ptx -arch=sm_90 -o histogram.ptx docs/compare/histogram.cu
//     host run histogram.ptx histogram_plain --grid 65536 --block 64 'u8[134217728]=rand:7'
//         u64:134217728 'u32[4194304]' u64:4194304

#include <cstddef>
#include <cstdint>

// A slice is two parameters: its first element and its length.
extern "C" __global__ void __launch_bounds__(64)
    histogram_plain(const uint8_t* __restrict__ input, size_t length, uint32_t* counts,
                    size_t counters_in_all) {
    __shared__ uint32_t counters[64][64];
    const unsigned t = threadIdx.x;
    const size_t first = size_t(2048) * blockIdx.x + t;
    for (unsigned bin = 0; bin < 64; ++bin) counters[bin][t] = 0;
#pragma unroll
    for (unsigned step = 0; step < 32; ++step) {
        const size_t i = first + 64 * step;
        if (i < length) counters[input[i] % 64][t] += 1;
    }
    __syncthreads();
    uint32_t sum = 0;
    for (unsigned step = 0; step < 64; ++step) sum += counters[t][(t + step) % 64];
    const size_t own = size_t(64) * blockIdx.x + t;
    if (own < counters_in_all) counts[own] = sum;
}
