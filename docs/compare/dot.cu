// CUDA C++ twin of `kernels/src/dot.rs`: the dot product, in global or in shared memory.
// By hand: nvcc -ptx -arch=sm_90 -o dot.ptx docs/compare/dot.cu; host dot --ptx dot.ptx

__device__ size_t thread_index() { return size_t(blockIdx.x) * blockDim.x + threadIdx.x; }

// The product of this thread's pair, or 0 beyond the end.
__device__ float product(const float* a, const float* b, size_t length) {
    const size_t i = thread_index();
    return i < length ? a[i] * b[i] : 0.0f;
}

// Adds up the block's values; the sum is in the first one's place.
__device__ __forceinline__ void tree(float* values) {
    const unsigned t = threadIdx.x;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) values[t] += values[t + s];
        __syncthreads();
    }
}

// The tree in global memory: `scratch` has a place for each thread of the launch.
extern "C" __global__ void dot_global(const float* a, const float* b, size_t length, float* scratch,
                                      float* sums) {
    float* values = scratch + size_t(blockIdx.x) * blockDim.x;
    values[threadIdx.x] = product(a, b, length);
    tree(values);
    if (threadIdx.x == 0) sums[blockIdx.x] = values[0];
}

// The tree in shared memory.
extern "C" __global__ void dot_shared(const float* a, const float* b, size_t length, float* sums) {
    __shared__ float values[1024];
    values[threadIdx.x] = product(a, b, length);
    tree(values);
    if (threadIdx.x == 0) sums[blockIdx.x] = values[0];
}

__device__ float four_products(float4 a, float4 b) {
    return (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w);
}

// The sum of a warp, in its first lane.
__device__ float of_warp(float sum) {
#pragma unroll
    for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    return sum;
}

// Many pairs a thread, in words of 16 bytes where both vectors stand on them; then by shuffles.
extern "C" __global__ void dot_best(const float* a, const float* b, size_t length, float* sums) {
    const size_t first = thread_index(), threads = size_t(gridDim.x) * blockDim.x;
    const bool wide = (reinterpret_cast<size_t>(a) | reinterpret_cast<size_t>(b)) % 16 == 0;
    const size_t quads = wide ? length / 4 : 0;
    const float4* a_quads = reinterpret_cast<const float4*>(a);
    const float4* b_quads = reinterpret_cast<const float4*>(b);
    float sum = 0.0f;
    size_t i = first;
    // Four words are in flight at a time.
    for (; i + threads < quads; i += 2 * threads) {
        const float4 a1 = a_quads[i], b1 = b_quads[i];
        const float4 a2 = a_quads[i + threads], b2 = b_quads[i + threads];
        sum += four_products(a1, b1);
        sum += four_products(a2, b2);
    }
    if (i < quads) sum += four_products(a_quads[i], b_quads[i]);
    for (i = 4 * quads + first; i < length; i += threads) sum = fmaf(a[i], b[i], sum);

    __shared__ float of_warps[32];
    const unsigned t = threadIdx.x;
    sum = of_warp(sum);
    if (t % 32 == 0) of_warps[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        sum = of_warp(t < blockDim.x / 32 ? of_warps[t] : 0.0f);
        if (t == 0) sums[blockIdx.x] = sum;
    }
}
