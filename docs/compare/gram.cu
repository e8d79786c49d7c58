// CUDA C++ twin of `kernels/src/gram.rs` and `gram_registers.rs`: a matrix times its transpose.
// By hand: nvcc -ptx -arch=sm_90 -o gram.ptx docs/compare/gram.cu;
// host gram --tiled16 --padded16 --tiled32 --padded32 --mirrored --registers --ptx gram.ptx

#include "product.cuh"

// C = A A^T. A matrix is four parameters: its first element, rows, columns, and the pitch in
// elements. The tiles are volatile: otherwise four neighbours are loaded at once, and the conflicts
// are not those of the lecture.

// A tile of T x T elements of C, by as many threads. Rows of the tiles in shared memory have Width
// words.
template <unsigned T, unsigned Width>
__device__ void tile(const float* __restrict__ a, unsigned a_rows, unsigned depth, unsigned a_pitch,
                     float* c, unsigned c_rows, unsigned c_columns, unsigned c_pitch) {
    __shared__ volatile float rows[T][Width], columns[T][Width];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = block_row() * T + y, column = blockIdx.x * T + x;
    // The second tile has the rows of A that are the tile's columns of C.
    const unsigned other = blockIdx.x * T + y;
    float sum = 0.0f;
    for (unsigned first = 0; first < depth; first += T) {
        const unsigned k = first + x;
        rows[y][x] = row < a_rows && k < depth ? a[at(row, k, a_pitch)] : 0.0f;
        columns[y][x] = other < a_rows && k < depth ? a[at(other, k, a_pitch)] : 0.0f;
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < T; ++i) sum = fmaf(rows[y][i], columns[x][i], sum);
        // Nobody may overwrite a tile that another thread still reads.
        __syncthreads();
    }
    if (row < c_rows && column < c_columns) c[at(row, column, c_pitch)] = sum;
}

#define KERNEL(NAME, SIDE, WIDTH)                                                               \
    extern "C" __global__ void __launch_bounds__(SIDE * SIDE)                                   \
        NAME(const float* __restrict__ a, unsigned a_rows, unsigned depth, unsigned a_pitch,    \
             float* c, unsigned c_rows, unsigned c_columns, unsigned c_pitch) {                 \
        tile<SIDE, WIDTH>(a, a_rows, depth, a_pitch, c, c_rows, c_columns, c_pitch);            \
    }

KERNEL(gram_tiled16, 16, 16)
KERNEL(gram_padded16, 16, 17)
KERNEL(gram_tiled32, 32, 32)
KERNEL(gram_padded32, 32, 33)

// Only the tiles on and below the diagonal; those below are also written above, transposed in
// shared memory so that these stores are coalesced, too.
extern "C" __global__ void __launch_bounds__(32 * 32)
    gram_mirrored(const float* __restrict__ a, unsigned a_rows, unsigned depth, unsigned a_pitch,
                  float* c, unsigned c_rows, unsigned c_columns, unsigned c_pitch) {
    __shared__ volatile float rows[32][33], columns[32][33];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned tile_row = block_row(), tile_column = blockIdx.x;
    if (tile_column > tile_row) return;
    const unsigned row = tile_row * 32 + y, column = tile_column * 32 + x;
    const unsigned other = tile_column * 32 + y;
    float sum = 0.0f;
    for (unsigned first = 0; first < depth; first += 32) {
        const unsigned k = first + x;
        rows[y][x] = row < a_rows && k < depth ? a[at(row, k, a_pitch)] : 0.0f;
        columns[y][x] = other < a_rows && k < depth ? a[at(other, k, a_pitch)] : 0.0f;
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < 32; ++i) sum = fmaf(rows[y][i], columns[x][i], sum);
        __syncthreads();
    }
    if (row < c_rows && column < c_columns) c[at(row, column, c_pitch)] = sum;
    if (tile_row != tile_column) {
        rows[y][x] = sum;
        __syncthreads();
        const unsigned mirrored = tile_row * 32 + x;
        if (other < c_rows && mirrored < c_columns) c[at(other, mirrored, c_pitch)] = rows[x][y];
    }
}

// Register tiles: a block computes 128 x 128 elements, each thread 8 x 8 in four squares of 4 x 4,
// only on and below the diagonal, and writes them twice.
extern "C" __global__ void __launch_bounds__(256)
    gram_registers(const float* __restrict__ a, unsigned a_rows, unsigned depth, unsigned a_pitch,
                   float* c, unsigned c_rows, unsigned c_columns, unsigned c_pitch) {
    // A is transposed on its way in; rows are 4 floats longer, for other banks.
    __shared__ __align__(16) float rows[2][8][132], columns[2][8][132];
    if (blockIdx.x > block_row() || block_row() >= (c_rows + 127) / 128) return;
    const unsigned row = block_row() * 128, column = blockIdx.x * 128;
    const unsigned t = threadIdx.x;
    // What the thread loads: four numbers of a row of A for each tile.
    const unsigned line = t / 2, first = t % 2 * 4;
    float4 for_rows = load4(a, row + line, first, a_rows, depth, a_pitch);
    float4 for_columns = load4(a, column + line, first, a_rows, depth, a_pitch);
    // What it computes: rows y to y + 3 and 64 further down, columns x to x + 3 and 64 further on.
    const unsigned x = t % 16 * 4, y = t / 16 * 4;
    float sums[8][8] = {};

    unsigned k = 0, stage = 0;
    while (true) {
        float row_four[4], column_four[4];
        unpack(row_four, for_rows);
        unpack(column_four, for_columns);
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
            rows[stage][first + i][line] = row_four[i];
            columns[stage][first + i][line] = column_four[i];
        }
        __syncthreads();
        if (k >= depth) break;
        k += 8;
        for_rows = load4(a, row + line, k + first, a_rows, depth, a_pitch);
        for_columns = load4(a, column + line, k + first, a_rows, depth, a_pitch);
#pragma unroll
        for (unsigned step = 0; step < 8; ++step) {
            const float* row_line = rows[stage][step];
            const float* column_line = columns[stage][step];
            float left[8], right[8];
            unpack(left, *reinterpret_cast<const float4*>(&row_line[y]));
            unpack(left + 4, *reinterpret_cast<const float4*>(&row_line[y + 64]));
            unpack(right, *reinterpret_cast<const float4*>(&column_line[x]));
            unpack(right + 4, *reinterpret_cast<const float4*>(&column_line[x + 64]));
#pragma unroll
            for (unsigned i = 0; i < 8; ++i)
#pragma unroll
                for (unsigned j = 0; j < 8; ++j) sums[i][j] = fmaf(left[i], right[j], sums[i][j]);
        }
        stage = 1 - stage;
    }
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
        const unsigned to = row + y + i % 4 + 64 * (i / 4);
        store4(c, to, column + x, c_rows, c_columns, c_pitch, &sums[i][0]);
        store4(c, to, column + x + 64, c_rows, c_columns, c_pitch, &sums[i][4]);
    }
    if (row == column) return;
    // Columns of the thread's elements are rows of the mirrored tile.
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) {
        float turned[8];
#pragma unroll
        for (unsigned i = 0; i < 8; ++i) turned[i] = sums[i][j];
        const unsigned to = column + x + j % 4 + 64 * (j / 4);
        store4(c, to, row + y, c_rows, c_columns, c_pitch, &turned[0]);
        store4(c, to, row + y + 64, c_rows, c_columns, c_pitch, &turned[4]);
    }
}
