// CUDA C++ twin of `kernels/src/transfer.rs`: the kernel beside which copies run.
// By hand: nvcc -ptx -arch=sm_90 -o transfer.ptx docs/compare/transfer.cu; host transfer --ptx transfer.ptx

#include <cstddef>
#include <cstdint>

// A slice is two parameters: its first element and its length.
extern "C" __global__ void transfer_rounds(
    const uint32_t* __restrict__ x, size_t x_length, uint32_t* y, size_t y_length, uint32_t rounds) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < x_length && i < y_length) {
        uint64_t state = x[i];
        for (uint32_t round = 0; round < rounds; ++round) {
            state = state * 6364136223846793005u + 1442695040888963407u;
        }
        y[i] = uint32_t(state >> 32);
    }
}
