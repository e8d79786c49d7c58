// CUDA C++ twin of `kernels/src/dot.rs`: the dot product, in global or in shared memory.
// By hand: nvcc -ptx -arch=sm_90 -o dot.ptx docs/compare/dot.cu; host dot --ptx dot.ptx

#include "combine.cuh"

// A slice is two parameters: its first element and its length.

// The tree in global memory: `tree` has an element for each thread, `sums` one for each block.
extern "C" __global__ void dot_global(const float* __restrict__ a, size_t a_length,
                                      const float* __restrict__ b, size_t b_length, float* tree,
                                      size_t tree_length, float* sums, size_t blocks) {
    const unsigned t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * blockDim.x + t;
    if (i < tree_length) tree[i] = i < a_length && i < b_length ? a[i] * b[i] : 0.0f;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s && i + s < tree_length) tree[i] += tree[i + s];
        __syncthreads();
    }
    if (t == 0 && i < tree_length && blockIdx.x < blocks) sums[blockIdx.x] = tree[i];
}

// The tree in shared memory.
extern "C" __global__ void dot_shared(const float* __restrict__ a, size_t a_length,
                                      const float* __restrict__ b, size_t b_length, float* sums,
                                      size_t blocks) {
    __shared__ float stage[1024];
    const unsigned t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * blockDim.x + t;
    stage[t] = i < a_length && i < b_length ? a[i] * b[i] : 0.0f;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) stage[t] += stage[t + s];
        __syncthreads();
    }
    if (t == 0 && blockIdx.x < blocks) sums[blockIdx.x] = stage[0];
}

struct Sum {
    __device__ static float combine(float a, float b) { return a + b; }
};

__device__ __forceinline__ float times(float a, float b) { return a * b; }
__device__ __forceinline__ float4 times(float4 a, float4 b) {
    return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}

// Adds up a thread's products, with Together words of each vector under way.
template <int Together, typename Word>
__device__ __forceinline__ float products(const Word* a, const Word* b, size_t first, size_t step,
                                          size_t end) {
    struct Pair { Word a, b; };
    const auto load = [=](size_t i) { return Pair{__ldca(a + i), __ldca(b + i)}; };
    const auto number = [](Pair pair) { return combined<Sum>(times(pair.a, pair.b)); };
    return reduce_indices<Together, Sum>(first, step, end, 0.0f, load, number);
}

// Many pairs a thread, in words of 16 bytes where both vectors stand on them, and in one launch.
extern "C" __global__ void __launch_bounds__(512)
    dot_best(const float* a, const float* b, size_t length, float* result, Slot* slots) {
    cudaGridDependencySynchronize();
    const size_t first = size_t(blockIdx.x) * Block + threadIdx.x, step = size_t(gridDim.x) * Block;
    float sum;
    if (stands_on_16(a) && stands_on_16(b)) {
        const float4* a_quads = reinterpret_cast<const float4*>(a);
        const float4* b_quads = reinterpret_cast<const float4*>(b);
        sum = products<2>(a_quads, b_quads, first, step, length / 4);
        sum += products<1>(a, b, length / 4 * 4 + first, step, length);
    } else {
        sum = products<4>(a, b, first, step, length);
    }
    sum = reduce_block<Sum, 4>(sum, 0.0f, 0);
    if (reduce_blocks<Sum>(sum, 0.0f, blockIdx.x, gridDim.x, slots)) *result = sum;
}
