// A histogram by bins in shared memory; its bins are a variable of the device.
#include "check.h"

__device__ unsigned bins[64];

__global__ void histogram(const unsigned char *data, int n) {
    __shared__ unsigned own[64];
    for (int bin = threadIdx.x; bin < 64; bin += blockDim.x) own[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[data[i] % 64], 1);
    __syncthreads();
    for (int bin = threadIdx.x; bin < 64; bin += blockDim.x) atomicAdd(&bins[bin], own[bin]);
}

int main() {
    const int n = 20000;
    std::vector<unsigned char> data(n);
    std::vector<unsigned> expected(64), got(64);
    for (int i = 0; i < n; i++) data[i] = i * i % 251, expected[data[i] % 64]++;
    unsigned char *memory = on_device(data);
    unsigned *address;
    size_t bytes;
    CHECK(cudaGetSymbolAddress((void **)&address, bins));
    CHECK(cudaGetSymbolSize(&bytes, bins));
    REQUIRE(bytes == sizeof bins);
    CHECK(cudaMemset(address, 0, bytes));
    histogram<<<6, 96>>>(memory, n);
    CHECK(cudaMemcpyFromSymbol(got.data(), bins, bytes));
    REQUIRE(got == expected);
    REQUIRE(cudaMemcpyFromSymbol(got.data(), bins, bytes, 4) == cudaErrorInvalidValue);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
    return done("histogram");
}
