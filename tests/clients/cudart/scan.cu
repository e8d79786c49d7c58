// An inclusive prefix sum: of blocks, of their sums, and the sums added.
#include "check.h"

const int BLOCK = 128;

__global__ void scan_blocks(int *data, int *sums, int n) {
    __shared__ int tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    tile[threadIdx.x] = i < n ? data[i] : 0;
    for (int step = 1; step < BLOCK; step *= 2) {
        __syncthreads();
        int before = threadIdx.x >= step ? tile[threadIdx.x - step] : 0;
        __syncthreads();
        tile[threadIdx.x] += before;
    }
    if (i < n) data[i] = tile[threadIdx.x];
    if (sums && threadIdx.x == BLOCK - 1) sums[blockIdx.x] = tile[threadIdx.x];
}

__global__ void add_sums(int *data, const int *sums, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (blockIdx.x > 0 && i < n) data[i] += sums[blockIdx.x - 1];
}

int main() {
    const int n = 10000, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<int> values(n), expected(n);
    int sum = 0;
    for (int i = 0; i < n; i++) values[i] = i % 10, expected[i] = sum += values[i];
    int *data = on_device(values), *sums;
    CHECK(cudaMalloc(&sums, blocks * sizeof(int)));
    scan_blocks<<<blocks, BLOCK>>>(data, sums, n);
    scan_blocks<<<1, BLOCK>>>(sums, nullptr, blocks);
    add_sums<<<blocks, BLOCK>>>(data, sums, n);
    REQUIRE(on_host(data, n) == expected);
    return done("scan");
}
