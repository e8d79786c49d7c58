// What the twins of the matrix products share: elements of a matrix, alone and in fours.

__device__ size_t at(unsigned row, unsigned column, unsigned pitch) {
    return size_t(row) * pitch + column;
}

// The row of this block in the grid, counted through its layers.
__device__ unsigned block_row() { return blockIdx.z * gridDim.y + blockIdx.y; }

// Four neighbours of a row: one load where they are all there and aligned, else one by one.
__device__ float4 load4(const float* __restrict__ matrix, unsigned row, unsigned column,
                        unsigned rows, unsigned columns, unsigned pitch) {
    if (row >= rows || column >= columns) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float* first = matrix + at(row, column, pitch);
    if (pitch % 4 == 0 && column + 3 < columns) return *reinterpret_cast<const float4*>(first);
    return make_float4(first[0], column + 1 < columns ? first[1] : 0.0f,
                       column + 2 < columns ? first[2] : 0.0f,
                       column + 3 < columns ? first[3] : 0.0f);
}

// Writes four neighbours of a row, as load4 reads them.
__device__ void store4(float* matrix, unsigned row, unsigned column, unsigned rows,
                       unsigned columns, unsigned pitch, const float* values) {
    if (row >= rows || column >= columns) return;
    float* first = matrix + at(row, column, pitch);
    if (pitch % 4 == 0 && column + 3 < columns) {
        *reinterpret_cast<float4*>(first) = make_float4(values[0], values[1], values[2], values[3]);
        return;
    }
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
        if (column + i < columns) first[i] = values[i];
}

__device__ void unpack(float* to, float4 from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
    to[3] = from.w;
}

// Tiles in shared memory, that of A transposed and its lines 4 floats longer, for other banks.
using ATile = float[8][132];
using BTile = float[8][128];

// Adds to each of the thread's 8 x 8 sums the products of 8 steps: rows 4 y to 4 y + 3 and 64
// further down, columns 4 x to 4 x + 3 and 64 further on.
template <typename Tile>
__device__ __forceinline__ void multiply(const ATile& a, const Tile& b, float (&sums)[8][8]) {
    const unsigned x = 4 * threadIdx.x, y = 4 * threadIdx.y;
#pragma unroll
    for (unsigned step = 0; step < 8; ++step) {
        float rows[8], columns[8];
        unpack(rows, *reinterpret_cast<const float4*>(&a[step][y]));
        unpack(rows + 4, *reinterpret_cast<const float4*>(&a[step][y + 64]));
        unpack(columns, *reinterpret_cast<const float4*>(&b[step][x]));
        unpack(columns + 4, *reinterpret_cast<const float4*>(&b[step][x + 64]));
#pragma unroll
        for (unsigned i = 0; i < 8; ++i)
#pragma unroll
            for (unsigned j = 0; j < 8; ++j) sums[i][j] = fmaf(rows[i], columns[j], sums[i][j]);
    }
}

// Writes a thread's sums, of which the first belongs to this row and column of C.
__device__ __forceinline__ void write(float* c, unsigned y, unsigned x, unsigned m, unsigned n,
                                      unsigned pitch, const float (&sums)[8][8]) {
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
        const unsigned to = y + 64 * (i / 4) + i % 4;
        store4(c, to, x, m, n, pitch, &sums[i][0]);
        store4(c, to, x + 64, m, n, pitch, &sums[i][4]);
    }
}
