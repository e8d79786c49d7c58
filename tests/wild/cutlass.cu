// Matrix products with the means of CUTLASS (4.2), NVIDIA's templates: its layouts, copies, products and pipelines as they are, put together here.
//@ sm_90a
#include <cuda.h>
#include <cute/tensor.hpp>
#include <cutlass/arch/barrier.h>
#include <cutlass/arch/reg_reconfig.h>
#include <cutlass/cluster_launch.hpp>
#include <cutlass/pipeline/pipeline.hpp>
using namespace cute;

__device__ half_t element_of_a(int row, int k) { return half_t(float((row * 7 + k * 3) % 13 - 6)); }
__device__ half_t element_of_b(int row, int k) { return half_t(float((row * 5 + k * 11) % 9 - 4)); }

// What is left of C = A * B^T: the sums of its rows and columns, each element with the number of its column or row.
template <class Sums, class Coordinates>
__device__ void reduce(Sums const &sums, Coordinates const &coordinates, int row, int *rows, int *columns) {
    for (int i = 0; i < size(sums); ++i) {
        int r = row + get<0>(coordinates(i)), c = get<1>(coordinates(i)), value = int(sums(i));
        atomicAdd(&rows[r], value * (c + 1));
        atomicAdd(&columns[c], value * (r + 1));
    }
}

// As on Ampere: copies by the threads that go on beside them, two stages, `ldmatrix` from swizzled shared memory, `mma`.
extern "C" __global__ void __launch_bounds__(128) ampere(half_t *a, half_t *b, int *rows, int *columns, int k) {
    for (int i = threadIdx.x; i < 64 * k; i += blockDim.x) {
        a[i] = element_of_a(i / k, i % k);
        b[i] = element_of_b(i / k, i % k);
    }
    __syncthreads();
    auto swizzled = composition(Swizzle<3, 3, 3>{}, Layout<Shape<_8, _64>, Stride<_64, _1>>{});
    auto layout = tile_to_shape(swizzled, Shape<_64, _64, _2>{});
    __shared__ alignas(128) half_t memory[2][cosize_v<decltype(layout)>];
    auto sA = make_tensor(make_smem_ptr(memory[0]), layout);
    auto sB = make_tensor(make_smem_ptr(memory[1]), layout);
    auto mA = make_tensor(make_gmem_ptr(a), make_shape(_64{}, k), make_stride(k, _1{}));
    auto mB = make_tensor(make_gmem_ptr(b), make_shape(_64{}, k), make_stride(k, _1{}));
    auto gA = local_tile(mA, Shape<_64, _64>{}, make_coord(0, _));
    auto gB = local_tile(mB, Shape<_64, _64>{}, make_coord(0, _));

    auto copier = make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>, half_t>{}, Layout<Shape<_16, _8>, Stride<_8, _1>>{},
                                  Layout<Shape<_1, _8>>{});
    auto copies = copier.get_slice(threadIdx.x);
    auto fromA = copies.partition_S(gA);
    auto toA = copies.partition_D(sA);
    auto fromB = copies.partition_S(gB);
    auto toB = copies.partition_D(sB);

    auto products = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2>>{}, Tile<_32, _32, _16>{});
    auto mine = products.get_slice(threadIdx.x);
    auto rA = mine.partition_fragment_A(sA(_, _, 0));
    auto rB = mine.partition_fragment_B(sB(_, _, 0));
    auto sums = partition_fragment_C(products, Shape<_64, _64>{});
    clear(sums);
    auto loadA = make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, products);
    auto loadB = make_tiled_copy_B(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, products);
    auto sliceA = loadA.get_slice(threadIdx.x);
    auto sliceB = loadB.get_slice(threadIdx.x);
    auto tilesA = sliceA.partition_S(sA);
    auto tilesB = sliceB.partition_S(sB);
    auto viewA = sliceA.retile_D(rA);
    auto viewB = sliceB.retile_D(rB);

    int tiles = k / 64;
    copy(copier, fromA(_, _, _, 0), toA(_, _, _, 0));
    copy(copier, fromB(_, _, _, 0), toB(_, _, _, 0));
    cp_async_fence();
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) {
            copy(copier, fromA(_, _, _, tile + 1), toA(_, _, _, (tile + 1) % 2));
            copy(copier, fromB(_, _, _, tile + 1), toB(_, _, _, (tile + 1) % 2));
        }
        cp_async_fence();
        cp_async_wait<1>();
        __syncthreads();
        copy(loadA, tilesA(_, _, _, tile % 2), viewA);
        copy(loadB, tilesB(_, _, _, tile % 2), viewB);
        gemm(products, rA, rB, sums);
        __syncthreads();
    }
    reduce(sums, mine.partition_C(make_identity_tensor(Shape<_64, _64>{})), 0, rows, columns);
}

// As on Hopper: one warpgroup has the copy engine fill a ring of three stages, another one multiplies by `wgmma`. The two blocks of a cluster
// multiply by the same B: each loads half of it for both.
extern "C" __global__ void __cluster_dims__(2) __launch_bounds__(256, 1)
    hopper(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB, int *rows, int *columns, int k) {
    using Pipeline = cutlass::PipelineTmaAsync<3>;
    auto layout = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _64, _3>{});
    extern __shared__ __align__(1024) half_t memory[];
    __shared__ alignas(16) char barriers[sizeof(Pipeline::SharedStorage)];
    auto sA = make_tensor(make_smem_ptr(memory), layout);
    auto sB = make_tensor(make_smem_ptr(memory + cosize(layout)), layout);
    bool produces = threadIdx.x < 128;
    Pipeline::Params parameters;
    parameters.transaction_bytes = 2 * 64 * 64 * sizeof(half_t);
    parameters.role = produces ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
    parameters.is_leader = threadIdx.x == 0;
    parameters.num_consumers = 128;
    Pipeline pipeline(reinterpret_cast<Pipeline::SharedStorage &>(barriers), parameters, Shape<_2, _1, _1>{});
    // A and B are put where they are to be by the copy engine, too.
    int tiles = k / 64, rank = block_rank_in_cluster(), row = blockIdx.x * 64;
    for (int tile = 0; tile < tiles; ++tile) {
        for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) {
            sA(i / 64, i % 64, 0) = element_of_a(row + i / 64, tile * 64 + i % 64);
            sB(i / 64, i % 64, 0) = element_of_b(i / 64, tile * 64 + i % 64);
        }
        tma_store_fence();
        __syncthreads();
        if (threadIdx.x == 0) {
            SM90_TMA_STORE_2D::copy(&mapA, &sA(0, 0, 0), tile * 64, row);
            SM90_TMA_STORE_2D::copy(&mapB, &sB(rank * 32, 0, 0), tile * 64, rank * 32);
            tma_store_arrive();
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) asm volatile("fence.proxy.async.global;" ::: "memory");
    cluster_arrive();
    cluster_wait();
    if (produces) {
        cutlass::arch::warpgroup_reg_dealloc<40>();
        if (threadIdx.x == 0) {
            auto state = cutlass::make_producer_start_state<Pipeline>();
            for (int tile = 0; tile < tiles; ++tile, ++state) {
                pipeline.producer_acquire(state);
                auto *barrier = pipeline.producer_get_barrier(state);
                int stage = state.index();
                SM90_TMA_LOAD_2D::copy(&mapA, barrier, uint64_t(TMA::CacheHintSm90::EVICT_NORMAL), &sA(0, 0, stage), tile * 64,
                                       row);
                SM90_TMA_LOAD_MULTICAST_2D::copy(&mapB, barrier, 3, uint64_t(TMA::CacheHintSm90::EVICT_LAST), &sB(rank * 32, 0, stage),
                                                 tile * 64, rank * 32);
            }
            pipeline.producer_tail(state);
        }
    } else {
        cutlass::arch::warpgroup_reg_alloc<232>();
        auto products = make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>{});
        auto mine = products.get_slice(threadIdx.x - 128);
        auto rA = mine.partition_fragment_A(sA);
        auto rB = mine.partition_fragment_B(sB);
        auto sums = partition_fragment_C(products, Shape<_64, _64>{});
        clear(sums);
        cutlass::PipelineState<3> state, released;
        for (int tile = 0; tile < tiles; ++tile, ++state) {
            pipeline.consumer_wait(state);
            warpgroup_fence_operand(sums);
            warpgroup_arrive();
            gemm(products, rA(_, _, _, state.index()), rB(_, _, _, state.index()), sums);
            warpgroup_commit_batch();
            warpgroup_wait<1>();
            warpgroup_fence_operand(sums);
            if (tile > 0) {
                pipeline.consumer_release(released);
                ++released;
            }
        }
        warpgroup_wait<0>();
        warpgroup_fence_operand(sums);
        pipeline.consumer_release(released);
        reduce(sums, mine.partition_C(make_identity_tensor(Shape<_64, _64>{})), blockIdx.x * 64, rows, columns);
    }
}
//# a = lambda r, k: (r * 7 + k * 3) % 13 - 6
//# b = lambda r, k: (r * 5 + k * 11) % 9 - 4
//# def product(m, n, depth):
//#     c = [[sum(a(r, k) * b(q, k) for k in range(depth)) for q in range(n)] for r in range(m)]
//#     return [sum(c[r][q] * (q + 1) for q in range(n)) for r in range(m)], [sum(c[r][q] * (r + 1) for r in range(m)) for q in range(n)]
// run: ampere block=128
// inout: u16 0x0x16384 -> *x16384
// inout: u16 0x0x16384 -> *x16384
//= inout: s32 [0] * 64 -> product(64, 64, 256)[0]
// inout: s32 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -> 3474 -6897 334 -4174 496 -2010 970 2377 1158 5152 -1904 5704 -4680 3474 -6897 334 -4174 496 -2010 970 2377 1158 5152 -1904 5704 -4680 3474 -6897 334 -4174 496 -2010 970 2377 1158 5152 -1904 5704 -4680 3474 -6897 334 -4174 496 -2010 970 2377 1158 5152 -1904 5704 -4680 3474 -6897 334 -4174 496 -2010 970 2377 1158 5152 -1904 5704
//= inout: s32 [0] * 64 -> product(64, 64, 256)[1]
// inout: s32 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -> 4160 -6110 -1170 -5005 -1820 2535 455 7150 -195 4160 -6110 -1170 -5005 -1820 2535 455 7150 -195 4160 -6110 -1170 -5005 -1820 2535 455 7150 -195 4160 -6110 -1170 -5005 -1820 2535 455 7150 -195 4160 -6110 -1170 -5005 -1820 2535 455 7150 -195 4160 -6110 -1170 -5005 -1820 2535 455 7150 -195 4160 -6110 -1170 -5005 -1820 2535 455 7150 -195 4160
// arg: u32 256
// run: hopper grid=2 block=256 cluster=2 shared=49152
// tensor: f16[256x128],box:64x64,swizzle:128 0x0x32768
// tensor: f16[256x64],box:64x32,swizzle:128 0x0x16384
//= inout: s32 [0] * 128 -> product(128, 64, 256)[0]
// inout: s32 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -> 3474 -6897 334 -4174 496 -2010 970 2377 1158 5152 -1904 5704 -4680 3474 -6897 334 -4174 496 -2010 970 2377 1158 5152 -1904 5704 -4680 3474 -6897 334 -4174 496 -2010 970 2377 1158 5152 -1904 5704 -4680 3474 -6897 334 -4174 496 -2010 970 2377 1158 5152 -1904 5704 -4680 3474 -6897 334 -4174 496 -2010 970 2377 1158 5152 -1904 5704 -4680 3474 -6897 334 -4174 496 -2010 970 2377 1158 5152 -1904 5704 -4680 3474 -6897 334 -4174 496 -2010 970 2377 1158 5152 -1904 5704 -4680 3474 -6897 334 -4174 496 -2010 970 2377 1158 5152 -1904 5704 -4680 3474 -6897 334 -4174 496 -2010 970 2377 1158 5152 -1904 5704 -4680 3474 -6897 334 -4174 496 -2010 970 2377 1158 5152 -1904
//= inout: s32 [0] * 64 -> product(128, 64, 256)[1]
// inout: s32 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -> -12320 422 -10983 -1625 -2608 2232 11617 239 13026 -12320 422 -10983 -1625 -2608 2232 11617 239 13026 -12320 422 -10983 -1625 -2608 2232 11617 239 13026 -12320 422 -10983 -1625 -2608 2232 11617 239 13026 -12320 422 -10983 -1625 -2608 2232 11617 239 13026 -12320 422 -10983 -1625 -2608 2232 11617 239 13026 -12320 422 -10983 -1625 -2608 2232 11617 239 13026 -12320
// arg: u32 256
