// CUDA C++ twin of `kernels/src/transpose.rs`: coalescing, shared memory, bank conflicts.
// By hand: nvcc -ptx -arch=sm_90 -o transpose.ptx docs/compare/transpose.cu; host transpose --ptx transpose.ptx

constexpr unsigned Tile = 32;      // rows and columns of a tile, and the width of its block
constexpr unsigned BlockRows = 8;  // the usual height of a block

// The row of this block in the grid, counted through its layers.
__device__ unsigned block_row() { return blockIdx.z * gridDim.y + blockIdx.y; }

// 64 bits: a large matrix passes 32 bits of bytes.
__device__ size_t at(unsigned row, unsigned col, unsigned pitch) {
    return size_t(row) * pitch + col;
}

// Calls `visit` for the lines of the tile that are this thread's. In blocks of the usual height
// their number is known, and the loop is unrolled.
template <typename Visit>
__device__ void for_each_line(Visit visit) {
    if (blockDim.y == BlockRows) {
#pragma unroll
        for (unsigned j = 0; j < Tile; j += BlockRows) visit(threadIdx.y + j);
    } else {
        for (unsigned y = threadIdx.y; y < Tile; y += blockDim.y) visit(y);
    }
}

// No transpose: the ceiling.
extern "C" __global__ void transpose_copy(const float* __restrict__ input, size_t, float* output,
                                          unsigned rows, unsigned cols, unsigned input_pitch,
                                          unsigned output_pitch) {
    const unsigned col = blockIdx.x * Tile + threadIdx.x, first_row = block_row() * Tile;
    for_each_line([=](unsigned y) {
        const unsigned row = first_row + y;
        if (col < cols && row < rows)
            output[at(row, col, output_pitch)] = input[at(row, col, input_pitch)];
    });
}

// Coalesced reads, scattered writes.
extern "C" __global__ void transpose_naive_reads(const float* __restrict__ input, size_t,
                                                 float* output, unsigned rows, unsigned cols,
                                                 unsigned input_pitch, unsigned output_pitch) {
    const unsigned col = blockIdx.x * Tile + threadIdx.x, first_row = block_row() * Tile;
    for_each_line([=](unsigned y) {
        const unsigned row = first_row + y;
        if (col < cols && row < rows)
            output[at(col, row, output_pitch)] = input[at(row, col, input_pitch)];
    });
}

// Scattered reads, coalesced writes.
extern "C" __global__ void transpose_naive_writes(const float* __restrict__ input, size_t,
                                                  float* output, unsigned rows, unsigned cols,
                                                  unsigned input_pitch, unsigned output_pitch) {
    const unsigned row = block_row() * Tile + threadIdx.x, first_col = blockIdx.x * Tile;
    for_each_line([=](unsigned y) {
        const unsigned col = first_col + y;
        if (row < rows && col < cols)
            output[at(col, row, output_pitch)] = input[at(row, col, input_pitch)];
    });
}

// One element a thread, in blocks of any shape; 16 x 16 is the usual one.
extern "C" __global__ void transpose_block16(const float* __restrict__ input, size_t, float* output,
                                             unsigned rows, unsigned cols, unsigned input_pitch,
                                             unsigned output_pitch) {
    const unsigned row = block_row() * blockDim.y + threadIdx.y;
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && col < cols)
        output[at(col, row, output_pitch)] = input[at(row, col, input_pitch)];
}

// Through a tile in shared memory: filled by rows, emptied by columns.
template <unsigned Padding>
__device__ void through_tile(const float* __restrict__ input, float* output, unsigned rows,
                             unsigned cols, unsigned input_pitch, unsigned output_pitch) {
    __shared__ float tile[Tile][Tile + Padding];
    const unsigned x = threadIdx.x;
    const unsigned first_row = block_row() * Tile, first_col = blockIdx.x * Tile;
    for_each_line([&](unsigned y) {
        const unsigned row = first_row + y, col = first_col + x;
        if (row < rows && col < cols) tile[y][x] = input[at(row, col, input_pitch)];
    });
    __syncthreads();
    for_each_line([&](unsigned y) {
        const unsigned row = first_row + x, col = first_col + y;
        if (row < rows && col < cols) output[at(col, row, output_pitch)] = tile[x][y];
    });
}

// A column of the tile is all in one bank.
extern "C" __global__ void transpose_tiled(const float* __restrict__ input, size_t, float* output,
                                           unsigned rows, unsigned cols, unsigned input_pitch,
                                           unsigned output_pitch) {
    through_tile<0>(input, output, rows, cols, input_pitch, output_pitch);
}

// Rows are one float longer: a column is in 32 banks.
extern "C" __global__ void transpose_padded(const float* __restrict__ input, size_t, float* output,
                                            unsigned rows, unsigned cols, unsigned input_pitch,
                                            unsigned output_pitch) {
    through_tile<1>(input, output, rows, cols, input_pitch, output_pitch);
}

// Four neighbours of a row, as far as they are there; `whole`: they are, and stand on 16 bytes.
__device__ float4 load4(const float* matrix, unsigned row, unsigned col, unsigned rows, unsigned cols,
                        unsigned pitch, bool whole) {
    const float* first = matrix + at(row, col, pitch);
    if (whole) return __ldcg(reinterpret_cast<const float4*>(first));
    if (row >= rows || col >= cols) return make_float4(0, 0, 0, 0);
    if (pitch % 4 == 0 && cols - col >= 4) return __ldcg(reinterpret_cast<const float4*>(first));
    return make_float4(first[0], col + 1 < cols ? first[1] : 0, col + 2 < cols ? first[2] : 0,
                       col + 3 < cols ? first[3] : 0);
}

__device__ void store4(float* matrix, unsigned row, unsigned col, unsigned rows, unsigned cols,
                       unsigned pitch, bool whole, float4 value) {
    float* first = matrix + at(row, col, pitch);
    if (whole || (row < rows && col < cols && pitch % 4 == 0 && cols - col >= 4)) {
        *reinterpret_cast<float4*>(first) = value;
    } else if (row < rows && col < cols) {
        first[0] = value.x;
        if (col + 1 < cols) first[1] = value.y;
        if (col + 2 < cols) first[2] = value.z;
        if (col + 3 < cols) first[3] = value.w;
    }
}

// A tile of `Height` rows and 64 columns, by four threads for each row.
template <unsigned Height, bool Whole>
__device__ void turn(const float* input, float* output, unsigned rows, unsigned cols, unsigned input_pitch,
                     unsigned output_pitch, unsigned row, unsigned col, float4 (*tile)[Height / 4]) {
    const unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
    const unsigned word = threadIdx.x % (Height / 4), column = threadIdx.x / (Height / 4);
    float4 q[4];
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
        q[i] = load4(input, row + 4 * y + i, col + 4 * x, rows, cols, input_pitch, Whole);
    const unsigned to = y ^ (x & 7);
    tile[4 * x][to] = make_float4(q[0].x, q[1].x, q[2].x, q[3].x);
    tile[4 * x + 1][to] = make_float4(q[0].y, q[1].y, q[2].y, q[3].y);
    tile[4 * x + 2][to] = make_float4(q[0].z, q[1].z, q[2].z, q[3].z);
    tile[4 * x + 3][to] = make_float4(q[0].w, q[1].w, q[2].w, q[3].w);
    __syncthreads();
#pragma unroll
    for (unsigned c = column; c < column + 64; c += 16)
        store4(output, col + c, row + 4 * word, cols, rows, output_pitch, Whole, tile[c][word ^ (c / 4 & 7)]);
}

// 4 x 4 elements a thread, turned in registers; words of 16 bytes, swizzled in shared memory.
template <unsigned Height>
__device__ void best(const float* input, float* output, unsigned rows, unsigned cols, unsigned input_pitch,
                     unsigned output_pitch, bool aligned) {
    __shared__ float4 tile[64][Height / 4];
    cudaGridDependencySynchronize();
    const unsigned row = blockIdx.x * Height, col = (blockIdx.z * gridDim.y + blockIdx.y) * 64;
    if (aligned && row + Height <= rows && col + 64 <= cols)
        turn<Height, true>(input, output, rows, cols, input_pitch, output_pitch, row, col, tile);
    else
        turn<Height, false>(input, output, rows, cols, input_pitch, output_pitch, row, col, tile);
}

extern "C" __global__ void __launch_bounds__(256, 6)
transpose_best(const float* input, float* output, unsigned rows, unsigned cols,
               unsigned input_pitch, unsigned output_pitch) {
    best<64>(input, output, rows, cols, input_pitch, output_pitch, true);
}

extern "C" __global__ void __launch_bounds__(128, 12)
transpose_best_small(const float* input, float* output, unsigned rows, unsigned cols,
                     unsigned input_pitch, unsigned output_pitch) {
    best<32>(input, output, rows, cols, input_pitch, output_pitch, true);
}

extern "C" __global__ void __launch_bounds__(256, 6)
transpose_best_unaligned(const float* input, float* output, unsigned rows, unsigned cols,
                         unsigned input_pitch, unsigned output_pitch) {
    best<64>(input, output, rows, cols, input_pitch, output_pitch, false);
}
