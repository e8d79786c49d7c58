// CUDA C++ twin of `kernels/src/offset.rs`: reads and writes that start in the middle of a sector.
// By hand: nvcc -ptx -arch=sm_90 -o offset.ptx docs/compare/offset.cu; host offset --ptx offset.ptx

// Both loads are shifted, the store is aligned.
extern "C" __global__ void offset_read(const float* __restrict__ a, size_t a_length,
                                       const float* __restrict__ b, size_t b_length,
                                       float* c, size_t c_length, size_t offset) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i + offset < a_length && i + offset < b_length && i < c_length)
        c[i] = a[i + offset] + b[i + offset];
}

// The loads are aligned, the store is shifted.
extern "C" __global__ void offset_write(const float* __restrict__ a, size_t a_length,
                                        const float* __restrict__ b, size_t b_length,
                                        float* c, size_t c_length, size_t offset) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < a_length && i < b_length && i + offset < c_length)
        c[i + offset] = a[i] + b[i];
}
