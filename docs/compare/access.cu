// CUDA C++ twin of `kernels/src/access.rs`: the access patterns of a warp.
// By hand: nvcc -ptx -arch=sm_90 -o access.ptx docs/compare/access.cu; host access --ptx access.ptx

#include "pattern.cuh"

// Loads have the pattern, stores are side by side.
extern "C" __global__ void access_load(const unsigned* __restrict__ data, size_t, unsigned* output,
                                       unsigned threads, Pattern pattern) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < threads) output[i] = data[element(pattern, i)];
}

// Stores have the pattern; each writes a value made of its place.
extern "C" __global__ void access_store(unsigned* output, unsigned threads, unsigned seed,
                                        Pattern pattern) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < threads) {
        const unsigned place = element(pattern, i);
        output[place] = (place ^ seed) * 0x2545f491u;
    }
}

// Two loads: with scale 1 and shift 1 the difference of neighbours.
extern "C" __global__ void access_difference(const unsigned* __restrict__ data, size_t,
                                             unsigned* output, unsigned threads, unsigned scale,
                                             unsigned shift) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < threads) output[i] = data[scale * i + shift] - data[i];
}
