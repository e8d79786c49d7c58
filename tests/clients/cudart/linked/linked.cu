// Device code in two files, which nvcc links (-rdc=true): a function and a variable of the other one.
#include "../check.h"

extern __device__ int twice(int value);
extern __device__ int calls;

__global__ void fill(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = twice(i);
        atomicAdd(&calls, 1);
    }
}

__global__ void take(int *out) { *out = calls; }

int main() {
    const int n = 1000;
    int *memory;
    CHECK(cudaMalloc(&memory, n * sizeof(int)));
    fill<<<(n + 127) / 128, 128>>>(memory, n);
    std::vector<int> result = on_host(memory, n);
    for (int i = 0; i < n; i++) REQUIRE(result[i] == 2 * i);
    take<<<1, 1>>>(memory);
    REQUIRE(on_host(memory, 1)[0] == n);
    CHECK(cudaFree(memory));
    return done("linked");
}
