// CUDA C++ twin of `kernels/src/shared.rs`: static and dynamic shared memory.
// By hand: nvcc -ptx -arch=sm_90 -o shared.ptx docs/compare/shared.cu; host shared --ptx shared.ptx

// Reverses the block's chunk through `stage`.
__device__ __forceinline__ void reverse(const float* input, float* output, size_t length,
                                        unsigned chunk, float* stage) {
    const size_t first = size_t(blockIdx.x) * chunk;
    const unsigned count = min(size_t(chunk), length - first);
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) stage[i] = input[first + i];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
        output[first + i] = stage[count - 1 - i];
}

// A chunk of 16 KB, whose size the compiler knows.
extern "C" __global__ void shared_static(const float* input, float* output, size_t length) {
    constexpr unsigned Chunk = 4096;
    __shared__ float stage[Chunk];
    reverse(input, output, length, Chunk, stage);
}

// A chunk as large as the launch says.
extern "C" __global__ void shared_dynamic(const float* input, float* output, size_t length,
                                          unsigned chunk) {
    extern __shared__ float stage[];
    reverse(input, output, length, chunk, stage);
}
