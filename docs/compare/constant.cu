// CUDA C++ twin of `kernels/src/constant.rs`: constant memory against global memory.
// By hand: nvcc -ptx -arch=sm_90 -o constant.ptx docs/compare/constant.cu; host constant --ptx constant.ptx

constexpr int Degree = 7;

// The host sets these.
extern "C" __constant__ float CONSTANT_POLYNOMIAL[Degree + 1] = {};
extern "C" __constant__ float CONSTANT_GAMMA[2] = {1.0f, 1.0f};
extern "C" __constant__ float CONSTANT_TABLE[256] = {};

// A slice is two parameters: its first element and its length.

__device__ size_t thread_index() { return size_t(blockIdx.x) * blockDim.x + threadIdx.x; }

// Horner's rule.
__device__ float polynomial(const float* coefficients, float x) {
    float sum = coefficients[Degree];
#pragma unroll
    for (int power = Degree - 1; power >= 0; --power) sum = fmaf(sum, x, coefficients[power]);
    return sum;
}

extern "C" __global__ void constant_polynomial(const float* __restrict__ x, size_t x_length,
                                               float* y, size_t length) {
    const size_t i = thread_index();
    if (i < x_length && i < length) y[i] = polynomial(CONSTANT_POLYNOMIAL, x[i]);
}

extern "C" __global__ void constant_polynomial_global(const float* __restrict__ x, size_t x_length,
                                                      float* y, size_t length,
                                                      const float* __restrict__ coefficients,
                                                      size_t count) {
    const size_t i = thread_index();
    if (i < x_length && i < length && Degree < count) y[i] = polynomial(coefficients, x[i]);
}

extern "C" __global__ void constant_gamma(const float* __restrict__ x, size_t x_length, float* y,
                                          size_t length) {
    const size_t i = thread_index();
    if (i < x_length && i < length) y[i] = CONSTANT_GAMMA[0] * powf(x[i], CONSTANT_GAMMA[1]);
}

extern "C" __global__ void constant_gamma_global(const float* __restrict__ x, size_t x_length,
                                                 float* y, size_t length,
                                                 const float* __restrict__ parameters,
                                                 size_t count) {
    const size_t i = thread_index();
    if (i < x_length && i < length && 1 < count) y[i] = parameters[0] * powf(x[i], parameters[1]);
}

// The lanes of a warp read different addresses.
extern "C" __global__ void constant_lookup(const unsigned char* __restrict__ values,
                                           size_t values_length, float* y, size_t length) {
    const size_t i = thread_index();
    if (i < values_length && i < length) y[i] = CONSTANT_TABLE[values[i]];
}

extern "C" __global__ void constant_lookup_global(const unsigned char* __restrict__ values,
                                                  size_t values_length, float* y, size_t length,
                                                  const float* __restrict__ table, size_t entries) {
    const size_t i = thread_index();
    if (i < values_length && i < length && 256 <= entries) y[i] = table[values[i]];
}
