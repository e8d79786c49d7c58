// CUDA C++ twin of `kernels/src/sparse.rs`: a sparse matrix times a vector.
// By hand: nvcc -ptx -arch=sm_90 -o sparse.ptx docs/compare/sparse.cu; host sparse --ptx sparse.ptx

#include <cstddef>

// A slice is two parameters: its first element and its length.
#define STARTS const unsigned* __restrict__ starts, size_t start_count
#define ENTRIES                                          \
    const unsigned* __restrict__ columns, size_t length, \
        const float* __restrict__ values, size_t value_count
#define X const float* __restrict__ x, size_t x_length
#define Y float* y, size_t rows

#define KERNEL(name) extern "C" __global__ void __launch_bounds__(256) name

__device__ __forceinline__ size_t linear_index() {
    return size_t(blockIdx.x) * 256 + threadIdx.x;
}

// The products of every `step`th entry from `first` on, up to `end`, added up. Padding has no
// column.
__device__ __forceinline__ float add_up(ENTRIES, X, size_t first, size_t end, size_t step) {
    float sum = 0;
    for (size_t i = first; i < end; i += step) {
        const unsigned column = columns[i];
        if (column < x_length) sum += values[i] * x[column];
    }
    return sum;
}

KERNEL(sparse_csr_threads)(STARTS, ENTRIES, X, Y) {
    const size_t row = linear_index();
    if (row < rows) {
        y[row] = add_up(columns, length, values, value_count, x, x_length, starts[row],
                        starts[row + 1], 1);
    }
}

KERNEL(sparse_csr_warps)(STARTS, ENTRIES, X, Y) {
    const size_t row = linear_index() / 32;
    if (row >= rows) return;
    const unsigned lane = threadIdx.x % 32;
    float sum = add_up(columns, length, values, value_count, x, x_length, starts[row] + lane,
                       starts[row + 1], 32);
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    }
    if (lane == 0) y[row] = sum;
}

KERNEL(sparse_ell)(ENTRIES, X, Y) {
    const size_t row = linear_index();
    if (row < rows) {
        y[row] = add_up(columns, length, values, value_count, x, x_length, row, length, rows);
    }
}

KERNEL(sparse_sliced)(STARTS, ENTRIES, X, Y, unsigned log_rows) {
    const size_t row = linear_index();
    if (row < rows) {
        const size_t slice = row >> log_rows, height = size_t(1) << log_rows;
        y[row] = add_up(columns, length, values, value_count, x, x_length,
                        starts[slice] + (row & (height - 1)), starts[slice + 1], height);
    }
}

KERNEL(sparse_coo_zero)(Y) {
    const size_t row = linear_index();
    if (row < rows) y[row] = 0;
}

__device__ __forceinline__ float product(ENTRIES, X, size_t i) {
    if (i >= length) return 0;
    const unsigned column = columns[i];
    return column < x_length ? values[i] * x[column] : 0;
}

#define ROWS_OF_ENTRIES const unsigned* __restrict__ entry_rows, size_t row_count

KERNEL(sparse_coo)(ROWS_OF_ENTRIES, ENTRIES, X, Y) {
    const size_t i = linear_index();
    if (i >= row_count) return;
    const unsigned row = entry_rows[i];
    if (row < rows) atomicAdd(y + row, product(columns, length, values, value_count, x, x_length, i));
}

KERNEL(sparse_coo_segments)(ROWS_OF_ENTRIES, ENTRIES, X, Y) {
    const size_t i = linear_index();
    const unsigned lane = threadIdx.x % 32;
    const unsigned row = i < row_count ? entry_rows[i] : 0xffffffffu;
    float sum = product(columns, length, values, value_count, x, x_length, i);
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const float earlier = __shfl_up_sync(0xffffffffu, sum, distance);
        const unsigned of = __shfl_up_sync(0xffffffffu, row, distance);
        if (lane >= distance && of == row) sum += earlier;
    }
    const unsigned next = __shfl_down_sync(0xffffffffu, row, 1);
    if ((lane == 31 || next != row) && row < rows) atomicAdd(y + row, sum);
}
