// CUDA C++ twin of `kernels/src/matmul.rs`: the matrix product, through tiles.
// By hand: nvcc -ptx -arch=sm_90 -o matmul.ptx docs/compare/matmul.cu;
// host matmul --naive --tiled16 --tiled32 --registers --ptx matmul.ptx
// What `--best` is held against is cuBLAS: docs/PEERS.md.

#include "product.cuh"

// C = A B, with A of m x k, B of k x n. A matrix is four parameters: its first element, rows,
// columns, and the pitch in elements.

// One thread an element, everything from global memory.
extern "C" __global__ void
matmul_naive(const float* __restrict__ a, unsigned m, unsigned k, unsigned a_pitch,
             const float* __restrict__ b, unsigned, unsigned n, unsigned b_pitch,
             float* c, unsigned, unsigned, unsigned c_pitch) {
    const unsigned row = block_row() * blockDim.y + threadIdx.y;
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (unsigned i = 0; i < k; ++i)
            sum = fmaf(a[at(row, i, a_pitch)], b[at(i, column, b_pitch)], sum);
        c[at(row, column, c_pitch)] = sum;
    }
}

// Tiles of 16 x 16 in shared memory, in blocks of as many threads.
extern "C" __global__ void __launch_bounds__(16 * 16)
matmul_tiled16(const float* __restrict__ a, unsigned m, unsigned k, unsigned a_pitch,
               const float* __restrict__ b, unsigned, unsigned n, unsigned b_pitch,
               float* c, unsigned, unsigned, unsigned c_pitch) {
    __shared__ float a_tile[16][16], b_tile[16][16];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = block_row() * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (unsigned first = 0; first < k; first += 16) {
        const unsigned i = first + x, j = first + y;
        a_tile[y][x] = row < m && i < k ? a[at(row, i, a_pitch)] : 0.0f;
        b_tile[y][x] = j < k && column < n ? b[at(j, column, b_pitch)] : 0.0f;
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < 16; ++i) sum = fmaf(a_tile[y][i], b_tile[i][x], sum);
        // Nobody may overwrite a tile that another thread still reads.
        __syncthreads();
    }
    if (row < m && column < n) c[at(row, column, c_pitch)] = sum;
}

// Tiles of 32 x 32 in shared memory, in blocks of as many threads.
extern "C" __global__ void __launch_bounds__(32 * 32)
matmul_tiled32(const float* __restrict__ a, unsigned m, unsigned k, unsigned a_pitch,
               const float* __restrict__ b, unsigned, unsigned n, unsigned b_pitch,
               float* c, unsigned, unsigned, unsigned c_pitch) {
    __shared__ float a_tile[32][32], b_tile[32][32];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = block_row() * 32 + y, column = blockIdx.x * 32 + x;
    float sum = 0.0f;
    for (unsigned first = 0; first < k; first += 32) {
        const unsigned i = first + x, j = first + y;
        a_tile[y][x] = row < m && i < k ? a[at(row, i, a_pitch)] : 0.0f;
        b_tile[y][x] = j < k && column < n ? b[at(j, column, b_pitch)] : 0.0f;
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < 32; ++i) sum = fmaf(a_tile[y][i], b_tile[i][x], sum);
        // Nobody may overwrite a tile that another thread still reads.
        __syncthreads();
    }
    if (row < m && column < n) c[at(row, column, c_pitch)] = sum;
}

// Register tiles: a block computes 128 x 128 elements, each thread 8 x 8 in four squares of 4 x 4.
// While two tiles are multiplied, the next two are on their way to registers.
extern "C" __global__ void __launch_bounds__(256, 2)
matmul_registers(const float* __restrict__ a, unsigned m, unsigned depth, unsigned a_pitch,
                 const float* __restrict__ b, unsigned, unsigned n, unsigned b_pitch,
                 float* c, unsigned, unsigned, unsigned c_pitch) {
    // A is transposed on its way in; its rows are 4 floats longer, for other banks.
    __shared__ __align__(16) float a_tiles[2][8][132];
    __shared__ __align__(16) float b_tiles[2][8][128];
    const unsigned t = threadIdx.x;
    const unsigned row = block_row() * 128, column = blockIdx.x * 128;
    // What the thread loads: four numbers of a row of A, four of a row of B.
    const unsigned a_row = t / 2, a_k = t % 2 * 4, b_k = t / 32, b_column = t % 32 * 4;
    float4 from_a = load4(a, row + a_row, a_k, m, depth, a_pitch);
    float4 from_b = load4(b, b_k, column + b_column, depth, n, b_pitch);
    // What it computes: rows y to y + 3 and 64 further down, columns x to x + 3 and 64 further on.
    const unsigned x = t % 16 * 4, y = t / 16 * 4;
    float sums[8][8] = {};

    unsigned k = 0, stage = 0;
    while (true) {
        float four[4];
        unpack(four, from_a);
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) a_tiles[stage][a_k + i][a_row] = four[i];
        *reinterpret_cast<float4*>(&b_tiles[stage][b_k][b_column]) = from_b;
        __syncthreads();
        if (k >= depth) break;
        k += 8;
        from_a = load4(a, row + a_row, k + a_k, m, depth, a_pitch);
        from_b = load4(b, k + b_k, column + b_column, depth, n, b_pitch);
#pragma unroll
        for (unsigned step = 0; step < 8; ++step) {
            const float* a_line = a_tiles[stage][step];
            const float* b_line = b_tiles[stage][step];
            float rows[8], columns[8];
            unpack(rows, *reinterpret_cast<const float4*>(&a_line[y]));
            unpack(rows + 4, *reinterpret_cast<const float4*>(&a_line[y + 64]));
            unpack(columns, *reinterpret_cast<const float4*>(&b_line[x]));
            unpack(columns + 4, *reinterpret_cast<const float4*>(&b_line[x + 64]));
#pragma unroll
            for (unsigned i = 0; i < 8; ++i)
#pragma unroll
                for (unsigned j = 0; j < 8; ++j) sums[i][j] = fmaf(rows[i], columns[j], sums[i][j]);
        }
        stage = 1 - stage;
    }
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
        const unsigned to = row + y + i % 4 + 64 * (i / 4);
        store4(c, to, column + x, m, n, c_pitch, &sums[i][0]);
        store4(c, to, column + x + 64, m, n, c_pitch, &sums[i][4]);
    }
}
