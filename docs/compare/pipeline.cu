// CUDA C++ twin of `kernels/src/pipeline.rs` and of `kernels/best/src/pipeline.rs`: tiles through
// registers, by cp.async, and by the copy engine.
// By hand: nvcc -ptx -arch=sm_90 -o pipeline.ptx docs/compare/pipeline.cu; host pipeline --ptx pipeline.ptx

#include <cstddef>
#include <cstdint>

#define BLOCK 256
#define RECORD 512

// A slice is two parameters: its first element and its length.
#define SAMPLES const float4 *__restrict__ samples, size_t length
#define SUMS float *__restrict__ sums, size_t threads

// How much the channels change at this thread's samples of a record.
__device__ __forceinline__ float change(const float4* record) {
    float sum = 0.0f;
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
        const unsigned i = threadIdx.x + BLOCK * k;
        const float4 next = record[(i + 1) % RECORD], own = record[i];
        sum += fabsf(next.x - own.x);
        sum += fabsf(next.y - own.y);
        sum += fabsf(next.z - own.z);
        sum += fabsf(next.w - own.w);
    }
    return sum;
}

__device__ __forceinline__ void load(float4* words, SAMPLES, size_t record) {
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
        const size_t from = record * RECORD + threadIdx.x + BLOCK * k;
        words[k] = from < length ? samples[from] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
}

__device__ __forceinline__ void finish(SUMS, float sum) {
    const size_t thread = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    if (thread < threads) sums[thread] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK) pipeline_load(SAMPLES, SUMS) {
    __shared__ float4 tile[RECORD];
    float sum = 0.0f;
    for (size_t record = blockIdx.x; record < length / RECORD; record += gridDim.x) {
        float4 words[2];
        load(words, samples, length, record);
        tile[threadIdx.x] = words[0];
        tile[threadIdx.x + BLOCK] = words[1];
        __syncthreads();
        sum += change(tile);
        __syncthreads();
    }
    finish(sums, threads, sum);
}

extern "C" __global__ void __launch_bounds__(BLOCK) pipeline_registers(SAMPLES, SUMS) {
    __shared__ float4 tile[RECORD];
    float sum = 0.0f;
    float4 next[2];
    load(next, samples, length, blockIdx.x);
    for (size_t record = blockIdx.x; record < length / RECORD; record += gridDim.x) {
        tile[threadIdx.x] = next[0];
        tile[threadIdx.x + BLOCK] = next[1];
        __syncthreads();
        load(next, samples, length, record + gridDim.x);
        sum += change(tile);
        __syncthreads();
    }
    finish(sums, threads, sum);
}

__device__ __forceinline__ unsigned shared_address(const void* place) {
    return static_cast<unsigned>(__cvta_generic_to_shared(place));
}

// Starts the copies of this thread's samples of a record, as a group; zeros beyond the last record.
__device__ __forceinline__ void start_copies(float4* tile, SAMPLES, size_t record) {
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
        const size_t from = record * RECORD + threadIdx.x + BLOCK * k;
        const float4* place = from < length ? samples + from : nullptr;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     :
                     : "r"(shared_address(tile + threadIdx.x + BLOCK * k)),
                       "l"(__cvta_generic_to_global(place)), "r"(from < length ? 16 : 0)
                     : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <unsigned N>
__device__ __forceinline__ void asynchronous(float4 (*stages)[RECORD], SAMPLES, SUMS) {
    const size_t step = gridDim.x;
#pragma unroll
    for (unsigned ahead = 0; ahead < N - 1; ++ahead)
        start_copies(stages[ahead], samples, length, blockIdx.x + ahead * step);
    float sum = 0.0f;
    unsigned stage = 0;
    for (size_t record = blockIdx.x; record < length / RECORD; record += step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(N - 2) : "memory");
        __syncthreads();
        start_copies(stages[stage == 0 ? N - 1 : stage - 1], samples, length, record + (N - 1) * step);
        sum += change(stages[stage]);
        stage = stage == N - 1 ? 0 : stage + 1;
    }
    finish(sums, threads, sum);
}

#define ASYNC(N)                                                                              \
    extern "C" __global__ void __launch_bounds__(BLOCK) pipeline_async_##N(SAMPLES, SUMS) {   \
        __shared__ float4 stages[N][RECORD];                                                  \
        asynchronous<N>(stages, samples, length, sums, threads);                              \
    }

ASYNC(2)
ASYNC(3)
ASYNC(4)

// The first thread starts the copy of a record, whose bytes the stage's barrier counts.
__device__ __forceinline__ void start_bulk(float4* tile, uint64_t* arrived, const float4* samples, unsigned record,
                                           unsigned records) {
    if (threadIdx.x != 0 || record >= records) return;
    const unsigned bytes = RECORD * sizeof(float4);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(arrived)), "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(tile)),
        "l"(__cvta_generic_to_global(samples + size_t(record) * RECORD)), "r"(bytes), "r"(shared_address(arrived))
        : "memory");
}

__device__ __forceinline__ bool is_complete(uint64_t* arrived, unsigned parity) {
    unsigned complete;
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(complete)
        : "r"(shared_address(arrived)), "r"(parity)
        : "memory");
    return complete != 0;
}

template <unsigned N>
__device__ __forceinline__ void bulk(float4 (*stages)[RECORD], uint64_t* arrived, const float4* samples,
                                     unsigned records, float* sums) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (threadIdx.x == 0) {
#pragma unroll
        for (unsigned stage = 0; stage < N; ++stage)
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(arrived + stage)) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    const unsigned step = gridDim.x;
#pragma unroll
    for (unsigned ahead = 0; ahead < N - 1; ++ahead)
        start_bulk(stages[ahead], arrived + ahead, samples, blockIdx.x + ahead * step, records);
    float sum = 0.0f;
    unsigned stage = 0, parity = 0;
    for (unsigned record = blockIdx.x; record < records; record += step) {
        while (!is_complete(arrived + stage, parity)) {
        }
        __syncthreads();
        const unsigned free = stage == 0 ? N - 1 : stage - 1;
        start_bulk(stages[free], arrived + free, samples, record + (N - 1) * step, records);
        sum += change(stages[stage]);
        if (++stage == N) {
            stage = 0;
            parity ^= 1;
        }
    }
    sums[size_t(blockIdx.x) * BLOCK + threadIdx.x] = sum;
}

#define BULK(N)                                                                                      \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                              \
        pipeline_bulk_##N(const float4* samples, unsigned records, float* sums) {                    \
        __shared__ __align__(16) float4 stages[N][RECORD];                                           \
        __shared__ uint64_t arrived[N];                                                              \
        bulk<N>(stages, arrived, samples, records, sums);                                            \
    }

BULK(2)
BULK(3)
BULK(4)
