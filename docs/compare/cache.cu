// CUDA C++ twin of `kernels/src/cache.rs`: the cache operators of loads.
// By hand: nvcc -ptx -arch=sm_90 -o cache.ptx docs/compare/cache.cu; host cache --ptx cache.ptx

#include "pattern.cuh"

// Adds up `taps` neighbours from the pattern's element on.
template <typename Load>
__device__ void gather(const float* data, float* output, unsigned threads, unsigned taps,
                       const Pattern& pattern, Load load) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < threads) {
        const unsigned first = element(pattern, i);
        float sum = 0.0f;
        for (unsigned tap = 0; tap < taps; ++tap) sum += load(&data[first + tap]);
        output[i] = sum;
    }
}

#define KERNEL(NAME, LOAD)                                                                    \
    extern "C" __global__ void NAME(const float* data, float* output, unsigned threads,       \
                                    unsigned taps, Pattern pattern) {                         \
        gather(data, output, threads, taps, pattern, [](const float* p) { return LOAD(p); }); \
    }

KERNEL(cache_default, *)
KERNEL(cache_ca, __ldca)
KERNEL(cache_cg, __ldcg)
KERNEL(cache_cs, __ldcs)
KERNEL(cache_lu, __ldlu)
KERNEL(cache_cv, __ldcv)
KERNEL(cache_nc, __ldg)
