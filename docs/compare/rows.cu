// CUDA C++ twin of `kernels/src/rows.rs`: statistics of rows and columns.
// By hand: nvcc -ptx -arch=sm_90 -o rows.ptx docs/compare/rows.cu; host rows --ptx rows.ptx

#include <cmath>

constexpr unsigned MostThreads = 1024;
constexpr unsigned ColumnThreads = 8;  // threads of rows_column_means_shared on each column

// What a kernel computes of a row.
struct Sum {
    __device__ static float identity() { return 0.0f; }
    __device__ static float of(float element) { return element; }
    __device__ static float combine(float a, float b) { return a + b; }
    __device__ static float finish(float combined, unsigned) { return combined; }
};

struct Mean : Sum {
    __device__ static float finish(float combined, unsigned count) { return combined / count; }
};

struct Squares : Sum {
    __device__ static float of(float element) { return element * element; }
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

// One thread a row, which it walks in global memory.
template <typename S>
__device__ void walk(const float* matrix, float* output, unsigned rows, unsigned columns,
                     unsigned pitch) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float combined = S::identity();
        for (unsigned column = 0; column < columns; ++column)
            combined = S::combine(combined, S::of(matrix[at(row, column, pitch)]));
        output[row] = S::finish(combined, columns);
    }
}

// One block a row: its threads take elements side by side, and meet in shared memory.
template <typename S>
__device__ void meet(const float* matrix, float* output, unsigned columns, unsigned pitch) {
    __shared__ float stage[MostThreads];
    const unsigned row = blockIdx.x, t = threadIdx.x;
    float combined = S::identity();
    for (unsigned column = t; column < columns; column += blockDim.x)
        combined = S::combine(combined, S::of(matrix[at(row, column, pitch)]));
    stage[t] = combined;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) stage[t] = S::combine(stage[t], stage[t + s]);
        __syncthreads();
    }
    if (t == 0) output[row] = S::finish(stage[0], columns);
}

#define KERNELS(NAME, STATISTIC)                                                               \
    extern "C" __global__ void rows_##NAME##_global(                                           \
        const float* matrix, float* output, unsigned rows, unsigned columns, unsigned pitch) { \
        walk<STATISTIC>(matrix, output, rows, columns, pitch);                                 \
    }                                                                                          \
    extern "C" __global__ void rows_##NAME##_shared(const float* matrix, float* output,        \
                                                    unsigned columns, unsigned pitch) {        \
        meet<STATISTIC>(matrix, output, columns, pitch);                                       \
    }

KERNELS(sum, Sum)
KERNELS(mean, Mean)
KERNELS(max, Largest)
KERNELS(min, Smallest)
KERNELS(squares, Squares)

// One thread a column.
extern "C" __global__ void rows_column_means_global(const float* matrix, float* output,
                                                    unsigned rows, unsigned columns,
                                                    unsigned pitch) {
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        float sum = 0.0f;
        for (unsigned row = 0; row < rows; ++row) sum += matrix[at(row, column, pitch)];
        output[column] = sum / rows;
    }
}

// Eight threads a column: each walks every eighth row, and they meet in shared memory.
extern "C" __global__ void __launch_bounds__(32 * ColumnThreads)
    rows_column_means_shared(const float* matrix, float* output, unsigned rows, unsigned columns,
                             unsigned pitch) {
    __shared__ float stage[ColumnThreads][32];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned column = blockIdx.x * 32 + x;
    float sum = 0.0f;
    if (column < columns)
        for (unsigned row = y; row < rows; row += ColumnThreads)
            sum += matrix[at(row, column, pitch)];
    stage[y][x] = sum;
    __syncthreads();
    if (y == 0 && column < columns) {
        sum = 0.0f;
#pragma unroll
        for (unsigned i = 0; i < ColumnThreads; ++i) sum += stage[i][x];
        output[column] = sum / rows;
    }
}
