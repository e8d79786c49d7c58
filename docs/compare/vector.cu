// CUDA C++ twin of `kernels/src/vector.rs`: words of 4, 8 and 16 bytes, and past L1.
// By hand: nvcc -ptx -arch=sm_90 -o vector.ptx docs/compare/vector.cu; host vector --ptx vector.ptx

// Copies a word a thread; the first threads also copy what does not fill a word.
template <typename Word>
__device__ void copy(const float* input, float* output, size_t length) {
    const size_t floats = sizeof(Word) / sizeof(float), words = length / floats;
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < words) reinterpret_cast<Word*>(output)[i] = reinterpret_cast<const Word*>(input)[i];
    const size_t rest = words * floats + i;
    if (rest < length) output[rest] = input[rest];
}

#define KERNEL(NAME, WORD)                                                              \
    extern "C" __global__ void NAME(const float* input, float* output, size_t length) { \
        copy<WORD>(input, output, length);                                              \
    }

KERNEL(vector_copy4, float)
KERNEL(vector_copy8, float2)
KERNEL(vector_copy16, float4)

// Past L1, several words a thread.
template <int Words>
__device__ void copy_several(const float* input, float* output, size_t length) {
    cudaGridDependencySynchronize();
    const size_t words = length / 4, first = size_t(blockIdx.x) * blockDim.x * Words + threadIdx.x;
    float4 loaded[Words];
#pragma unroll
    for (int k = 0; k < Words; ++k) {
        const size_t i = first + k * blockDim.x;
        if (i < words) loaded[k] = __ldcg(reinterpret_cast<const float4*>(input) + i);
    }
#pragma unroll
    for (int k = 0; k < Words; ++k) {
        const size_t i = first + k * blockDim.x;
        if (i < words) reinterpret_cast<float4*>(output)[i] = loaded[k];
    }
    const size_t rest = 4 * words + size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (rest < length) output[rest] = input[rest];
}

#define BEST(NAME, WORDS)                                                             \
    extern "C" __global__ void __launch_bounds__(256)                                 \
        NAME(const float* input, float* output, size_t length) {                      \
        copy_several<WORDS>(input, output, length);                                   \
    }

BEST(vector_copy_best, 1)
BEST(vector_copy_best2, 2)
BEST(vector_copy_best4, 4)
