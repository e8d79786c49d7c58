// CUDA C++ twin of `kernels/src/launch.rs`: blocks, grids, words and independent loads.
// By hand: nvcc -ptx -arch=sm_90 -o launch.ptx docs/compare/launch.cu; host launch --ptx launch.ptx

__device__ float incremented(float value) { return value + 1.0f; }

__device__ float2 incremented(float2 value) { return make_float2(value.x + 1.0f, value.y + 1.0f); }

__device__ float4 incremented(float4 value) {
    return make_float4(value.x + 1.0f, value.y + 1.0f, value.z + 1.0f, value.w + 1.0f);
}

// Increments `length` floats, a word at a time, with `Loads` independent loads in each round.
template <typename Word, unsigned Loads>
__device__ void increment(float* data, size_t length) {
    Word* words = reinterpret_cast<Word*>(data);
    const size_t count = length * sizeof(float) / sizeof(Word);
    const size_t threads = size_t(gridDim.x) * blockDim.x;
    const size_t first = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    size_t i = first;
    for (; i + (Loads - 1) * threads < count; i += Loads * threads) {
        // All loads of a round start before the first one is used.
        Word values[Loads];
#pragma unroll
        for (unsigned load = 0; load < Loads; ++load) values[load] = words[i + load * threads];
#pragma unroll
        for (unsigned load = 0; load < Loads; ++load)
            words[i + load * threads] = incremented(values[load]);
    }
    // The last round, if it is not whole.
    for (; i < count; i += threads) words[i] = incremented(words[i]);
    // What is less than a word, element by element.
    const size_t rest = count * sizeof(Word) / sizeof(float) + first;
    if (rest < length) data[rest] += 1.0f;
}

#define KERNEL(NAME, WORD, LOADS)                                 \
    extern "C" __global__ void NAME(float* data, size_t length) { \
        increment<WORD, LOADS>(data, length);                     \
    }

KERNEL(launch_f32_1, float, 1)
KERNEL(launch_f32_2, float, 2)
KERNEL(launch_f32_4, float, 4)
KERNEL(launch_f32_8, float, 8)
KERNEL(launch_f32x2_1, float2, 1)
KERNEL(launch_f32x2_2, float2, 2)
KERNEL(launch_f32x2_4, float2, 4)
KERNEL(launch_f32x2_8, float2, 8)
KERNEL(launch_f32x4_1, float4, 1)
KERNEL(launch_f32x4_2, float4, 2)
KERNEL(launch_f32x4_4, float4, 4)
KERNEL(launch_f32x4_8, float4, 8)
