// CUDA C++ twin of `kernels/src/table.rs`: accurate and fast math.
// By hand: nvcc -ptx -arch=sm_90 -o table.ptx docs/compare/table.cu; host table --ptx table.ptx

// A slice is two parameters: its first element and its length.

// CUDA reaches this instruction by a compiler flag only, which would change table_accurate, too.
__device__ float sqrt_approx(float x) {
    float root;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
}

extern "C" __global__ void table_accurate(float* y, size_t length, float step) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < length) y[i] = sinf(sqrtf(float(i) * step));
}

extern "C" __global__ void table_fast(float* y, size_t length, float step) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < length) y[i] = __sinf(sqrt_approx(float(i) * step));
}
