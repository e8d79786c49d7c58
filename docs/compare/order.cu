// CUDA C++ twin of `kernels/src/order.rs` and `kernels/src/order_table.rs`: tiles in several orders,
// and a table beside a stream.
// By hand: nvcc -ptx -arch=sm_90 -o order.ptx docs/compare/order.cu; host order --ptx order.ptx

#include <cstddef>

#include "l2_evict_last.cuh"
#include "product.cuh"

constexpr unsigned TILE = 32;

// C = A B; a matrix is four parameters: its first element, rows, columns, and the pitch in elements.
#define MATRICES                                                                     \
    const float *__restrict__ a, unsigned m, unsigned k, unsigned a_pitch,           \
        const float *__restrict__ b, unsigned, unsigned n, unsigned b_pitch, float *c, \
        unsigned, unsigned, unsigned c_pitch

struct Tile {
    unsigned row, column;
};

// The tile of C in this row and column of tiles.
__device__ __forceinline__ void product(Tile tile, MATRICES) {
    __shared__ float a_tile[32][32], b_tile[32][32];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = TILE * tile.row + y, column = TILE * tile.column + x;
    float sum = 0.0f;
    for (unsigned first = 0; first < k; first += 32) {
        const unsigned i = first + x, j = first + y;
        a_tile[y][x] = row < m && i < k ? a[at(row, i, a_pitch)] : 0.0f;
        b_tile[y][x] = j < k && column < n ? b[at(j, column, b_pitch)] : 0.0f;
        __syncthreads();
#pragma unroll
        for (unsigned step = 0; step < 32; ++step) sum = fmaf(a_tile[y][step], b_tile[step][x], sum);
        __syncthreads();
    }
    if (row < m && column < n) c[at(row, column, c_pitch)] = sum;
}

#define PASS_ON a, m, k, a_pitch, b, 0, n, b_pitch, c, 0, 0, c_pitch

// Row by row.
extern "C" __global__ void __launch_bounds__(1024) order_rows(MATRICES) {
    const unsigned columns = (n + TILE - 1) / TILE;
    product({blockIdx.x / columns, blockIdx.x % columns}, PASS_ON);
}

// In squares: bands of `side` rows, column by column.
extern "C" __global__ void __launch_bounds__(1024) order_squares(MATRICES, unsigned side) {
    const unsigned rows = (m + TILE - 1) / TILE, columns = (n + TILE - 1) / TILE;
    const unsigned band = blockIdx.x / (side * columns), within = blockIdx.x % (side * columns);
    const unsigned high = min(side, rows - band * side);
    product({band * side + within % high, within / high}, PASS_ON);
}

// Along Hilbert's curve, in squares of a power of two along the longer side.
extern "C" __global__ void __launch_bounds__(1024) order_curve(MATRICES) {
    const unsigned rows = (m + TILE - 1) / TILE, columns = (n + TILE - 1) / TILE;
    const unsigned least = min(rows, columns);
    const unsigned side = least > 1 ? 1u << (32 - __clz(least - 1)) : 1;
    unsigned x = 0, y = 0, left = blockIdx.x % (side * side);
    for (unsigned half = 1; half < side; half *= 2) {
        const unsigned right = left / 2 & 1, down = (left ^ left / 2) & 1;
        if (down == 0) {
            const unsigned to_x = right ? half - 1 - y : y, to_y = right ? half - 1 - x : x;
            x = to_x, y = to_y;
        }
        x += half * right, y += half * down, left /= 4;
    }
    x += blockIdx.x / (side * side) * side;
    const Tile tile = rows > columns ? Tile{x, y} : Tile{y, x};
    if (tile.row < rows && tile.column < columns) product(tile, PASS_ON);
}

// A slice is two parameters: its first element and its length.
#define PASSES                                                                         \
    const uint4 *__restrict__ stream, size_t length, const uint4 *__restrict__ table,   \
        size_t words, unsigned *sums, size_t threads

enum Load { PLAIN, STREAMING, FIRST, LAST };

// Past L1, by a policy where there is one.
template <Load How>
__device__ __forceinline__ uint4 load(const uint4* address) {
    if (How == STREAMING) return __ldcs(address);
    if (How == PLAIN) return __ldcg(address);
    unsigned long long policy;
    if (How == FIRST) asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
    if (How == LAST) policy = evict_last();
    uint4 value;
    asm volatile("ld.global.cg.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "l"(address), "l"(policy)
                 : "memory");
    return value;
}

// Multiplies each pass of the stream with the table, word by word.
template <Load OfStream, Load OfTable>
__device__ __forceinline__ void weigh(PASSES) {
    const size_t thread = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (thread >= threads) return;
    unsigned sum = 0;
    for (const uint4* pass = stream; pass + words <= stream + length; pass += words) {
        for (size_t i = thread; i < words; i += threads) {
            const uint4 value = load<OfStream>(pass + i), weight = load<OfTable>(table + i);
            sum += value.x * weight.x + value.y * weight.y + value.z * weight.z + value.w * weight.w;
        }
    }
    sums[thread] = sum;
}

#define PASS_BY stream, length, table, words, sums, threads

extern "C" __global__ void __launch_bounds__(256) order_table(PASSES) { weigh<PLAIN, PLAIN>(PASS_BY); }
extern "C" __global__ void __launch_bounds__(256) order_table_streaming(PASSES) {
    weigh<STREAMING, PLAIN>(PASS_BY);
}
extern "C" __global__ void __launch_bounds__(256) order_table_first(PASSES) { weigh<FIRST, PLAIN>(PASS_BY); }
extern "C" __global__ void __launch_bounds__(256) order_table_last(PASSES) { weigh<PLAIN, LAST>(PASS_BY); }
