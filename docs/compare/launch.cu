// CUDA C++ twin of `kernels/src/launch.rs`: blocks, grids, words and independent loads.
// By hand: nvcc -ptx -arch=sm_90 -o launch.ptx docs/compare/launch.cu; host launch --ptx launch.ptx

__device__ float incremented(float value) { return value + 1.0f; }

__device__ float2 incremented(float2 value) { return make_float2(value.x + 1.0f, value.y + 1.0f); }

__device__ float4 incremented(float4 value) {
    return make_float4(value.x + 1.0f, value.y + 1.0f, value.z + 1.0f, value.w + 1.0f);
}

// Increments each word, with `Loads` independent loads in each round.
template <unsigned Loads, typename Word>
__device__ void increment(Word* data, size_t length) {
    const size_t threads = size_t(gridDim.x) * blockDim.x;
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    for (; i < length; i += Loads * threads) {
        // All loads of a round start before the first one is used.
        Word words[Loads];
#pragma unroll
        for (unsigned k = 0; k < Loads; ++k)
            if (i + k * threads < length) words[k] = data[i + k * threads];
#pragma unroll
        for (unsigned k = 0; k < Loads; ++k)
            if (i + k * threads < length) data[i + k * threads] = incremented(words[k]);
    }
}

// Floats.
#define FLOATS(NAME, LOADS)                                       \
    extern "C" __global__ void NAME(float* data, size_t length) { \
        increment<LOADS>(data, length);                           \
    }

// Wide words; the first threads also increment what does not fill a word.
#define WORDS(NAME, WORD, LOADS)                                                         \
    extern "C" __global__ void NAME(WORD* data, size_t words, float* rest, size_t left) { \
        increment<LOADS>(data, words);                                                   \
        const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;                  \
        if (i < left) rest[i] += 1.0f;                                                   \
    }

FLOATS(launch_f32_1, 1)
FLOATS(launch_f32_2, 2)
FLOATS(launch_f32_4, 4)
FLOATS(launch_f32_8, 8)
WORDS(launch_f32x2_1, float2, 1)
WORDS(launch_f32x2_2, float2, 2)
WORDS(launch_f32x2_4, float2, 4)
WORDS(launch_f32x2_8, float2, 8)
WORDS(launch_f32x4_1, float4, 1)
WORDS(launch_f32x4_2, float4, 2)
WORDS(launch_f32x4_4, float4, 4)
WORDS(launch_f32x4_8, float4, 8)
