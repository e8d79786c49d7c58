// CUDA C++ twin of `stencil.rs`, `stencil_registers.rs`, `stencil_volume.rs` and `stencil_walk.rs`
// in `kernels/src`.
// By hand: nvcc -ptx -arch=sm_90 -o stencil.ptx docs/compare/stencil.cu; host stencil --ptx stencil.ptx

#include "product.cuh"

// A matrix is four parameters: its first element, rows, columns, and the pitch in elements.
#define INPUT const float *__restrict__ input, unsigned rows, unsigned columns, unsigned pitch
#define OUTPUT float *output, unsigned, unsigned, unsigned output_pitch

__device__ constexpr float SMOOTH[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

// A value of the matrix, and 0 outside of it. Row -1 wraps around to a row that no matrix has.
__device__ __forceinline__ float value(INPUT, unsigned row, unsigned column) {
    return row < rows && column < columns ? input[at(row, column, pitch)] : 0.0f;
}
#define VALUE(row, column) value(input, rows, columns, pitch, row, column)

// The weighted sum of a point and four neighbours.
__device__ __forceinline__ float five(float here, float a, float b, float c, float d) {
    return fmaf(d, 0.125f, fmaf(c, 0.125f, fmaf(b, 0.125f, fmaf(a, 0.125f, 0.5f * here))));
}

// The weighted sum of a point and six neighbours.
__device__ __forceinline__ float seven(float here, float below, float up, float left, float right,
                                       float down, float above) {
    const float values[6] = {below, up, left, right, down, above};
    float sum = 0.25f * here;
#pragma unroll
    for (unsigned i = 0; i < 6; ++i) sum = fmaf(values[i], 0.125f, sum);
    return sum;
}

// Five points, straight from global memory.
extern "C" __global__ void stencil_global_5(INPUT, OUTPUT) {
    const unsigned row = block_row() * blockDim.y + threadIdx.y;
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || column >= columns) return;
    output[at(row, column, output_pitch)] =
        five(VALUE(row, column), VALUE(row - 1, column), VALUE(row, column - 1),
             VALUE(row, column + 1), VALUE(row + 1, column));
}

// 25 points.
extern "C" __global__ void stencil_global_25(INPUT, OUTPUT) {
    const unsigned row = block_row() * blockDim.y + threadIdx.y;
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || column >= columns) return;
    float sum = 0.0f;
#pragma unroll
    for (unsigned i = 0; i < 5; ++i)
#pragma unroll
        for (unsigned j = 0; j < 5; ++j)
            sum = fmaf(VALUE(row + i - 2, column + j - 2), SMOOTH[i] * SMOOTH[j], sum);
    output[at(row, column, output_pitch)] = sum;
}

// The output of the textures' kernels, whose size is the matrix's.
#define SAMPLED float *output, unsigned rows, unsigned columns, unsigned output_pitch

// Five points from a texture whose border is 0.
extern "C" __global__ void stencil_texture_5(cudaTextureObject_t image, SAMPLED) {
    const unsigned row = block_row() * blockDim.y + threadIdx.y;
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || column >= columns) return;
    const float x = float(column) + 0.5f, y = float(row) + 0.5f;
    output[at(row, column, output_pitch)] =
        five(tex2D<float>(image, x, y), tex2D<float>(image, x, y - 1.0f),
             tex2D<float>(image, x - 1.0f, y), tex2D<float>(image, x + 1.0f, y),
             tex2D<float>(image, x, y + 1.0f));
}

// 25 points from a texture.
extern "C" __global__ void stencil_texture_25(cudaTextureObject_t image, SAMPLED) {
    const unsigned row = block_row() * blockDim.y + threadIdx.y;
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || column >= columns) return;
    const float x = float(column) - 1.5f, y = float(row) - 1.5f;
    float sum = 0.0f;
#pragma unroll
    for (unsigned i = 0; i < 5; ++i)
#pragma unroll
        for (unsigned j = 0; j < 5; ++j)
            sum = fmaf(tex2D<float>(image, x + j, y + i), SMOOTH[i] * SMOOTH[j], sum);
    output[at(row, column, output_pitch)] = sum;
}

// Fills a tile: 32 x 32 values that begin at `row` and `column`, and a halo on each side.
template <unsigned HALO, unsigned SIDE>
__device__ __forceinline__ void fill(float (&tile)[SIDE][SIDE], INPUT, unsigned row,
                                     unsigned column) {
    for (unsigned line = threadIdx.y; line < SIDE; line += 8)
        for (unsigned place = threadIdx.x; place < SIDE; place += 32)
            tile[line][place] = VALUE(row + line - HALO, column + place - HALO);
}

// Five points from a tile.
extern "C" __global__ void __launch_bounds__(256) stencil_shared_5(INPUT, OUTPUT) {
    __shared__ float tile[34][34];
    const unsigned row = 32 * block_row(), column = 32 * blockIdx.x;
    fill<1, 34>(tile, input, rows, columns, pitch, row, column);
    __syncthreads();
    for (unsigned line = threadIdx.y; line < 32; line += 8) {
        const unsigned i = line + 1, j = threadIdx.x + 1;
        if (row + line < rows && column + threadIdx.x < columns)
            output[at(row + line, column + threadIdx.x, output_pitch)] =
                five(tile[i][j], tile[i - 1][j], tile[i][j - 1], tile[i][j + 1], tile[i + 1][j]);
    }
}

// 25 points from a tile.
extern "C" __global__ void __launch_bounds__(256) stencil_shared_25(INPUT, OUTPUT) {
    __shared__ float tile[36][36];
    const unsigned row = 32 * block_row(), column = 32 * blockIdx.x;
    fill<2, 36>(tile, input, rows, columns, pitch, row, column);
    __syncthreads();
    for (unsigned line = threadIdx.y; line < 32; line += 8) {
        if (row + line >= rows || column + threadIdx.x >= columns) continue;
        float sum = 0.0f;
#pragma unroll
        for (unsigned i = 0; i < 5; ++i)
#pragma unroll
            for (unsigned j = 0; j < 5; ++j)
                sum = fmaf(tile[line + i][threadIdx.x + j], SMOOTH[i] * SMOOTH[j], sum);
        output[at(row + line, column + threadIdx.x, output_pitch)] = sum;
    }
}

// Adds row `i` of a window to a result, if its window has that row.
__device__ __forceinline__ void add_line(float& sum, unsigned i, const float* values) {
    if (i >= 5) return;
#pragma unroll
    for (unsigned j = 0; j < 5; ++j) sum = fmaf(values[j], SMOOTH[i] * SMOOTH[j], sum);
}

// 25 points from a tile, four results below each other.
extern "C" __global__ void __launch_bounds__(256) stencil_registers_25(INPUT, OUTPUT) {
    __shared__ float tile[36][36];
    const unsigned row = 32 * block_row(), column = 32 * blockIdx.x;
    fill<2, 36>(tile, input, rows, columns, pitch, row, column);
    __syncthreads();
    float sums[4] = {};
#pragma unroll
    for (unsigned line = 0; line < 8; ++line) {
        float values[5];
#pragma unroll
        for (unsigned j = 0; j < 5; ++j) values[j] = tile[4 * threadIdx.y + line][threadIdx.x + j];
#pragma unroll
        for (unsigned result = 0; result < 4; ++result) add_line(sums[result], line - result, values);
    }
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned line = row + 4 * threadIdx.y + i;
        if (line < rows && column + threadIdx.x < columns)
            output[at(line, column + threadIdx.x, output_pitch)] = sums[i];
    }
}

// Five points, four results side by side.
extern "C" __global__ void stencil_wide_5(INPUT, OUTPUT) {
    const unsigned row = block_row() * blockDim.y + threadIdx.y;
    const unsigned column = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    float up[4], here[4], down[4], sums[4];
    unpack(up, load4(input, row - 1, column, rows, columns, pitch));
    unpack(here, load4(input, row, column, rows, columns, pitch));
    unpack(down, load4(input, row + 1, column, rows, columns, pitch));
    const float left = VALUE(row, column - 1), right = VALUE(row, column + 4);
    const float line[6] = {left, here[0], here[1], here[2], here[3], right};
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
        sums[i] = five(line[i + 1], up[i], line[i], line[i + 2], down[i]);
    store4(output, row, column, rows, columns, output_pitch, sums);
}

// 25 points, four results side by side.
extern "C" __global__ void stencil_wide_25(INPUT, OUTPUT) {
    const unsigned row = block_row() * blockDim.y + threadIdx.y;
    const unsigned column = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    float sums[4] = {};
#pragma unroll
    for (unsigned i = 0; i < 5; ++i) {
        float line[12];
        unpack(line, load4(input, row + i - 2, column - 4, rows, columns, pitch));
        unpack(line + 4, load4(input, row + i - 2, column, rows, columns, pitch));
        unpack(line + 8, load4(input, row + i - 2, column + 4, rows, columns, pitch));
#pragma unroll
        for (unsigned result = 0; result < 4; ++result) add_line(sums[result], i, line + 2 + result);
    }
    store4(output, row, column, rows, columns, output_pitch, sums);
}

// A volume is a matrix of planes * height rows.
struct Shape {
    unsigned planes, height;
};

// The row of the matrix that is row y of plane z; outside of the volume no row.
__device__ __forceinline__ unsigned row_of(const Shape& shape, unsigned z, unsigned y) {
    return z < shape.planes && y < shape.height ? z * shape.height + y : ~0u;
}
#define AT(z, y, x) VALUE(row_of(shape, z, y), x)
#define COLUMN                                                 \
    const unsigned x = 32 * blockIdx.x + threadIdx.x;          \
    const unsigned y = 8 * blockIdx.y + threadIdx.y;

constexpr unsigned WALK = 16;

// Straight from global memory.
extern "C" __global__ void __launch_bounds__(256) stencil_global_7(INPUT, OUTPUT, Shape shape) {
    COLUMN
    const unsigned z = blockIdx.z, row = row_of(shape, z, y);
    if (row >= rows || x >= columns) return;
    output[at(row, x, output_pitch)] =
        seven(AT(z, y, x), AT(z - 1, y, x), AT(z, y - 1, x), AT(z, y, x - 1), AT(z, y, x + 1),
              AT(z, y + 1, x), AT(z + 1, y, x));
}

// Puts this thread's value into the tile; the threads at its edges load the halo.
__device__ __forceinline__ void fill(float (&tile)[10][34], INPUT, const Shape& shape, float here,
                                     unsigned z, unsigned y, unsigned x) {
    const unsigned i = threadIdx.y + 1, j = threadIdx.x + 1;
    tile[i][j] = here;
    if (i == 1) tile[0][j] = AT(z, y - 1, x);
    if (i == 8) tile[9][j] = AT(z, y + 1, x);
    if (j == 1) tile[i][0] = AT(z, y, x - 1);
    if (j == 32) tile[i][33] = AT(z, y, x + 1);
}

__device__ __forceinline__ float from_tile(const float (&tile)[10][34], float here, float below,
                                           float above) {
    const unsigned i = threadIdx.y + 1, j = threadIdx.x + 1;
    return seven(here, below, tile[i - 1][j], tile[i][j - 1], tile[i][j + 1], tile[i + 1][j],
                 above);
}

// A tile of the plane in shared memory.
extern "C" __global__ void __launch_bounds__(256) stencil_shared_7(INPUT, OUTPUT, Shape shape) {
    __shared__ float tile[10][34];
    COLUMN
    const unsigned z = blockIdx.z, row = row_of(shape, z, y);
    const float here = AT(z, y, x);
    fill(tile, input, rows, columns, pitch, shape, here, z, y, x);
    __syncthreads();
    if (row < rows && x < columns)
        output[at(row, x, output_pitch)] =
            from_tile(tile, here, AT(z - 1, y, x), AT(z + 1, y, x));
}

// Along z in registers.
extern "C" __global__ void __launch_bounds__(256)
stencil_registers_7(INPUT, OUTPUT, Shape shape) {
    COLUMN
    const unsigned first = WALK * blockIdx.z, last = min(first + WALK, shape.planes);
    float below = AT(first - 1, y, x), here = AT(first, y, x);
    for (unsigned z = first; z < last; ++z) {
        const float above = AT(z + 1, y, x);
        const unsigned row = row_of(shape, z, y);
        if (row < rows && x < columns)
            output[at(row, x, output_pitch)] =
                seven(here, below, AT(z, y - 1, x), AT(z, y, x - 1), AT(z, y, x + 1),
                      AT(z, y + 1, x), above);
        below = here;
        here = above;
    }
}

// Along z in registers, and the plane in a tile.
extern "C" __global__ void __launch_bounds__(256) stencil_both_7(INPUT, OUTPUT, Shape shape) {
    __shared__ float tile[10][34];
    COLUMN
    const unsigned first = WALK * blockIdx.z, last = min(first + WALK, shape.planes);
    float below = AT(first - 1, y, x), here = AT(first, y, x);
    for (unsigned z = first; z < last; ++z) {
        const float above = AT(z + 1, y, x);
        fill(tile, input, rows, columns, pitch, shape, here, z, y, x);
        __syncthreads();
        const unsigned row = row_of(shape, z, y);
        if (row < rows && x < columns)
            output[at(row, x, output_pitch)] = from_tile(tile, here, below, above);
        __syncthreads();
        below = here;
        here = above;
    }
}

// Along z in registers, four columns side by side.
extern "C" __global__ void __launch_bounds__(256) stencil_wide_7(INPUT, OUTPUT, Shape shape) {
    COLUMN
    const unsigned first = WALK * blockIdx.z, last = min(first + WALK, shape.planes);
    const unsigned column = 4 * x;
#define WORD(to, z, y) \
    unpack(to, load4(input, row_of(shape, z, y), column, rows, columns, pitch))
    float below[4], here[4], above[4];
    WORD(below, first - 1, y);
    WORD(here, first, y);
    for (unsigned z = first; z < last; ++z) {
        float up[4], down[4], sums[4];
        WORD(above, z + 1, y);
        WORD(up, z, y - 1);
        WORD(down, z, y + 1);
        const float left = AT(z, y, column - 1), right = AT(z, y, column + 4);
        const float line[6] = {left, here[0], here[1], here[2], here[3], right};
#pragma unroll
        for (unsigned i = 0; i < 4; ++i)
            sums[i] = seven(line[i + 1], below[i], up[i], line[i], line[i + 2], down[i], above[i]);
        store4(output, row_of(shape, z, y), column, rows, columns, output_pitch, sums);
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) below[i] = here[i], here[i] = above[i];
    }
}
