// CUDA C++ twin of `kernels/src/gram.rs`: a matrix times its transpose.
// By hand: nvcc -ptx -arch=sm_90 -o gram.ptx docs/compare/gram.cu;
// host gram --tiled16 --padded16 --tiled32 --padded32 --mirrored --ptx gram.ptx

// C = A A^T. Pitches are the elements from one row to the next.
struct Shape {
    unsigned rows, columns;
    unsigned a_pitch, c_pitch;
};

__device__ size_t at(unsigned row, unsigned column, unsigned pitch) {
    return size_t(row) * pitch + column;
}

// This thread's element of a tile of C, in blocks of T x T threads. The tiles are volatile, as ours
// are: otherwise four neighbours are loaded at once, and the conflicts are not those of the lecture.
template <unsigned T, unsigned Width>
__device__ float product(const float* __restrict__ a, const Shape& shape, unsigned tile_row,
                         unsigned tile_column, volatile float (&rows)[T][Width],
                         volatile float (&columns)[T][Width]) {
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = tile_row * T + y, other_row = tile_column * T + y;
    float sum = 0.0f;
    for (unsigned first = 0; first < shape.columns; first += T) {
        const unsigned k = first + x;
        const bool inside = k < shape.columns;
        rows[y][x] = inside && row < shape.rows ? a[at(row, k, shape.a_pitch)] : 0.0f;
        columns[y][x] =
            inside && other_row < shape.rows ? a[at(other_row, k, shape.a_pitch)] : 0.0f;
        __syncthreads();
        // One word for all lanes with this y; and a column.
#pragma unroll
        for (unsigned i = 0; i < T; ++i) sum = fmaf(rows[y][i], columns[x][i], sum);
        __syncthreads();
    }
    return sum;
}

// A tile of C a block.
template <unsigned T, unsigned Width>
__device__ void tile(const float* __restrict__ a, float* c, const Shape& shape) {
    __shared__ float rows[T][Width], columns[T][Width];
    const float sum = product(a, shape, blockIdx.y, blockIdx.x, rows, columns);
    const unsigned row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
    if (row < shape.rows && column < shape.rows) c[at(row, column, shape.c_pitch)] = sum;
}

#define KERNEL(NAME, SIDE, WIDTH)                                          \
    extern "C" __global__ void __launch_bounds__(SIDE * SIDE)              \
        NAME(const float* __restrict__ a, size_t, float* c, Shape shape) { \
        tile<SIDE, WIDTH>(a, c, shape);                                    \
    }

KERNEL(gram_tiled16, 16, 16)
KERNEL(gram_padded16, 16, 17)
KERNEL(gram_tiled32, 32, 32)
KERNEL(gram_padded32, 32, 33)

// Tiles on and below the diagonal in so many rows of tiles.
__device__ unsigned long long tiles_below_diagonal(unsigned rows) {
    return rows * (rows + 1ull) / 2;
}

// Only the tiles on and below the diagonal; those below are also written above, transposed in
// shared memory so that these stores are coalesced, too.
extern "C" __global__ void __launch_bounds__(32 * 32)
    gram_mirrored(const float* __restrict__ a, size_t, float* c, Shape shape) {
    __shared__ float rows[32][33], columns[32][33];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned number = blockIdx.x;
    // The root in floating point may be off by one where it is nearly whole.
    unsigned tile_row = unsigned((sqrt(8.0 * number + 1.0) - 1.0) / 2.0);
    if (tiles_below_diagonal(tile_row + 1) <= number) ++tile_row;
    if (tiles_below_diagonal(tile_row) > number) --tile_row;
    const unsigned tile_column = number - unsigned(tiles_below_diagonal(tile_row));

    const float sum = product(a, shape, tile_row, tile_column, rows, columns);
    const auto write = [&](unsigned row, unsigned column, float value) {
        if (row < shape.rows && column < shape.rows) c[at(row, column, shape.c_pitch)] = value;
    };
    write(tile_row * 32 + y, tile_column * 32 + x, sum);
    if (tile_row != tile_column) {
        rows[y][x] = sum;
        __syncthreads();
        write(tile_column * 32 + y, tile_row * 32 + x, rows[x][y]);
    }
}
