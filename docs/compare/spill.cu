// CUDA C++ twin of `kernels/src/spill.rs`: rings in registers, local and shared memory, and lists.
// By hand: nvcc -ptx -arch=sm_90 -o spill.ptx docs/compare/spill.cu; host spill --ptx spill.ptx

#include <cstddef>
#include <cstdint>

// A slice is two parameters: its first element and its length.
#define SAMPLES const float *__restrict__ samples, size_t length
#define PEAKS float *peaks, size_t channels
#define AHEAD 8

// The next samples of a channel, all under way at once; zeros after the last one. With an address
// made from each index, ptxas puts each load of a ring of 64 words right before its use.
__device__ __forceinline__ void load_ahead(float* loaded, SAMPLES, size_t next, size_t channels) {
    const float* from = samples + next;
#pragma unroll
    for (unsigned k = 0; k < AHEAD; ++k) {
        loaded[k] = 0.0f;
        if (next < length) loaded[k] = *from;
        next += channels;
        from += channels;
    }
}

// The ring has an index that is known only when the kernel runs.
template <unsigned N>
__device__ __forceinline__ void in_local_memory(SAMPLES, PEAKS) {
    const size_t channel = size_t(blockIdx.x) * 128 + threadIdx.x;
    if (channel >= channels) return;
    float ring[N];
#pragma unroll
    for (unsigned i = 0; i < N; ++i) ring[i] = 0.0f;
    float peak = 0.0f;
    unsigned at = 0;
    for (size_t next = channel; next < length; next += AHEAD * channels) {
        float loaded[AHEAD];
        load_ahead(loaded, samples, length, next, channels);
#pragma unroll
        for (unsigned k = 0; k < AHEAD; ++k) {
            const float sample = loaded[k] + 0.5f * ring[at];
            ring[at] = sample;
            peak = fmaxf(peak, fabsf(sample));
            at = (at + 1) % N;
        }
    }
    peaks[channel] = peak;
}

// The same in a column of shared memory.
template <unsigned N>
__device__ __forceinline__ void in_shared_memory(SAMPLES, PEAKS) {
    __shared__ float rings[N][128];
    const unsigned t = threadIdx.x;
    const size_t channel = size_t(blockIdx.x) * 128 + t;
    if (channel >= channels) return;
#pragma unroll
    for (unsigned i = 0; i < N; ++i) rings[i][t] = 0.0f;
    float peak = 0.0f;
    unsigned at = 0;
    for (size_t next = channel; next < length; next += AHEAD * channels) {
        float loaded[AHEAD];
        load_ahead(loaded, samples, length, next, channels);
#pragma unroll
        for (unsigned k = 0; k < AHEAD; ++k) {
            const float sample = loaded[k] + 0.5f * rings[at][t];
            rings[at][t] = sample;
            peak = fmaxf(peak, fabsf(sample));
            at = (at + 1) % N;
        }
    }
    peaks[channel] = peak;
}

// All parts of the ring are written out, so that every index is a constant.
template <unsigned N>
__device__ __forceinline__ void in_registers(SAMPLES, PEAKS) {
    const size_t channel = size_t(blockIdx.x) * 128 + threadIdx.x;
    if (channel >= channels) return;
    float ring[N];
#pragma unroll
    for (unsigned i = 0; i < N; ++i) ring[i] = 0.0f;
    float peak = 0.0f;
    for (size_t next = channel; next < length;) {
#pragma unroll
        for (unsigned part = 0; part < N; part += AHEAD) {
            float loaded[AHEAD];
            load_ahead(loaded, samples, length, next, channels);
#pragma unroll
            for (unsigned k = 0; k < AHEAD; ++k) {
                ring[part + k] = loaded[k] + 0.5f * ring[part + k];
                peak = fmaxf(peak, fabsf(ring[part + k]));
            }
            next += AHEAD * channels;
        }
    }
    peaks[channel] = peak;
}

#define ECHO(NAME, WAY, N)                                                         \
    extern "C" __global__ void __launch_bounds__(128) NAME(SAMPLES, PEAKS) {       \
        WAY<N>(samples, length, peaks, channels);                                  \
    }

ECHO(spill_local_16, in_local_memory, 16)
ECHO(spill_local_64, in_local_memory, 64)
ECHO(spill_shared_16, in_shared_memory, 16)
ECHO(spill_shared_64, in_shared_memory, 64)
ECHO(spill_registers_16, in_registers, 16)
ECHO(spill_registers_64, in_registers, 64)

extern "C" __global__ void __launch_bounds__(128, 16) spill_bounded_64(SAMPLES, PEAKS) {
    in_registers<64>(samples, length, peaks, channels);
}

// Goes along K lists at a time, as many threads apart as there are.
template <unsigned K>
__device__ __forceinline__ void walk(const unsigned* __restrict__ next, size_t elements, unsigned* ends, size_t lists,
                                     unsigned steps) {
    const size_t threads = size_t(gridDim.x) * 256;
    for (size_t first = size_t(blockIdx.x) * 256 + threadIdx.x; first < lists; first += K * threads) {
        size_t at[K];
#pragma unroll
        for (unsigned k = 0; k < K; ++k) at[k] = first + k * threads;
        for (unsigned step = 0; step < steps; ++step) {
#pragma unroll
            for (unsigned k = 0; k < K; ++k)
                if (at[k] < elements) at[k] = next[at[k]];
        }
#pragma unroll
        for (unsigned k = 0; k < K; ++k)
            if (first + k * threads < lists) ends[first + k * threads] = unsigned(at[k]);
    }
}

#define WALK(NAME, K)                                                                                    \
    extern "C" __global__ void __launch_bounds__(256)                                                    \
        NAME(const unsigned* __restrict__ next, size_t elements, unsigned* ends, size_t lists, unsigned steps) { \
        walk<K>(next, elements, ends, lists, steps);                                                     \
    }

WALK(spill_walk_1, 1)
WALK(spill_walk_2, 2)
WALK(spill_walk_4, 4)
WALK(spill_walk_8, 8)
