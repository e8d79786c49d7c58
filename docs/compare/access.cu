// CUDA C++ twin of `kernels/src/access.rs`: the access patterns of a warp.
// By hand: nvcc -ptx -arch=sm_90 -o access.ptx docs/compare/access.cu; host access --ptx access.ptx

#include "pattern.cuh"

// A slice is two parameters: its first element and its length.

// Loads have the pattern, stores are side by side.
extern "C" __global__ void access_load(const unsigned* __restrict__ data, size_t elements,
                                       unsigned* out, size_t length, Pattern pattern) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const unsigned from = element(pattern, i);
    if (from < elements && i < length) out[i] = data[from];
}

// Stores have the pattern; each writes a value made of its place.
extern "C" __global__ void access_store(unsigned* out, size_t length, unsigned threads,
                                        unsigned seed, Pattern pattern) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned place = element(pattern, i);
    if (i < threads && place < length) out[place] = (place ^ seed) * 0x2545f491u;
}

// Two loads: with scale 1 and shift 1 the difference of neighbours.
extern "C" __global__ void access_difference(const unsigned* __restrict__ data, size_t elements,
                                             unsigned* out, size_t length, unsigned scale,
                                             unsigned shift) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const unsigned other = scale * unsigned(i) + shift;
    if (i < elements && other < elements && i < length) out[i] = data[other] - data[i];
}
