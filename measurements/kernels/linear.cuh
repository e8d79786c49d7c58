// Linear algebra: products of small and larger matrices, matrices by vectors, sparse matrices.

#pragma once

// Products of 16 x 16 matrices, one a block.
extern "C" __global__ void matmul_batch(const float* a, const float* b, float* c) {
    __shared__ float left[16][16], right[16][16];
    const unsigned x = threadIdx.x, y = threadIdx.y, i = blockIdx.x * 256 + y * 16 + x;
    left[y][x] = a[i];
    right[y][x] = b[i];
    __syncthreads();
    float sum = 0.0f;
    for (unsigned k = 0; k < 16; k++) sum += left[y][k] * right[k][x];
    c[i] = sum;
}

// A product of n x n, n a multiple of 64: tiles of 64 x 64 in shared memory, 4 x 4 a thread.
extern "C" __global__ void matmul_tile64(const float* a, const float* b, float* c, unsigned n) {
    __shared__ float left[16][65], right[16][64];
    const unsigned x = threadIdx.x, y = threadIdx.y, t = y * 16 + x;
    const unsigned row = blockIdx.y * 64, col = blockIdx.x * 64;
    float sums[4][4] = {};
    for (unsigned k = 0; k < n; k += 16) {
        for (unsigned i = t; i < 1024; i += 256) {
            left[i % 16][i / 16] = a[(row + i / 16) * n + k + i % 16];
            right[i / 64][i % 64] = b[(k + i / 64) * n + col + i % 64];
        }
        __syncthreads();
#pragma unroll
        for (unsigned j = 0; j < 16; j++)
#pragma unroll
            for (unsigned r = 0; r < 4; r++)
#pragma unroll
                for (unsigned s = 0; s < 4; s++)
                    sums[r][s] += left[j][y + 16 * r] * right[j][x + 16 * s];
        __syncthreads();
    }
#pragma unroll
    for (unsigned r = 0; r < 4; r++)
#pragma unroll
        for (unsigned s = 0; s < 4; s++)
            c[(row + y + 16 * r) * n + col + x + 16 * s] = sums[r][s];
}

// A product of n x n in double precision, n a multiple of 16: tiles of 16 x 16.
extern "C" __global__ void matmul_double(const double* a, const double* b, double* c, unsigned n) {
    __shared__ double left[16][16], right[16][16];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    double sum = 0.0;
    for (unsigned k = 0; k < n; k += 16) {
        left[y][x] = a[row * n + k + x];
        right[y][x] = b[(k + y) * n + col];
        __syncthreads();
#pragma unroll
        for (unsigned j = 0; j < 16; j++) sum += left[y][j] * right[j][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

// A matrix by a vector, row after row in memory: a warp a row.
extern "C" __global__ void gemv_rows(const float* a, const float* x, float* y, unsigned width) {
    const float* row = a + size_t(warp_index()) * width;
    float sum = 0.0f;
    for (unsigned i = lane(); i < width; i += 32) sum += row[i] * x[i];
    sum = warp_sum(sum);
    if (lane() == 0) y[warp_index()] = sum;
}

// The same, column after column in memory: a thread a row.
extern "C" __global__ void gemv_columns(const float* a, const float* x, float* y, unsigned width,
                                        unsigned height) {
    const unsigned row = linear_index();
    if (row >= height) return;
    float sum = 0.0f;
    for (unsigned i = 0; i < width; i++) sum += a[size_t(i) * height + row] * x[i];
    y[row] = sum;
}

// Matrices of 64 x 64 by vectors, one a block of 64: each thread walks along its own row.
extern "C" __global__ void gemv_batch(const float* a, const float* x, float* y) {
    __shared__ float vector[64];
    const unsigned i = linear_index();
    vector[threadIdx.x] = x[i];
    __syncthreads();
    float sum = 0.0f;
    for (unsigned k = 0; k < 64; k++) sum += a[i * 64 + k] * vector[k];
    y[i] = sum;
}

// Sparse matrices. A row has 1 to 31 entries, 16 on average: row r begins at entry
// 16 r + (offsets[r] & 15), so any offsets do. Columns are any numbers, taken modulo the width.

__device__ inline unsigned row_start(const unsigned* offsets, unsigned row) {
    return 16 * row + (offsets[row] & 15);
}

// Compressed rows, a thread a row.
extern "C" __global__ void spmv_threads(const unsigned* offsets, const unsigned* columns,
                                        const float* values, const float* x, float* y,
                                        unsigned mask) {
    const unsigned row = linear_index(), end = row_start(offsets, row + 1);
    float sum = 0.0f;
    for (unsigned k = row_start(offsets, row); k < end; k++)
        sum += values[k] * x[columns[k] & mask];
    y[row] = sum;
}

// Compressed rows, a warp a row.
extern "C" __global__ void spmv_warps(const unsigned* offsets, const unsigned* columns,
                                      const float* values, const float* x, float* y,
                                      unsigned mask) {
    const unsigned row = warp_index(), end = row_start(offsets, row + 1);
    float sum = 0.0f;
    for (unsigned k = row_start(offsets, row) + lane(); k < end; k += 32)
        sum += values[k] * x[columns[k] & mask];
    sum = warp_sum(sum);
    if (lane() == 0) y[row] = sum;
}

// ELLPACK: eight entries a row, column after column in memory.
extern "C" __global__ void spmv_ell(const unsigned* columns, const float* values, const float* x,
                                    float* y, unsigned mask, unsigned rows) {
    const unsigned row = linear_index();
    if (row >= rows) return;
    float sum = 0.0f;
    for (unsigned k = 0; k < 8; k++)
        sum += values[k * rows + row] * x[columns[k * rows + row] & mask];
    y[row] = sum;
}

extern "C" __global__ void daxpy(double a, const double* x, double* y, unsigned n) {
    const unsigned i = linear_index();
    if (i < n) y[i] = a * x[i] + y[i];
}

// Adds the product of a column and a row to a matrix.
extern "C" __global__ void rank_one(float* a, const float* x, const float* y, unsigned width) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    a[size_t(row) * width + col] += x[row] * y[col];
}
