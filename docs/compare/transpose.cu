// CUDA C++ twin of `kernels/src/transpose.rs` and of the best transposes: coalescing, shared memory, bank
// conflicts.
// By hand: nvcc -ptx -arch=sm_90 -o transpose.ptx docs/compare/transpose.cu; host transpose --ptx transpose.ptx

#include "l2_evict_last.cuh"

// The row of this block in the grid, counted through its layers.
__device__ unsigned block_row() { return blockIdx.z * gridDim.y + blockIdx.y; }

// 64 bits: a large matrix passes 32 bits of bytes.
__device__ size_t at(unsigned row, unsigned col, unsigned pitch) {
    return size_t(row) * pitch + col;
}

// A matrix is four parameters: its first element, rows, columns, and the pitch in elements.

// No transpose: the ceiling.
extern "C" __global__ void __launch_bounds__(256)
transpose_copy(const float* __restrict__ in, unsigned rows, unsigned cols,
               unsigned in_pitch, float* out, unsigned, unsigned,
               unsigned out_pitch) {
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = 32 * block_row(), col = 32 * blockIdx.x;
#pragma unroll
    for (unsigned line = y; line < 32; line += 8) {
        if (row + line < rows && col + x < cols)
            out[at(row + line, col + x, out_pitch)] = in[at(row + line, col + x, in_pitch)];
    }
}

// Coalesced reads, scattered writes.
extern "C" __global__ void __launch_bounds__(256)
transpose_strided_writes(const float* __restrict__ in, unsigned rows, unsigned cols,
                      unsigned in_pitch, float* out, unsigned, unsigned,
                      unsigned out_pitch) {
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = 32 * block_row(), col = 32 * blockIdx.x;
#pragma unroll
    for (unsigned line = y; line < 32; line += 8) {
        if (row + line < rows && col + x < cols)
            out[at(col + x, row + line, out_pitch)] = in[at(row + line, col + x, in_pitch)];
    }
}

// Scattered reads, coalesced writes.
extern "C" __global__ void __launch_bounds__(256)
transpose_strided_reads(const float* __restrict__ in, unsigned rows, unsigned cols,
                       unsigned in_pitch, float* out, unsigned, unsigned,
                       unsigned out_pitch) {
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = 32 * block_row(), col = 32 * blockIdx.x;
#pragma unroll
    for (unsigned line = y; line < 32; line += 8) {
        if (row + x < rows && col + line < cols)
            out[at(col + line, row + x, out_pitch)] = in[at(row + x, col + line, in_pitch)];
    }
}

// One element a thread, in blocks of any shape; 16 x 16 is the usual one.
extern "C" __global__ void
transpose_block16(const float* __restrict__ in, unsigned rows, unsigned cols,
                  unsigned in_pitch, float* out, unsigned, unsigned,
                  unsigned out_pitch) {
    const unsigned row = block_row() * blockDim.y + threadIdx.y;
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && col < cols) out[at(col, row, out_pitch)] = in[at(row, col, in_pitch)];
}

// Through a tile in shared memory: a column of it is all in one bank.
extern "C" __global__ void __launch_bounds__(256)
transpose_tiled(const float* __restrict__ in, unsigned rows, unsigned cols,
                unsigned in_pitch, float* out, unsigned, unsigned,
                unsigned out_pitch) {
    __shared__ float tile[32][32];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = 32 * block_row(), col = 32 * blockIdx.x;
#pragma unroll
    for (unsigned line = y; line < 32; line += 8) {
        if (row + line < rows && col + x < cols)
            tile[line][x] = in[at(row + line, col + x, in_pitch)];
    }
    __syncthreads();
#pragma unroll
    for (unsigned line = y; line < 32; line += 8) {
        if (col + line < cols && row + x < rows)
            out[at(col + line, row + x, out_pitch)] = tile[x][line];
    }
}

// Rows are one float longer: a column is in 32 banks.
extern "C" __global__ void __launch_bounds__(256)
transpose_padded(const float* __restrict__ in, unsigned rows, unsigned cols,
                 unsigned in_pitch, float* out, unsigned, unsigned,
                 unsigned out_pitch) {
    __shared__ float tile[32][33];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = 32 * block_row(), col = 32 * blockIdx.x;
#pragma unroll
    for (unsigned line = y; line < 32; line += 8) {
        if (row + line < rows && col + x < cols)
            tile[line][x] = in[at(row + line, col + x, in_pitch)];
    }
    __syncthreads();
#pragma unroll
    for (unsigned line = y; line < 32; line += 8) {
        if (col + line < cols && row + x < rows)
            out[at(col + line, row + x, out_pitch)] = tile[x][line];
    }
}

// Rows of the tile of any width from 32 to 64 floats.
extern "C" __global__ void __launch_bounds__(256)
transpose_wide(const float* __restrict__ in, unsigned rows, unsigned cols,
               unsigned in_pitch, float* out, unsigned, unsigned,
               unsigned out_pitch, unsigned width) {
    __shared__ float tile[32 * 64];
    width = min(max(width, 32u), 64u);
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = 32 * block_row(), col = 32 * blockIdx.x;
#pragma unroll
    for (unsigned line = y; line < 32; line += 8) {
        if (row + line < rows && col + x < cols)
            tile[line * width + x] = in[at(row + line, col + x, in_pitch)];
    }
    __syncthreads();
#pragma unroll
    for (unsigned line = y; line < 32; line += 8) {
        if (col + line < cols && row + x < rows)
            out[at(col + line, row + x, out_pitch)] = tile[x * width + line];
    }
}

// The padded tile, but neighbouring blocks take the tiles of a diagonal.
extern "C" __global__ void __launch_bounds__(256)
transpose_diagonal(const float* __restrict__ in, unsigned rows, unsigned cols,
                   unsigned in_pitch, float* out, unsigned, unsigned,
                   unsigned out_pitch) {
    __shared__ float tile[32][33];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned across = gridDim.x, down = gridDim.y * gridDim.z;
    const unsigned block = block_row() * across + blockIdx.x;
    const unsigned diagonal = block / down, tile_row = block % down;
    const unsigned row = 32 * tile_row, col = 32 * ((diagonal + tile_row) % across);
#pragma unroll
    for (unsigned line = y; line < 32; line += 8) {
        if (row + line < rows && col + x < cols)
            tile[line][x] = in[at(row + line, col + x, in_pitch)];
    }
    __syncthreads();
#pragma unroll
    for (unsigned line = y; line < 32; line += 8) {
        if (col + line < cols && row + x < rows)
            out[at(col + line, row + x, out_pitch)] = tile[x][line];
    }
}

// Four loads are in flight before the first value is used.
extern "C" __global__ void __launch_bounds__(256)
transpose_batched(const float* __restrict__ in, unsigned rows, unsigned cols,
                  unsigned in_pitch, float* out, unsigned, unsigned,
                  unsigned out_pitch) {
    __shared__ float tile[32][33];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = 32 * block_row(), col = 32 * blockIdx.x;
    float values[4];
#pragma unroll
    for (unsigned step = 0; step < 4; ++step) {
        const unsigned line = y + 8 * step;
        const bool there = row + line < rows && col + x < cols;
        values[step] = there ? in[at(row + line, col + x, in_pitch)] : 0;
    }
#pragma unroll
    for (unsigned step = 0; step < 4; ++step) tile[y + 8 * step][x] = values[step];
    __syncthreads();
#pragma unroll
    for (unsigned line = y; line < 32; line += 8) {
        if (col + line < cols && row + x < rows)
            out[at(col + line, row + x, out_pitch)] = tile[x][line];
    }
}

// The tile of `Side` x `Side` floats that begins in this row and column. Outside of it each thread moves
// two words of 16 bytes, or eight floats where rows are not aligned.
template <unsigned Side, bool Aligned, bool Prefetch>
__device__ void transpose_tile(unsigned row, unsigned col, const float* input, float* output, unsigned rows,
                     unsigned cols, unsigned input_pitch, unsigned output_pitch) {
    __shared__ float tile[Side][Side + 1];
    const unsigned thread = threadIdx.x, words_of_row = Side / 4;
    cudaGridDependencySynchronize();
    if (Aligned || input_pitch % 4 == 0) {
        // What is beyond the matrix is read from its last row or word.
        const unsigned x = thread % words_of_row * 4, from = min(col + x, (cols - 1) / 4 * 4);
        float4 words[2];
#pragma unroll
        for (unsigned i = 0; i < 2; ++i) {
            const unsigned y = min(row + thread / words_of_row + Side / 2 * i, rows - 1);
            const auto word = reinterpret_cast<const float4*>(input + at(y, from, input_pitch));
            words[i] = Prefetch ? load_l2_evict_last_prefetch(word) : load_l2_evict_last(word);
        }
#pragma unroll
        for (unsigned i = 0; i < 2; ++i) {
            float* to = &tile[thread / words_of_row + Side / 2 * i][x];
            to[0] = words[i].x, to[1] = words[i].y, to[2] = words[i].z, to[3] = words[i].w;
        }
    } else {
        // A warp brings eight pieces of 32 floats, those of a row one after the other.
        const unsigned pieces = Side / 32, first = thread / 32 * 8, lane = thread % 32;
        float floats[8];
#pragma unroll
        for (unsigned i = 0; i < 8; ++i) {
            const unsigned y = min(row + (first + i) / pieces, rows - 1);
            const unsigned x = min(col + (first + i) % pieces * 32 + lane, cols - 1);
            floats[i] = load_l2_evict_last_prefetch(input + at(y, x, input_pitch));
        }
#pragma unroll
        for (unsigned i = 0; i < 8; ++i) tile[(first + i) / pieces][(first + i) % pieces * 32 + lane] = floats[i];
    }
    __syncthreads();
    if (Aligned || output_pitch % 4 == 0) {
        const unsigned y = thread % words_of_row * 4, height = rows - row;
#pragma unroll
        for (unsigned i = 0; i < 2; ++i) {
            const unsigned x = thread / words_of_row + Side / 2 * i;
            const float4 word = make_float4(tile[y][x], tile[y + 1][x], tile[y + 2][x], tile[y + 3][x]);
            float* to = output + at(col + x, row + y, output_pitch);
            if (col + x >= cols) continue;
            if (y + 3 < height) {
                store_l2_evict_last(reinterpret_cast<float4*>(to), word);
            } else {
                if (y < height) to[0] = word.x;
                if (y + 1 < height) to[1] = word.y;
                if (y + 2 < height) to[2] = word.z;
            }
        }
    } else {
        const unsigned y = thread % Side;
#pragma unroll
        for (unsigned i = 0; i < 8; ++i) {
            const unsigned x = thread / Side + Side / 8 * i;
            if (row + y < rows && col + x < cols) output[at(col + x, row + y, output_pitch)] = tile[y][x];
        }
    }
}

extern "C" __global__ void __launch_bounds__(512, 4)
transpose_best(const float* input, float* output, unsigned rows, unsigned cols,
               unsigned input_pitch, unsigned output_pitch) {
    transpose_tile<64, true, false>(64 * blockIdx.x, 64 * block_row(), input, output, rows, cols, input_pitch, output_pitch);
}

extern "C" __global__ void __launch_bounds__(128, 16)
transpose_best_small(const float* input, float* output, unsigned rows, unsigned cols,
                     unsigned input_pitch, unsigned output_pitch) {
    transpose_tile<32, true, true>(32 * block_row(), 32 * blockIdx.x, input, output, rows, cols, input_pitch, output_pitch);
}

extern "C" __global__ void __launch_bounds__(512, 4)
transpose_best_unaligned(const float* input, float* output, unsigned rows, unsigned cols,
                         unsigned input_pitch, unsigned output_pitch) {
    transpose_tile<64, false, false>(64 * blockIdx.x, 64 * block_row(), input, output, rows, cols, input_pitch, output_pitch);
}
