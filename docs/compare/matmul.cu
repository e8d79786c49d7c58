// CUDA C++ twin of `kernels/src/matmul.rs`: the matrix product, through tiles.
// By hand: nvcc -ptx -arch=sm_90 -o matmul.ptx docs/compare/matmul.cu;
// host matmul --naive --tiled16 --tiled32 --registers --wide --async2 --async3 --ptx matmul.ptx
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

// 8 x 8 elements a thread: rows y, y + 16, ... and columns x, x + 16, ... of the block's tile.
extern "C" __global__ void __launch_bounds__(256, 2)
matmul_registers(const float* __restrict__ a, unsigned m, unsigned depth, unsigned a_pitch,
                 const float* __restrict__ b, unsigned, unsigned n, unsigned b_pitch,
                 float* c, unsigned, unsigned, unsigned c_pitch) {
    __shared__ float a_tile[128][8], b_tile[8][128];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = block_row() * 128, column = blockIdx.x * 128;
    float sums[8][8] = {};
    for (unsigned k = 0; k < depth; k += 8) {
#pragma unroll
        for (unsigned round = 0; round < 4; ++round) {
            const unsigned i = 16 * y + x + 256 * round;
            const unsigned r = row + i / 8, kr = k + i % 8, kc = k + i / 128, to = column + i % 128;
            a_tile[i / 8][i % 8] = r < m && kr < depth ? a[at(r, kr, a_pitch)] : 0.0f;
            b_tile[i / 128][i % 128] = kc < depth && to < n ? b[at(kc, to, b_pitch)] : 0.0f;
        }
        __syncthreads();
        for (unsigned step = 0; step < 8; ++step) {
            float rows[8], columns[8];
#pragma unroll
            for (unsigned i = 0; i < 8; ++i) rows[i] = a_tile[y + 16 * i][step];
#pragma unroll
            for (unsigned j = 0; j < 8; ++j) columns[j] = b_tile[step][x + 16 * j];
#pragma unroll
            for (unsigned i = 0; i < 8; ++i)
#pragma unroll
                for (unsigned j = 0; j < 8; ++j) sums[i][j] = fmaf(rows[i], columns[j], sums[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned i = 0; i < 8; ++i)
#pragma unroll
        for (unsigned j = 0; j < 8; ++j) {
            const unsigned r = row + y + 16 * i, to = column + x + 16 * j;
            if (r < m && to < n) c[at(r, to, c_pitch)] = sums[i][j];
        }
}

// Words of 16 bytes.
extern "C" __global__ void __launch_bounds__(256, 2)
matmul_wide(const float* __restrict__ a, unsigned m, unsigned depth, unsigned a_pitch,
            const float* __restrict__ b, unsigned, unsigned n, unsigned b_pitch,
            float* c, unsigned, unsigned, unsigned c_pitch) {
    __shared__ __align__(16) ATile a_tile;
    __shared__ __align__(16) BTile b_tile;
    const unsigned t = 16 * threadIdx.y + threadIdx.x;
    const unsigned row = block_row() * 128, column = blockIdx.x * 128;
    // What the thread loads: four numbers of a row of A, four of a row of B.
    const unsigned a_row = t / 2, a_k = t % 2 * 4, b_k = t / 32, b_column = t % 32 * 4;
    float sums[8][8] = {};
    for (unsigned k = 0; k < depth; k += 8) {
        float from_a[4];
        unpack(from_a, load4(a, row + a_row, k + a_k, m, depth, a_pitch));
        const float4 from_b = load4(b, k + b_k, column + b_column, depth, n, b_pitch);
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) a_tile[a_k + i][a_row] = from_a[i];
        *reinterpret_cast<float4*>(&b_tile[b_k][b_column]) = from_b;
        __syncthreads();
        multiply(a_tile, b_tile, sums);
        __syncthreads();
    }
    write(c, row + 4 * threadIdx.y, column + 4 * threadIdx.x, m, n, c_pitch, sums);
}

// An asynchronous copy of one number, or zero.
__device__ __forceinline__ void fetch(float* to, const float* from, bool inside) {
    const unsigned place = __cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(place), "l"(from),
                 "r"(inside ? 4 : 0));
}

// Asynchronous copies to `Stages` tiles of each matrix.
template <unsigned Stages>
__device__ __forceinline__ void through_stages(const float* a, unsigned m, unsigned depth,
                                               unsigned a_pitch, const float* b, unsigned n,
                                               unsigned b_pitch, float* c, unsigned c_pitch) {
    __shared__ __align__(16) ATile a_tiles[Stages];
    __shared__ __align__(16) BTile b_tiles[Stages];
    const unsigned row = block_row() * 128, column = blockIdx.x * 128;
    auto start_copies = [=](unsigned k, ATile& a_tile, BTile& b_tile) {
#pragma unroll
        for (unsigned round = 0; round < 4; ++round) {
            const unsigned i = 16 * threadIdx.y + threadIdx.x + 256 * round;
            const unsigned r = row + i / 8, kr = k + i % 8, kc = k + i / 128, to = column + i % 128;
            fetch(&a_tile[i % 8][i / 8], a + at(r, kr, a_pitch), r < m && kr < depth);
            fetch(&b_tile[i / 128][i % 128], b + at(kc, to, b_pitch), kc < depth && to < n);
        }
        asm volatile("cp.async.commit_group;");
    };
    float sums[8][8] = {};
    for (unsigned ahead = 0; ahead < Stages - 1; ++ahead)
        start_copies(8 * ahead, a_tiles[ahead], b_tiles[ahead]);
    const unsigned tiles = (depth + 7) / 8;
    for (unsigned tile = 0; tile < tiles; ++tile) {
        // This tile is there, and everybody has read the one before, to which the next copies go.
        asm volatile("cp.async.wait_group %0;" ::"n"(Stages - 2) : "memory");
        __syncthreads();
        const unsigned now = tile % Stages, ahead = (tile + Stages - 1) % Stages;
        start_copies(8 * (tile + Stages - 1), a_tiles[ahead], b_tiles[ahead]);
        multiply(a_tiles[now], b_tiles[now], sums);
    }
    write(c, row + 4 * threadIdx.y, column + 4 * threadIdx.x, m, n, c_pitch, sums);
}

extern "C" __global__ void __launch_bounds__(256, 2)
matmul_async2(const float* __restrict__ a, unsigned m, unsigned depth, unsigned a_pitch,
              const float* __restrict__ b, unsigned, unsigned n, unsigned b_pitch,
              float* c, unsigned, unsigned, unsigned c_pitch) {
    through_stages<2>(a, m, depth, a_pitch, b, n, b_pitch, c, c_pitch);
}

extern "C" __global__ void __launch_bounds__(256, 2)
matmul_async3(const float* __restrict__ a, unsigned m, unsigned depth, unsigned a_pitch,
              const float* __restrict__ b, unsigned, unsigned n, unsigned b_pitch,
              float* c, unsigned, unsigned, unsigned c_pitch) {
    through_stages<3>(a, m, depth, a_pitch, b, n, b_pitch, c, c_pitch);
}
