// Tiles by the copy engine, with tensor maps that the host has made: a transposition whose tile is swizzled, a stencil whose halo comes
// from outside as zeros, sums of rows that come in turn, and tiles that are added to a tensor.
//@ sm_90
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace device = cuda::device::experimental;
namespace ptx = cuda::ptx;

// 32 x 32 floats: rows of 128 bytes, so the 128-byte swizzle puts piece c of row r in the place of piece c ^ r % 8.
__device__ float &swizzled(float *tile, int row, int column) {
    return tile[row * 32 + ((column / 4 ^ row % 8) * 4 | column % 4)];
}

extern "C" __global__ void transpose(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
    __shared__ alignas(1024) float in[32 * 32];
    __shared__ alignas(1024) float out[32 * 32];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full;
    if (threadIdx.x == 0) {
        init(&full, blockDim.x);
        device::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        device::cp_async_bulk_tensor_2d_global_to_shared(in, &from, blockIdx.x * 32, blockIdx.y * 32, full);
        token = cuda::device::barrier_arrive_tx(full, 1, sizeof(in));
    } else {
        token = full.arrive();
    }
    full.wait(std::move(token));
    for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) swizzled(out, i % 32, i / 32) = swizzled(in, i / 32, i % 32);
    device::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        device::cp_async_bulk_tensor_2d_shared_to_global(&to, blockIdx.y * 32, blockIdx.x * 32, out);
        device::cp_async_bulk_commit_group();
        device::cp_async_bulk_wait_group_read<0>();
    }
}
//# values = [(i * 37 + i // 60) % 1000 / 8 for i in range(60 * 44)]
// run: transpose grid=2,2 block=64
//= tensor: f32[60x44],box:32x32,swizzle:128 values
// tensor: f32[60x44],box:32x32,swizzle:128 @1
//= tensor: f32[44x60],box:32x32,swizzle:128 [0] * (44 * 60) -> [values[j * 60 + i] for i in range(60) for j in range(44)]
// tensor: f32[44x60],box:32x32,swizzle:128 @2 -> @3

// Sums of each element and its four neighbours; outside there are zeros. A box begins at pieces of 16 bytes.
extern "C" __global__ void stencil(const __grid_constant__ CUtensorMap from, int *out, int columns) {
    __shared__ alignas(128) int tile[10][24];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full;
    if (threadIdx.x == 0) {
        init(&full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    auto *handle = cuda::device::barrier_native_handle(full);
    if (threadIdx.x == 0) {
        const int corner[2] = {int(blockIdx.x) * 16 - 4, int(blockIdx.y) * 8 - 1};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &from, corner, handle);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, handle, sizeof(tile));
    }
    while (!ptx::mbarrier_try_wait_parity(handle, 0)) {}
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    int sum = tile[y + 1][x + 4] + tile[y][x + 4] + tile[y + 2][x + 4] + tile[y + 1][x + 3] + tile[y + 1][x + 5];
    out[(blockIdx.y * 8 + y) * columns + blockIdx.x * 16 + x] = sum;
}
//# field = [[(i * i + 3 * j) % 50 for j in range(32)] for i in range(16)]
//# at = lambda i, j: field[i][j] if 0 <= i < 16 and 0 <= j < 32 else 0
// run: stencil grid=2,2 block=128
//= tensor: s32[32x16],box:24x10 sum(field, [])
// tensor: s32[32x16],box:24x10 @4
//= out: s32 [at(i, j) + at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1) for i in range(16) for j in range(32)]
// out: s32 @5
// arg: s32 32

// Each block adds up its rows, which come in two stages by turns.
extern "C" __global__ void row_sums(const __grid_constant__ CUtensorMap from, int columns, float *out) {
    __shared__ alignas(128) float stage[2][8][32];
    __shared__ alignas(8) uint64_t full[2], empty[2];
    if (threadIdx.x == 0) {
        for (int s = 0; s < 2; s++) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], 8);
        }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    int steps = (columns + 31) / 32;
    if (threadIdx.x >= 32 && threadIdx.x < 64) {
        // The second warp brings the tiles.
        if (threadIdx.x == 32) {
            for (int step = 0; step < steps; step++) {
                int s = step % 2;
                if (step >= 2) while (!ptx::mbarrier_try_wait_parity(&empty[s], (step / 2 + 1) & 1)) {}
                ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], sizeof(stage[s]));
                const int corner[2] = {step * 32, int(blockIdx.x) * 8};
                ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage[s], &from, corner, &full[s]);
            }
        }
    } else if (threadIdx.x < 8) {
        float sum = 0;
        for (int step = 0; step < steps; step++) {
            int s = step % 2;
            while (!ptx::mbarrier_try_wait_parity(&full[s], step / 2 & 1)) {}
            for (int i = 0; i < 32; i++) sum += stage[s][threadIdx.x][(i + threadIdx.x) % 32];
            ptx::mbarrier_arrive(&empty[s]);
        }
        out[blockIdx.x * 8 + threadIdx.x] = sum;
    }
}
//# rows = [[(i * 11 + j * j) % 64 / 4 for j in range(148)] for i in range(16)]
// run: row_sums grid=2 block=64
//= tensor: f32[148x16],box:32x8 sum(rows, [])
// tensor: f32[148x16],box:32x8 @6
// arg: s32 148
//= out: f32 [sum(row) for row in rows]
// out: f32 793.5 1056.5 1319.5 1118.5 1381.5 1212.5 867.5 1130.5 1233.5 1192.5 1455.5 1286.5 941.5 1060.5 1307.5 1266.5

// Three dimensions: every block adds its number to a box of the tensor, some of it outside.
extern "C" __global__ void add_boxes(const __grid_constant__ CUtensorMap to) {
    __shared__ alignas(128) unsigned box[2][4][8];
    int i = threadIdx.x;
    box[i / 32][i / 8 % 4][i % 8] = blockIdx.x + 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        const int corner[3] = {int(blockIdx.x) * 4, int(blockIdx.x), 1};
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &to, corner, box);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}
//# def added(x, y, z): return sum(b + 1 for b in range(3) if 4 * b <= x < 4 * b + 8 and b <= y < b + 4 and 1 <= z < 3)
// run: add_boxes grid=3 block=64
//= tensor: u32[12x5x2],box:8x4x2 range(12 * 5 * 2) -> [x + 12 * y + 60 * z + added(x, y, z) for z in range(2) for y in range(5) for x in range(12)]
// tensor: u32[12x5x2],box:8x4x2 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 -> 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 61 62 63 64 65 66 67 68 68 69 70 71 73 74 75 76 79 80 81 82 82 83 84 85 85 86 87 88 91 92 93 94 97 98 99 100 97 98 99 100 103 104 105 106 109 110 111 112 108 109 110 111 114 115 116 117 121 122 123 124
