// CUDA C++ twin of `kernels/src/reduce.rs` and `reduce_all.rs`, and of the best reductions.
// By hand: nvcc -ptx -arch=sm_90 -o reduce.ptx docs/compare/reduce.cu; host reduce --ptx reduce.ptx

#include <climits>
#include <cmath>

#include "combine.cuh"

constexpr unsigned MostThreads = 1024;

// The operations: what changes nothing, and what combines two values.

struct Sum {
    template <typename T>
    __device__ static T identity() { return 0; }
    template <typename T>
    __device__ static T combine(T a, T b) { return a + b; }
};

struct Product {
    template <typename T>
    __device__ static T identity() { return 1; }
    template <typename T>
    __device__ static T combine(T a, T b) { return a * b; }
};

template <typename T>
__device__ T highest();
template <>
__device__ float highest() { return INFINITY; }
template <>
__device__ int highest() { return INT_MAX; }

template <typename T>
__device__ T lowest();
template <>
__device__ float lowest() { return -INFINITY; }
template <>
__device__ int lowest() { return INT_MIN; }

struct Minimum {
    template <typename T>
    __device__ static T identity() { return highest<T>(); }
    template <typename T>
    __device__ static T combine(T a, T b) { return min(a, b); }
};

struct Maximum {
    template <typename T>
    __device__ static T identity() { return lowest<T>(); }
    template <typename T>
    __device__ static T combine(T a, T b) { return max(a, b); }
};

// Each step is one flat function. A slice is two parameters, first element and length; the output
// has an element for each block. A block has a power of two of threads, from 64 to 1024.

// In step s each thread whose number is a multiple of 2 s takes the value s places after its own.
template <typename T, typename Operation>
__device__ void reduce1(const T* __restrict__ input, size_t length, T* output, size_t blocks) {
    __shared__ T stage[MostThreads];
    const unsigned t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * blockDim.x + t;
    stage[t] = i < length ? input[i] : Operation::template identity<T>();
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if ((t & (2 * s - 1)) == 0) stage[t] = Operation::combine(stage[t], stage[t + s]);
        __syncthreads();
    }
    if (t == 0 && blockIdx.x < blocks) output[blockIdx.x] = stage[0];
}

// The same values by the first threads: a warp works as a whole or not at all.
template <typename T, typename Operation>
__device__ void reduce2(const T* __restrict__ input, size_t length, T* output, size_t blocks) {
    __shared__ T stage[MostThreads];
    const unsigned t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * blockDim.x + t;
    stage[t] = i < length ? input[i] : Operation::template identity<T>();
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        const unsigned first = 2 * s * t;
        if (first < blockDim.x) stage[first] = Operation::combine(stage[first], stage[first + s]);
        __syncthreads();
    }
    if (t == 0 && blockIdx.x < blocks) output[blockIdx.x] = stage[0];
}

// Neighbouring values: the first half takes the second half's.
template <typename T, typename Operation>
__device__ void reduce3(const T* __restrict__ input, size_t length, T* output, size_t blocks) {
    __shared__ T stage[MostThreads];
    const unsigned t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * blockDim.x + t;
    stage[t] = i < length ? input[i] : Operation::template identity<T>();
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) stage[t] = Operation::combine(stage[t], stage[t + s]);
        __syncthreads();
    }
    if (t == 0 && blockIdx.x < blocks) output[blockIdx.x] = stage[0];
}

// The first step while loading: a block takes two blocks' values.
template <typename T, typename Operation>
__device__ void reduce4(const T* __restrict__ input, size_t length, T* output, size_t blocks) {
    __shared__ T stage[MostThreads];
    const unsigned t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * 2 * blockDim.x + t, j = i + blockDim.x;
    const T first = i < length ? input[i] : Operation::template identity<T>();
    const T second = j < length ? input[j] : Operation::template identity<T>();
    stage[t] = Operation::combine(first, second);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) stage[t] = Operation::combine(stage[t], stage[t + s]);
        __syncthreads();
    }
    if (t == 0 && blockIdx.x < blocks) output[blockIdx.x] = stage[0];
}

// When 64 values are left, the first warp goes on alone.
template <typename T, typename Operation>
__device__ void reduce5(const T* __restrict__ input, size_t length, T* output, size_t blocks) {
    __shared__ T stage[MostThreads];
    const unsigned t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * 2 * blockDim.x + t, j = i + blockDim.x;
    const T first = i < length ? input[i] : Operation::template identity<T>();
    const T second = j < length ? input[j] : Operation::template identity<T>();
    stage[t] = Operation::combine(first, second);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
        if (t < s) stage[t] = Operation::combine(stage[t], stage[t + s]);
        __syncthreads();
    }
    if (t < 32) {
        T value = stage[t];
#pragma unroll
        for (unsigned s = 32; s > 0; s /= 2) {
            value = Operation::combine(value, stage[t + s]);
            __syncwarp();
            stage[t] = value;
            __syncwarp();
        }
    }
    if (t == 0 && blockIdx.x < blocks) output[blockIdx.x] = stage[0];
}

// Shuffles: each warp, and then the first warp with the warps' values.
template <typename T, typename Operation>
__device__ void reduce6(const T* __restrict__ input, size_t length, T* output, size_t blocks) {
    __shared__ T warp_values[32];
    const unsigned t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * 2 * blockDim.x + t, j = i + blockDim.x;
    const T first = i < length ? input[i] : Operation::template identity<T>();
    const T second = j < length ? input[j] : Operation::template identity<T>();
    T value = Operation::combine(first, second);
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2)
        value = Operation::combine(value, __shfl_down_sync(~0u, value, distance));
    if (t % 32 == 0) warp_values[t / 32] = value;
    __syncthreads();
    if (t < 32) {
        value = t < blockDim.x / 32 ? warp_values[t] : Operation::template identity<T>();
#pragma unroll
        for (unsigned distance = 16; distance > 0; distance /= 2)
            value = Operation::combine(value, __shfl_down_sync(~0u, value, distance));
    }
    if (t == 0 && blockIdx.x < blocks) output[blockIdx.x] = value;
}

// Combines a thread's words.
template <int Together, typename Operation, typename T, typename Word>
__device__ __forceinline__ T reduce_words(const Word* input, size_t first, size_t step, size_t end) {
    return reduce_indices<Together, Operation>(
        first, step, end, Operation::template identity<T>(),
        [=](size_t i) { return __ldca(input + i); },
        [](Word word) { return combined<Operation>(word); });
}

// Four words of a thread under way, in one launch whose last block finishes the work.
template <typename T, typename Operation>
__device__ void reduce_best(const T* input, size_t length, T* output, Slot* slots) {
    const size_t first = size_t(blockIdx.x) * Block + threadIdx.x, step = size_t(gridDim.x) * Block;
    const T nothing = Operation::template identity<T>();
    T value;
    if (stands_on_16(input)) {
        const auto* words = reinterpret_cast<const typename Quad<T>::Word*>(input);
        value = reduce_words<4, Operation, T>(words, first, step, length / 4);
        const size_t rest = length / 4 * 4 + first;
        value = Operation::combine(value, reduce_words<1, Operation, T>(input, rest, step, length));
    } else {
        value = reduce_words<4, Operation, T>(input, first, step, length);
    }
    value = reduce_block<Operation, 4>(value, nothing, 0);
    if (reduce_blocks<Operation>(value, nothing, blockIdx.x, gridDim.x, slots)) *output = value;
}

// One block, with four words of a thread under way.
template <typename T, typename Operation>
__device__ void reduce_small(const T* input, unsigned length, T* output) {
    constexpr unsigned Threads = 256;
    using Word = typename Quad<T>::Word;
    const Word* words = reinterpret_cast<const Word*>(input);
    const unsigned t = threadIdx.x, rest = length / 4 * 4 + t;
    const T nothing = Operation::template identity<T>();
    T value = rest < length ? __ldca(input + rest) : nothing;
#pragma unroll
    for (unsigned round = 0; round < 2; ++round) {
        if (round > 0 && length <= 16 * Threads) break;
        const unsigned first = 4 * Threads * round + t;
        Word loaded[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k)
            if (first + k * Threads < length / 4) loaded[k] = __ldca(words + first + k * Threads);
#pragma unroll
        for (unsigned k = 0; k < 4; ++k)
            if (first + k * Threads < length / 4)
                value = Operation::combine(value, combined<Operation>(loaded[k]));
    }
    value = reduce_block<Operation, 2>(value, nothing, 0);
    if (t == 0) *output = value;
}

#define KERNEL(STEP, NAME, TYPE, OPERATION)                                                   \
    extern "C" __global__ void STEP##_##NAME(const TYPE* __restrict__ input, size_t length,   \
                                             TYPE* output, size_t blocks) {                   \
        STEP<TYPE, OPERATION>(input, length, output, blocks);                                 \
    }

#define BEST(NAME, TYPE, OPERATION)                                                 \
    extern "C" __global__ void __launch_bounds__(512) reduce_best_##NAME(           \
        const TYPE* input, size_t length, TYPE* output, Slot* slots) {              \
        cudaGridDependencySynchronize();                                            \
        reduce_best<TYPE, OPERATION>(input, length, output, slots);                 \
    }                                                                               \
    extern "C" __global__ void __launch_bounds__(256)                               \
        reduce_small_##NAME(const TYPE* input, unsigned length, TYPE* output) {     \
        cudaGridDependencySynchronize();                                            \
        reduce_small<TYPE, OPERATION>(input, length, output);                       \
    }

// Sums and products of integers are modulo 2^32, as those of unsigned numbers are.
#define KERNELS(STEP)                            \
    KERNEL(STEP, sum_f32, float, Sum)            \
    KERNEL(STEP, product_f32, float, Product)    \
    KERNEL(STEP, min_f32, float, Minimum)        \
    KERNEL(STEP, max_f32, float, Maximum)        \
    KERNEL(STEP, sum_i32, unsigned, Sum)         \
    KERNEL(STEP, product_i32, unsigned, Product) \
    KERNEL(STEP, min_i32, int, Minimum)          \
    KERNEL(STEP, max_i32, int, Maximum)

KERNELS(reduce1)
KERNELS(reduce2)
KERNELS(reduce3)
KERNELS(reduce4)
KERNELS(reduce5)
KERNELS(reduce6)
BEST(sum_f32, float, Sum)
BEST(product_f32, float, Product)
BEST(min_f32, float, Minimum)
BEST(max_f32, float, Maximum)
BEST(sum_i32, unsigned, Sum)
BEST(product_i32, unsigned, Product)
BEST(min_i32, int, Minimum)
BEST(max_i32, int, Maximum)
