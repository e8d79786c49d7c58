// CUDA C++ twin of `kernels/src/constant.rs`: constant memory against global memory.
// By hand: nvcc -ptx -arch=sm_90 -o constant.ptx docs/compare/constant.cu; host constant --ptx constant.ptx

constexpr int Degree = 7;

// The host sets these.
extern "C" __constant__ float CONSTANT_POLYNOMIAL[Degree + 1] = {};
extern "C" __constant__ float CONSTANT_GAMMA[2] = {1.0f, 1.0f};
extern "C" __constant__ float CONSTANT_TABLE[256] = {};

__device__ size_t thread_index() { return size_t(blockIdx.x) * blockDim.x + threadIdx.x; }

// Horner's rule.
__device__ float polynomial(const float* coefficients, float x) {
    float sum = coefficients[Degree];
#pragma unroll
    for (int power = Degree - 1; power >= 0; --power) sum = fmaf(sum, x, coefficients[power]);
    return sum;
}

extern "C" __global__ void constant_polynomial(const float* __restrict__ x, size_t length,
                                               float* output) {
    const size_t i = thread_index();
    if (i < length) output[i] = polynomial(CONSTANT_POLYNOMIAL, x[i]);
}

extern "C" __global__ void constant_polynomial_global(const float* __restrict__ x, size_t length,
                                                      float* output,
                                                      const float* __restrict__ coefficients,
                                                      size_t) {
    const size_t i = thread_index();
    if (i < length) output[i] = polynomial(coefficients, x[i]);
}

extern "C" __global__ void constant_gamma(const float* __restrict__ x, size_t length,
                                          float* output) {
    const size_t i = thread_index();
    if (i < length) output[i] = CONSTANT_GAMMA[0] * powf(x[i], CONSTANT_GAMMA[1]);
}

extern "C" __global__ void constant_gamma_global(const float* __restrict__ x, size_t length,
                                                 float* output,
                                                 const float* __restrict__ parameters, size_t) {
    const size_t i = thread_index();
    if (i < length) output[i] = parameters[0] * powf(x[i], parameters[1]);
}

// The lanes of a warp read different addresses.
extern "C" __global__ void constant_lookup(const unsigned char* __restrict__ values, size_t length,
                                           float* output) {
    const size_t i = thread_index();
    if (i < length) output[i] = CONSTANT_TABLE[values[i]];
}

extern "C" __global__ void constant_lookup_global(const unsigned char* __restrict__ values,
                                                  size_t length, float* output,
                                                  const float* __restrict__ table, size_t) {
    const size_t i = thread_index();
    if (i < length) output[i] = table[values[i]];
}
