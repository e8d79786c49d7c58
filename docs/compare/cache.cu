// CUDA C++ twin of `kernels/src/cache.rs`: the cache operators of loads.
// By hand: nvcc -ptx -arch=sm_90 -o cache.ptx docs/compare/cache.cu; host cache --ptx cache.ptx

#include "pattern.cuh"

// Adds up `taps` neighbours from the pattern's element on.
#define KERNEL(NAME, LOAD)                                                                        \
    extern "C" __global__ void NAME(const float* data, size_t length, float* output,              \
                                    size_t threads, unsigned taps, Pattern pattern) {             \
        const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;                           \
        const size_t first = element(pattern, unsigned(i));                                       \
        if (i < threads && first + taps <= length) {                                              \
            float sum = 0.0f;                                                                     \
            for (unsigned tap = 0; tap < taps; ++tap) sum += LOAD(&data[first + tap]);            \
            output[i] = sum;                                                                      \
        }                                                                                         \
    }

KERNEL(cache_default, *)
KERNEL(cache_ca, __ldca)
KERNEL(cache_cg, __ldcg)
KERNEL(cache_cs, __ldcs)
KERNEL(cache_lu, __ldlu)
KERNEL(cache_cv, __ldcv)
KERNEL(cache_nc, __ldg)
