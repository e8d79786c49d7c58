// A product of matrices through tiles, timed by events, launched by the function's address.
#include "check.h"

const int TILE = 16;

__global__ void multiply(const float *a, const float *b, float *c, int n) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
    float sum = 0;
    for (int start = 0; start < n; start += TILE) {
        as[y][x] = a[row * n + start + x];
        bs[y][x] = b[(start + y) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

int main() {
    int n = 64;
    std::vector<float> a(n * n), b(n * n);
    for (int i = 0; i < n * n; i++) a[i] = i % 7, b[i] = i % 5;
    float *da = on_device(a), *db = on_device(b), *dc;
    CHECK(cudaMalloc(&dc, n * n * sizeof(float)));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    void *arguments[] = {&da, &db, &dc, &n};
    CHECK(cudaLaunchKernel((const void *)multiply, dim3(n / TILE, n / TILE), dim3(TILE, TILE), arguments, 0, 0));
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    REQUIRE(milliseconds > 0);
    std::vector<float> c = on_host(dc, n * n);
    for (int row = 0; row < n; row++)
        for (int col = 0; col < n; col++) {
            float sum = 0;
            for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
            REQUIRE(c[row * n + col] == sum);
        }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return done("matrix_multiply");
}
