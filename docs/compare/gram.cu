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
extern "C" __global__ void __launch_bounds__(256, 2)
    gram_registers(const float* __restrict__ a, unsigned a_rows, unsigned depth, unsigned a_pitch,
                   float* c, unsigned c_rows, unsigned c_columns, unsigned c_pitch) {
    __shared__ __align__(16) ATile rows, columns;
    if (blockIdx.x > block_row()) return;
    const unsigned row = block_row() * 128, column = blockIdx.x * 128;
    const unsigned t = 16 * threadIdx.y + threadIdx.x;
    // What the thread loads: four numbers of a row of A for each tile.
    const unsigned line = t / 2, first = t % 2 * 4;
    float sums[8][8] = {};
    for (unsigned k = 0; k < depth; k += 8) {
        float for_rows[4], for_columns[4];
        unpack(for_rows, load4(a, row + line, k + first, a_rows, depth, a_pitch));
        unpack(for_columns, load4(a, column + line, k + first, a_rows, depth, a_pitch));
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
            rows[first + i][line] = for_rows[i];
            columns[first + i][line] = for_columns[i];
        }
        __syncthreads();
        multiply(rows, columns, sums);
        __syncthreads();
    }
    const unsigned x = column + 4 * threadIdx.x, y = row + 4 * threadIdx.y;
    write(c, y, x, c_rows, c_columns, c_pitch, sums);
    if (row == column) return;
    // Columns of the thread's elements are rows of the mirrored tile.
    float mirrored[8][8];
#pragma unroll
    for (unsigned i = 0; i < 8; ++i)
#pragma unroll
        for (unsigned j = 0; j < 8; ++j) mirrored[i][j] = sums[j][i];
    write(c, x, y, c_rows, c_columns, c_pitch, mirrored);
}
