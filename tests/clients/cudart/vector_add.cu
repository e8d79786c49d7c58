// The sum of two vectors; what the device says of itself, of memory and of the kernel.
#include "check.h"

__global__ void add(const float *a, const float *b, float *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
}

int main() {
    int count = 0, device = -1;
    CHECK(cudaGetDeviceCount(&count));
    REQUIRE(count >= 1);
    CHECK(cudaSetDevice(0));
    CHECK(cudaGetDevice(&device));
    REQUIRE(device == 0);
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    int multiprocessors = 0;
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    REQUIRE(properties.multiProcessorCount == multiprocessors && properties.warpSize == 32);
    REQUIRE(properties.maxThreadsPerBlock == 1024 && properties.major >= 5);

    const int n = 5000;
    std::vector<float> a(n), b(n);
    for (int i = 0; i < n; i++) a[i] = i, b[i] = 2 * i;
    float *da = on_device(a), *db = on_device(b), *sum;
    CHECK(cudaMalloc(&sum, n * sizeof(float)));
    int block = 0, grid = 0;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add));
    REQUIRE(block >= 32 && block % 32 == 0 && grid >= multiprocessors);
    add<<<(n + 255) / 256, 256>>>(da, db, sum, n);
    std::vector<float> result = on_host(sum, n);
    for (int i = 0; i < n; i++) REQUIRE(result[i] == 3 * i);

    size_t free_bytes, all_bytes;
    CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
    REQUIRE(free_bytes < all_bytes && all_bytes == properties.totalGlobalMem);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, sum));
    REQUIRE(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == sum);
    CHECK(cudaPointerGetAttributes(&attributes, result.data()));
    REQUIRE(attributes.type == cudaMemoryTypeUnregistered);
    for (float *memory : {da, db, sum}) CHECK(cudaFree(memory));
    CHECK(cudaFree(nullptr));
    return done("vector_add");
}
