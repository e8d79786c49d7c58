// A transpose through a padded tile of shared memory, a template with the tile's width.
#include "check.h"

template <int TILE> __global__ void transpose(const float *in, float *out, int rows, int cols) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < cols && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * cols + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    if (x < rows && y < cols) out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

template <int TILE> void test(int rows, int cols) {
    std::vector<float> in(rows * cols);
    for (size_t i = 0; i < in.size(); i++) in[i] = i;
    float *din = on_device(in), *out;
    CHECK(cudaMalloc(&out, in.size() * sizeof(float)));
    CHECK(cudaFuncSetCacheConfig(transpose<TILE>, cudaFuncCachePreferShared));
    dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose<TILE><<<grid, dim3(TILE, TILE)>>>(din, out, rows, cols);
    std::vector<float> result = on_host(out, in.size());
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++) REQUIRE(result[col * rows + row] == in[row * cols + col]);
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, transpose<TILE>));
    REQUIRE(attributes.sharedSizeBytes == TILE * (TILE + 1) * sizeof(float));
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

int main() {
    test<16>(40, 70);
    test<32>(65, 33);
    return done("transpose");
}
