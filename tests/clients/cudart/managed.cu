// Memory and variables that host and device share; errors, at once and later.
#include "check.h"

__managed__ int counter = 40;
__managed__ float table[4];

__global__ void fill(int *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        values[i] += i;
        atomicAdd(&counter, 1);
        table[i % 4] = i % 4 + 0.5f;
    }
}

int main() {
    REQUIRE(counter == 40);
    counter = 2;
    int *values, *seen, n = 200;
    CHECK(cudaMallocManaged(&values, n * sizeof(int)));
    for (int i = 0; i < n; i++) values[i] = 1000;
    CHECK(cudaMemPrefetchAsync(values, n * sizeof(int), cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0));
    fill<<<4, 64>>>(values, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) REQUIRE(values[i] == 1000 + i);
    REQUIRE(counter == n + 2 && table[3] == 3.5f);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, values));
    REQUIRE(attributes.type == cudaMemoryTypeManaged && attributes.hostPointer == values);

    std::vector<int> own(n, 1);
    CHECK(cudaHostRegister(own.data(), n * sizeof(int), cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&seen, own.data(), 0));
    fill<<<4, 64>>>(seen, n);
    CHECK(cudaDeviceSynchronize());
    REQUIRE(own[9] == 10);
    CHECK(cudaHostUnregister(own.data()));

    fill<<<1, 2048>>>(values, n);
    REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaSuccess);
    REQUIRE(cudaMalloc(&seen, size_t(1) << 60) == cudaErrorMemoryAllocation);
    REQUIRE(cudaSetDevice(99) == cudaErrorInvalidDevice);
    (void)cudaGetLastError();
    return done("managed");
}
