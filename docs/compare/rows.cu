// CUDA C++ twin of `kernels/src/rows.rs`: statistics of rows and columns.
// By hand: nvcc -ptx -arch=sm_90 -o rows.ptx docs/compare/rows.cu; host rows --ptx rows.ptx

#include <cmath>

#include "combine.cuh"

constexpr unsigned ColumnThreads = 8;  // threads of a block on each column

// What a kernel computes of a row.
struct Sum {
    __device__ static float identity() { return 0.0f; }
    template <typename Word>
    __device__ static Word of(Word elements) { return elements; }
    __device__ static float combine(float a, float b) { return a + b; }
    __device__ static float finish(float combined, unsigned) { return combined; }
};

struct Mean : Sum {
    __device__ static float finish(float combined, unsigned count) { return combined / count; }
};

struct Squares : Sum {
    __device__ static float of(float element) { return element * element; }
    __device__ static float4 of(float4 e) {
        return make_float4(e.x * e.x, e.y * e.y, e.z * e.z, e.w * e.w);
    }
};

struct Largest : Sum {
    __device__ static float identity() { return -INFINITY; }
    __device__ static float combine(float a, float b) { return fmaxf(a, b); }
};

struct Smallest : Sum {
    __device__ static float identity() { return INFINITY; }
    __device__ static float combine(float a, float b) { return fminf(a, b); }
};

__device__ size_t at(unsigned row, unsigned column, unsigned pitch) {
    return size_t(row) * pitch + column;
}

// A matrix is four parameters: its first element, rows, columns, and the pitch in elements. A slice
// is two: its first element and its length.

// A statistic of each row, by a thread for each row.
template <typename S>
__device__ void by_threads(const float* __restrict__ matrix, unsigned rows, unsigned columns,
                           unsigned pitch, float* results, size_t length) {
    const size_t row = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row < rows && row < length) {
        float result = S::identity();
        for (unsigned column = 0; column < columns; ++column)
            result = S::combine(result, S::of(matrix[at(row, column, pitch)]));
        results[row] = S::finish(result, columns);
    }
}

// The same by a block for each row: its threads read side by side, and combine in shared memory.
template <typename S>
__device__ void by_blocks(const float* __restrict__ matrix, unsigned rows, unsigned columns,
                          unsigned pitch, float* results, size_t length) {
    __shared__ float stage[1024];
    const unsigned row = blockIdx.x, t = threadIdx.x;
    float result = S::identity();
    for (unsigned column = t; column < columns; column += blockDim.x)
        if (row < rows) result = S::combine(result, S::of(matrix[at(row, column, pitch)]));
    stage[t] = result;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) stage[t] = S::combine(stage[t], stage[t + s]);
        __syncthreads();
    }
    if (t == 0 && row < length) results[row] = S::finish(stage[0], columns);
}

// A word of what changes nothing.
template <typename S>
__device__ void nothing(float& word) { word = S::identity(); }
template <typename S>
__device__ void nothing(float4& word) {
    word = make_float4(S::identity(), S::identity(), S::identity(), S::identity());
}

// Lanes lanes a row, and Rows rows of each lane at once, with Together words of each under way.
template <typename S, typename Word, unsigned Lanes, unsigned Rows, unsigned Together>
__device__ __forceinline__ void by_lanes(const float* matrix, float* output, unsigned rows,
                                         unsigned columns, unsigned pitch) {
    const unsigned lane = threadIdx.x % Lanes, apart = 32 / Lanes;
    const unsigned warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const unsigned in_warp = threadIdx.x % 32 / Lanes;
    const auto row_of = [=](unsigned k) { return warp * apart * Rows + k * apart + in_warp; };
    const unsigned words = columns / (sizeof(Word) / sizeof(float));
    float result[Rows];
#pragma unroll
    for (unsigned k = 0; k < Rows; ++k) result[k] = S::identity();
    for (unsigned first = lane; first < words; first += Together * Lanes) {
        Word loaded[Rows][Together];
#pragma unroll
        for (unsigned k = 0; k < Rows; ++k) {
            const Word* row = reinterpret_cast<const Word*>(matrix + at(row_of(k), 0, pitch));
            const unsigned end = row_of(k) < rows ? words : 0;
#pragma unroll
            for (unsigned n = 0; n < Together; ++n) {
                nothing<S>(loaded[k][n]);
                if (first + n * Lanes < end) loaded[k][n] = __ldca(row + first + n * Lanes);
            }
        }
#pragma unroll
        for (unsigned k = 0; k < Rows; ++k)
#pragma unroll
            for (unsigned n = 0; n < Together; ++n)
                result[k] = S::combine(result[k], combined<S>(S::of(loaded[k][n])));
    }
#pragma unroll
    for (unsigned k = 0; k < Rows; ++k) {
        const float row_value = reduce_lanes<S, Lanes>(result[k]);
        if (lane == 0 && row_of(k) < rows) output[row_of(k)] = S::finish(row_value, columns);
    }
}

// In words of 16 bytes where all rows are made of them, else of 4.
template <typename S, unsigned Lanes, unsigned Rows, unsigned Together>
__device__ __forceinline__ void by_lanes_of_words(const float* matrix, float* output, unsigned rows,
                                                  unsigned columns, unsigned pitch) {
    if (stands_on_16(matrix) && (columns | pitch) % 4 == 0)
        by_lanes<S, float4, Lanes, Rows, Together>(matrix, output, rows, columns, pitch);
    else
        by_lanes<S, float, Lanes, Rows, Together>(matrix, output, rows, columns, pitch);
}

// Combines a thread's elements of a row.
template <int Together, typename S, typename Word>
__device__ __forceinline__ float reduce_elements(const Word* row, size_t first, size_t step,
                                             size_t end) {
    return reduce_indices<Together, S>(
        first, step, end, S::identity(), [=](size_t i) { return __ldca(row + i); },
        [](Word word) { return combined<S>(S::of(word)); });
}

// per_row blocks a row, of which the last combines what they found.
template <typename S>
__device__ __forceinline__ void by_blocks(const float* matrix, float* output, unsigned columns,
                                          unsigned pitch, unsigned per_row, Slot* slots) {
    const unsigned row = blockIdx.x / per_row, part = blockIdx.x % per_row;
    const unsigned first = part * Block + threadIdx.x;
    const size_t step = size_t(per_row) * Block;
    const float* elements = matrix + at(row, 0, pitch);
    float value;
    if (stands_on_16(elements)) {
        const float4* quads = reinterpret_cast<const float4*>(elements);
        value = reduce_elements<2, S>(quads, first, step, columns / 4);
        const unsigned rest = columns / 4 * 4 + first;
        value = S::combine(value, reduce_elements<1, S>(elements, rest, step, columns));
    } else {
        value = reduce_elements<4, S>(elements, first, step, columns);
    }
    value = reduce_block<S, 4>(value, S::identity(), 0);
    if (reduce_blocks<S>(value, S::identity(), part, per_row, slots + at(row, 0, per_row)))
        output[row] = S::finish(value, columns);
}

#define KERNELS(NAME, STATISTIC)                                                               \
    extern "C" __global__ void rows_##NAME##_global(                                           \
        const float* __restrict__ matrix, unsigned rows, unsigned columns, unsigned pitch,     \
        float* results, size_t length) {                                                       \
        by_threads<STATISTIC>(matrix, rows, columns, pitch, results, length);                  \
    }                                                                                          \
    extern "C" __global__ void rows_##NAME##_shared(                                           \
        const float* __restrict__ matrix, unsigned rows, unsigned columns, unsigned pitch,     \
        float* results, size_t length) {                                                       \
        by_blocks<STATISTIC>(matrix, rows, columns, pitch, results, length);                   \
    }                                                                                          \
    extern "C" __global__ void __launch_bounds__(256) rows_##NAME##_lanes8(                    \
        const float* matrix, float* output, unsigned rows, unsigned columns, unsigned pitch) { \
        cudaGridDependencySynchronize();                                                       \
        by_lanes_of_words<STATISTIC, 8, 4, 1>(matrix, output, rows, columns, pitch);           \
    }                                                                                          \
    extern "C" __global__ void __launch_bounds__(256) rows_##NAME##_lanes32(                   \
        const float* matrix, float* output, unsigned rows, unsigned columns, unsigned pitch) { \
        cudaGridDependencySynchronize();                                                       \
        by_lanes_of_words<STATISTIC, 32, 1, 8>(matrix, output, rows, columns, pitch);          \
    }                                                                                          \
    extern "C" __global__ void __launch_bounds__(512) rows_##NAME##_blocks(                    \
        const float* matrix, float* output, unsigned columns, unsigned pitch,                  \
        unsigned per_row, Slot* slots) {                                                       \
        cudaGridDependencySynchronize();                                                       \
        by_blocks<STATISTIC>(matrix, output, columns, pitch, per_row, slots);                  \
    }

KERNELS(sum, Sum)
KERNELS(mean, Mean)
KERNELS(max, Largest)
KERNELS(min, Smallest)
KERNELS(squares, Squares)

// The mean of each column, by a thread for each column.
extern "C" __global__ void rows_column_means_global(const float* __restrict__ matrix,
                                                    unsigned rows, unsigned columns,
                                                    unsigned pitch, float* means, size_t length) {
    const size_t column = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (column < columns && column < length) {
        float sum = 0.0f;
        for (unsigned row = 0; row < rows; ++row) sum += matrix[at(row, column, pitch)];
        means[column] = sum / rows;
    }
}

// The same by eight threads for each column: each takes every eighth row.
extern "C" __global__ void __launch_bounds__(32 * 8)
    rows_column_means_shared(const float* __restrict__ matrix, unsigned rows, unsigned columns,
                             unsigned pitch, float* means, size_t length) {
    __shared__ float sums[8][32];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned column = blockIdx.x * 32 + x;
    float sum = 0.0f;
    for (unsigned row = y; row < rows; row += 8)
        if (column < columns) sum += matrix[at(row, column, pitch)];
    sums[y][x] = sum;
    __syncthreads();
    if (blockIdx.y == 0 && y == 0 && column < length) {
        sum = 0.0f;
#pragma unroll
        for (unsigned i = 0; i < 8; ++i) sum += sums[i][x];
        means[column] = sum / rows;
    }
}

// Adds up the values of each column's threads, for the first of them.
__device__ float column_sums(float value) {
    __shared__ float sums[ColumnThreads][32];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    sums[y][x] = value;
    __syncthreads();
    float sum = 0.0f;
    if (y == 0)
#pragma unroll
        for (unsigned i = 0; i < ColumnThreads; ++i) sum += sums[i][x];
    return sum;
}

// Several blocks for each 32 columns; the last adds up what they found.
extern "C" __global__ void __launch_bounds__(32 * ColumnThreads)
    rows_column_means_best(const float* matrix, float* output, unsigned rows, unsigned columns,
                           unsigned pitch, Slot* slots) {
    cudaGridDependencySynchronize();
    const unsigned column = blockIdx.x * 32 + threadIdx.x, y = threadIdx.y;
    const unsigned part = blockIdx.y, parts = gridDim.y;
    const auto load = [=](size_t row) { return __ldca(matrix + at(unsigned(row), column, pitch)); };
    const auto number = [](float element) { return element; };
    float sum = column_sums(reduce_indices<8, Sum>(part * ColumnThreads + y, parts * ColumnThreads,
                                              column < columns ? rows : 0, 0.0f, load, number));
    if (part + 1 < parts) {
        if (y == 0 && column < columns) publish(slots + at(part, column, columns), sum);
        return;
    }
    if (parts > 1) {
        if (y > 0) sum = 0.0f;
        for (unsigned i = column < columns ? y : parts; i + 1 < parts; i += ColumnThreads)
            sum += wait_for<float>(slots + at(i, column, columns));
        __syncthreads();
        sum = column_sums(sum);
    }
    if (y == 0 && column < columns) output[column] = sum / rows;
}
