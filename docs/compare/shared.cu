// CUDA C++ twin of `kernels/src/shared.rs`: static and dynamic shared memory.
// By hand: nvcc -ptx -arch=sm_90 -o shared.ptx docs/compare/shared.cu; host shared --ptx shared.ptx

// Reverses the block's chunk through `stage`.
__device__ __forceinline__ void reverse(const float* input, size_t length, float* output,
                                        size_t places, unsigned chunk, float* stage) {
    const size_t first = size_t(blockIdx.x) * chunk;
    const unsigned count = first < length ? min(size_t(chunk), length - first) : 0;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) stage[i] = input[first + i];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
        if (first + i < places) output[first + i] = stage[count - 1 - i];
}

// A chunk of 16 KB, whose size the compiler knows.
extern "C" __global__ void shared_static(const float* input, size_t length, float* output,
                                         size_t places) {
    constexpr unsigned Chunk = 4096;
    __shared__ float stage[Chunk];
    reverse(input, length, output, places, Chunk, stage);
}

// A chunk as large as the launch says.
extern "C" __global__ void shared_dynamic(const float* input, size_t length, float* output,
                                          size_t places) {
    extern __shared__ float stage[];
    unsigned bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    reverse(input, length, output, places, bytes / sizeof(float), stage);
}
