// CUDA C++ twin of `kernels/src/vector.rs`: words of 4, 8 and 16 bytes, and the best.
// By hand: nvcc -ptx -arch=sm_90 -o vector.ptx docs/compare/vector.cu; host vector --ptx vector.ptx

#include "l2_evict_last.cuh"

// 4 bytes a lane.
extern "C" __global__ void vector_copy4(const float* __restrict__ input, size_t length,
                                        float* output, size_t output_length) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < length && i < output_length) output[i] = input[i];
}

// 8 bytes a lane; the first threads also copy what does not fill a word.
extern "C" __global__ void vector_copy8(const float2* __restrict__ input, size_t words,
                                        const float* __restrict__ input_rest, size_t rest,
                                        float2* output, size_t output_words,
                                        float* output_rest, size_t output_length) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < words && i < output_words) output[i] = input[i];
    if (i < rest && i < output_length) output_rest[i] = input_rest[i];
}

// 16 bytes a lane.
extern "C" __global__ void vector_copy16(const float4* __restrict__ input, size_t words,
                                         const float* __restrict__ input_rest, size_t rest,
                                         float4* output, size_t output_words,
                                         float* output_rest, size_t output_length) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < words && i < output_words) output[i] = input[i];
    if (i < rest && i < output_length) output_rest[i] = input_rest[i];
}

// `Each` places a thread, each a word or one of the last floats that do not fill one.
template <int Each>
__device__ void copy_places(const float* input, float* output, size_t length) {
    const size_t threads = 256, words = length / 4;
    const size_t first = blockIdx.x * threads * Each + threadIdx.x;
    if (first + (Each - 1) * threads >= words) {
        cudaGridDependencySynchronize();
        for (int k = 0; k < Each; ++k) {
            const size_t place = first + k * threads, rest = 4 * words + (place - words);
            if (place < words)
                reinterpret_cast<float4*>(output)[place] = reinterpret_cast<const float4*>(input)[place];
            else if (rest < length)
                output[rest] = input[rest];
        }
        return;
    }
    const float4* from = reinterpret_cast<const float4*>(input) + first;
    float4* to = reinterpret_cast<float4*>(output) + first;
    cudaGridDependencySynchronize();
    float4 loaded[Each];
#pragma unroll
    for (int k = 0; k < Each; ++k) loaded[k] = load_l2_evict_last(from + k * threads);
#pragma unroll
    for (int k = 0; k < Each; ++k) store_l2_evict_last(to + k * threads, loaded[k]);
}

#define BEST(NAME, EACH)                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                 \
        NAME(const float* input, float* output, size_t length) {                      \
        copy_places<EACH>(input, output, length);                                     \
    }

BEST(vector_copy_best, 1)
BEST(vector_copy_best2, 2)
BEST(vector_copy_best4, 4)
