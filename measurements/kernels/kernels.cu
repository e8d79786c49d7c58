// Kernels that no lab has. Their predicted times are held to measured ones; `kernels.toml` lists
// the launches. Plain on purpose: what a textbook shows, not what is fastest.
//
// To make the PTX anew, with CUDA 13.0 and without folders in its line table:
//
//     cd measurements/kernels && nvcc -ptx -arch=sm_90 -lineinfo -o kernels.sm_90.ptx kernels.cu
//     sed -i -E 's|(\.file\s+[0-9]+ ").*/|\1|' kernels.sm_90.ptx

// The number of this thread in a grid of one dimension.
__device__ inline unsigned linear_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// The number of its warp in the grid, and its own in the warp.
__device__ inline unsigned warp_index() { return linear_index() / 32; }
__device__ inline unsigned lane() { return threadIdx.x % 32; }

// The sum of a warp's values, in its first lane.
template <typename T>
__device__ inline T warp_sum(T value) {
    for (unsigned distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(~0u, value, distance);
    return value;
}

// The same in every lane.
template <typename T>
__device__ inline T warp_sum_to_all(T value) {
    for (unsigned distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(~0u, value, distance);
    return value;
}

#include "fill.cuh"
#include "memory.cuh"
#include "stencils.cuh"
#include "blocks.cuh"
#include "linear.cuh"
#include "arithmetic.cuh"
