// What `measure.py` fills buffers with, so that they hold what `host run` puts there: `ramp` and
// `rand:SEED` (SplitMix64, one draw an element). These are not timed.

#pragma once

using u64 = unsigned long long;

// Draw number `i` of the generator.
__device__ inline u64 draw(u64 seed, u64 i) {
    u64 bits = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
    return bits ^ (bits >> 31);
}

__device__ inline void convert(u64 bits, unsigned char* to) { *to = bits >> 56; }
__device__ inline void convert(u64 bits, unsigned* to) { *to = bits >> 32; }
__device__ inline void convert(u64 bits, float* to) { *to = (bits >> 40) * 0x1p-23f - 1.0f; }
__device__ inline void convert(u64 bits, double* to) { *to = (bits >> 11) * 0x1p-52 - 1.0; }

template <typename T>
__device__ inline void fill_random(T* to, u64 count, u64 seed) {
    for (u64 i = linear_index(); i < count; i += gridDim.x * blockDim.x)
        convert(draw(seed, i), &to[i]);
}

template <typename T>
__device__ inline void fill_ramp(T* to, u64 count) {
    for (u64 i = linear_index(); i < count; i += gridDim.x * blockDim.x) to[i] = T(i);
}

#define FILL(type, name)                                                                  \
    extern "C" __global__ void fill_random_##name(type* to, u64 count, u64 seed) {        \
        fill_random(to, count, seed);                                                     \
    }                                                                                     \
    extern "C" __global__ void fill_ramp_##name(type* to, u64 count) { fill_ramp(to, count); }

FILL(unsigned char, u8)
FILL(unsigned, u32)
FILL(float, f32)
FILL(double, f64)
#undef FILL
