// A sum by trees in dynamic shared memory, then by shuffles; more shared memory than usual.
#include "check.h"

extern __shared__ float buffer[];

__global__ void sum_blocks(const float *in, float *out, int n) {
    float own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own += in[i];
    buffer[threadIdx.x] = own;
    for (int half = blockDim.x / 2; half > 16; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) buffer[threadIdx.x] += buffer[threadIdx.x + half];
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        float value = threadIdx.x < 16 ? buffer[threadIdx.x] + buffer[threadIdx.x + 16] : 0;
        for (int other = 8; other > 0; other /= 2) value += __shfl_down_sync(~0u, value, other);
        if (threadIdx.x == 0) out[blockIdx.x] = value;
    }
}

__global__ void large(float *out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) buffer[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) *out = buffer[n - 1];
}

int main() {
    const int n = 10000, blocks = 4, threads = 128;
    std::vector<float> in(n, 1.0f);
    float *din = on_device(in), *partial;
    CHECK(cudaMalloc(&partial, blocks * sizeof(float)));
    sum_blocks<<<blocks, threads, threads * sizeof(float)>>>(din, partial, n);
    float sum = 0;
    for (float part : on_host(partial, blocks)) sum += part;
    REQUIRE(sum == n);

    int most = 0;
    CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    int count = most / sizeof(float);
    large<<<1, 64, most>>>(partial, count);
    REQUIRE(cudaGetLastError() != cudaSuccess);
    CHECK(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    large<<<1, 64, most>>>(partial, count);
    REQUIRE(on_host(partial, 1)[0] == count - 1);
    int blocks_at_once = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_at_once, large, 64, most));
    REQUIRE(blocks_at_once == 1);
    return done("reduction");
}
