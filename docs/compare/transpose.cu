// The transposes of `kernels/src/transpose.rs` in CUDA C++, timed: what nvcc makes of the same kernels.
//
//     nvcc -O3 -gencode=arch=compute_90,code=sm_90 -o transpose docs/compare/transpose.cu && ./transpose
//
// 16384 x 16384 floats, random; each line is the median of 40 launches after 5 that are not counted, with the quartiles.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        std::printf("%s: %s\n", what, cudaGetErrorString(status));
        std::exit(1);
    }
}

constexpr unsigned Tile = 32, BlockRows = 8;

__global__ void copy(const float* in, float* out, unsigned rows, unsigned cols) {
    unsigned x = blockIdx.x * Tile + threadIdx.x, y = blockIdx.y * Tile + threadIdx.y;
    for (unsigned j = 0; j < Tile; j += BlockRows)
        if (x < cols && y + j < rows) out[(size_t)(y + j) * cols + x] = in[(size_t)(y + j) * cols + x];
}

__global__ void naive_reads(const float* in, float* out, unsigned rows, unsigned cols) {
    unsigned x = blockIdx.x * Tile + threadIdx.x, y = blockIdx.y * Tile + threadIdx.y;
    for (unsigned j = 0; j < Tile; j += BlockRows)
        if (x < cols && y + j < rows) out[(size_t)x * rows + y + j] = in[(size_t)(y + j) * cols + x];
}

__global__ void naive_writes(const float* in, float* out, unsigned rows, unsigned cols) {
    unsigned x = blockIdx.x * Tile + threadIdx.x, y = blockIdx.y * Tile + threadIdx.y;
    for (unsigned j = 0; j < Tile; j += BlockRows)
        if (x < rows && y + j < cols) out[(size_t)(y + j) * rows + x] = in[(size_t)x * cols + y + j];
}

__global__ void block16(const float* in, float* out, unsigned rows, unsigned cols) {
    unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < cols && y < rows) out[(size_t)x * rows + y] = in[(size_t)y * cols + x];
}

template <unsigned Padding>
__global__ void tiled(const float* in, float* out, unsigned rows, unsigned cols) {
    __shared__ float tile[Tile][Tile + Padding];
    unsigned x = blockIdx.x * Tile + threadIdx.x, y = blockIdx.y * Tile + threadIdx.y;
    for (unsigned j = 0; j < Tile; j += BlockRows)
        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * cols + x];
    __syncthreads();
    x = blockIdx.y * Tile + threadIdx.x;
    y = blockIdx.x * Tile + threadIdx.y;
    for (unsigned j = 0; j < Tile; j += BlockRows)
        if (x < rows && y + j < cols) out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename Work>
static void time(const char* name, size_t bytes, Work work) {
    cudaEvent_t start, end;
    check(cudaEventCreate(&start), "event");
    check(cudaEventCreate(&end), "event");
    for (int i = 0; i < 5; ++i) work();
    std::vector<float> times(40);
    for (float& milliseconds : times) {
        cudaEventRecord(start);
        work();
        cudaEventRecord(end);
        check(cudaEventSynchronize(end), name);
        cudaEventElapsedTime(&milliseconds, start, end);
    }
    check(cudaGetLastError(), name);
    std::sort(times.begin(), times.end());
    std::printf("%-12s %.4f ms (%.4f to %.4f), %.0f GB/s\n", name, times[20], times[10], times[30],
                2.0 * bytes / times[20] / 1e6);
}

int main() {
    const unsigned n = 16384;
    const size_t bytes = (size_t)n * n * sizeof(float);
    float *in, *out;
    check(cudaMalloc(&in, bytes), "input");
    check(cudaMalloc(&out, bytes), "output");
    std::vector<float> data((size_t)n * n);
    unsigned state = 1;
    for (float& value : data) {
        state = state * 1664525u + 1013904223u;
        value = (state >> 8) * 1e-6f;
    }
    check(cudaMemcpy(in, data.data(), bytes, cudaMemcpyHostToDevice), "copy");
    const dim3 grid(n / Tile, n / Tile), block(Tile, BlockRows), grid16(n / 16, n / 16), block_16(16, 16);
    time("device copy", bytes, [&] { cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice); });
    time("naive-reads", bytes, [&] { naive_reads<<<grid, block>>>(in, out, n, n); });
    time("naive-writes", bytes, [&] { naive_writes<<<grid, block>>>(in, out, n, n); });
    time("block16", bytes, [&] { block16<<<grid16, block_16>>>(in, out, n, n); });
    time("tiled", bytes, [&] { tiled<0><<<grid, block>>>(in, out, n, n); });
    time("padded", bytes, [&] { tiled<1><<<grid, block>>>(in, out, n, n); });
    time("copy", bytes, [&] { copy<<<grid, block>>>(in, out, n, n); });
}
