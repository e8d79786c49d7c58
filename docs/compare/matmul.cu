// CUDA C++ twin of `kernels/src/matmul.rs`: the matrix product, through tiles.
// By hand: nvcc -ptx -arch=sm_90 -o matmul.ptx docs/compare/matmul.cu;
// host matmul --naive --tiled16 --tiled32 --registers --ptx matmul.ptx
// What `--best` is held against is cuBLAS: docs/PEERS.md.

// C = A B. Pitches are the elements from one row to the next.
struct Shape {
    unsigned m, n, k;
    unsigned a_pitch, b_pitch, c_pitch;
};

__device__ size_t at(unsigned row, unsigned column, unsigned pitch) {
    return size_t(row) * pitch + column;
}

// One thread an element, everything from global memory.
extern "C" __global__ void matmul_naive(const float* __restrict__ a, size_t,
                                        const float* __restrict__ b, size_t, float* c,
                                        Shape shape) {
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < shape.m && column < shape.n) {
        float sum = 0.0f;
        for (unsigned i = 0; i < shape.k; ++i)
            sum = fmaf(a[at(row, i, shape.a_pitch)], b[at(i, column, shape.b_pitch)], sum);
        c[at(row, column, shape.c_pitch)] = sum;
    }
}

// Tiles of T x T in shared memory, in blocks of T x T threads.
template <unsigned T>
__device__ void tiled(const float* __restrict__ a, const float* __restrict__ b, float* c,
                      const Shape& shape) {
    __shared__ float a_tile[T][T], b_tile[T][T];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = blockIdx.y * T + y, column = blockIdx.x * T + x;
    float sum = 0.0f;
    for (unsigned first = 0; first < shape.k; first += T) {
        const unsigned i = first + x, j = first + y;
        a_tile[y][x] = row < shape.m && i < shape.k ? a[at(row, i, shape.a_pitch)] : 0.0f;
        b_tile[y][x] = j < shape.k && column < shape.n ? b[at(j, column, shape.b_pitch)] : 0.0f;
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < T; ++k) sum = fmaf(a_tile[y][k], b_tile[k][x], sum);
        // Nobody may overwrite a tile that another thread still reads.
        __syncthreads();
    }
    if (row < shape.m && column < shape.n) c[at(row, column, shape.c_pitch)] = sum;
}

extern "C" __global__ void __launch_bounds__(16 * 16)
    matmul_tiled16(const float* __restrict__ a, size_t, const float* __restrict__ b, size_t,
                   float* c, Shape shape) {
    tiled<16>(a, b, c, shape);
}

extern "C" __global__ void __launch_bounds__(32 * 32)
    matmul_tiled32(const float* __restrict__ a, size_t, const float* __restrict__ b, size_t,
                   float* c, Shape shape) {
    tiled<32>(a, b, c, shape);
}

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

// Writes four neighbours of a row of C, as load4 reads them.
__device__ void store4(float* c, unsigned row, unsigned column, const Shape& shape,
                       const float* values) {
    if (row >= shape.m || column >= shape.n) return;
    float* first = c + at(row, column, shape.c_pitch);
    if (shape.c_pitch % 4 == 0 && column + 3 < shape.n) {
        *reinterpret_cast<float4*>(first) = make_float4(values[0], values[1], values[2], values[3]);
        return;
    }
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
        if (column + i < shape.n) first[i] = values[i];
}

__device__ void unpack(float* to, float4 from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
    to[3] = from.w;
}

// Register tiles: a block computes 128 x 128 elements, each thread 8 x 8 in four squares of 4 x 4.
// While two tiles are multiplied, the next two are on their way to registers.
extern "C" __global__ void __launch_bounds__(256, 2)
    matmul_registers(const float* __restrict__ a, size_t, const float* __restrict__ b, size_t, float* c,
                Shape shape) {
    constexpr unsigned Tile = 128, Depth = 8;
    // A is transposed on its way in; its rows are 4 floats longer, for other banks.
    __shared__ __align__(16) float a_tiles[2][Depth][Tile + 4];
    __shared__ __align__(16) float b_tiles[2][Depth][Tile];

    const unsigned t = threadIdx.x;
    const unsigned first_row = blockIdx.y * Tile, first_column = blockIdx.x * Tile;
    // What the thread loads: four numbers of a row of A, four of a row of B.
    const unsigned a_row = t / 2, a_k = t % 2 * 4;
    const unsigned b_k = t / 32, b_column = t % 32 * 4;
    const auto load_a = [&](unsigned k) {
        return load4(a, first_row + a_row, k + a_k, shape.m, shape.k, shape.a_pitch);
    };
    const auto load_b = [&](unsigned k) {
        return load4(b, k + b_k, first_column + b_column, shape.k, shape.n, shape.b_pitch);
    };
    const auto store = [&](unsigned stage, float4 from_a, float4 from_b) {
        a_tiles[stage][a_k][a_row] = from_a.x;
        a_tiles[stage][a_k + 1][a_row] = from_a.y;
        a_tiles[stage][a_k + 2][a_row] = from_a.z;
        a_tiles[stage][a_k + 3][a_row] = from_a.w;
        *reinterpret_cast<float4*>(&b_tiles[stage][b_k][b_column]) = from_b;
    };
    // What it computes: rows y to y + 3 and 64 further down, columns x to x + 3 and 64 further on.
    const unsigned x = t % 16 * 4, y = t / 16 * 4;
    float sums[8][8] = {};

    store(0, load_a(0), load_b(0));
    __syncthreads();
    unsigned stage = 0;
    for (unsigned k = 0; k < shape.k; k += Depth) {
        const float4 next_a = load_a(k + Depth), next_b = load_b(k + Depth);
#pragma unroll
        for (unsigned step = 0; step < Depth; ++step) {
            const float* a_line = a_tiles[stage][step];
            const float* b_line = b_tiles[stage][step];
            float rows[8], columns[8];
            unpack(rows, *reinterpret_cast<const float4*>(&a_line[y]));
            unpack(rows + 4, *reinterpret_cast<const float4*>(&a_line[y + 64]));
            unpack(columns, *reinterpret_cast<const float4*>(&b_line[x]));
            unpack(columns + 4, *reinterpret_cast<const float4*>(&b_line[x + 64]));
#pragma unroll
            for (unsigned i = 0; i < 8; ++i)
#pragma unroll
                for (unsigned j = 0; j < 8; ++j) sums[i][j] = fmaf(rows[i], columns[j], sums[i][j]);
        }
        stage ^= 1;
        store(stage, next_a, next_b);
        __syncthreads();
    }
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
        const unsigned row = first_row + y + i % 4 + 64 * (i / 4);
        store4(c, row, first_column + x, shape, &sums[i][0]);
        store4(c, row, first_column + x + 64, shape, &sums[i][4]);
    }
}
