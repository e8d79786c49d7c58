// Loads and stores of data that L2 is to keep longest, for which CUDA C++ has no functions: those of
// `crates/cuda_std/src/mem.rs`, for transpose.cu and vector.cu.

#pragma once

__device__ unsigned long long evict_last() {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy));
    return policy;
}

__device__ float4 load_l2_evict_last(const float4* address) {
    float4 value;
    asm volatile("ld.global.cg.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "l"(address), "l"(evict_last())
                 : "memory");
    return value;
}

// L2 also fetches the 256 bytes around it.
__device__ float4 load_l2_evict_last_prefetch(const float4* address) {
    float4 value;
    asm volatile("ld.global.L2::cache_hint.L2::256B.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "l"(address), "l"(evict_last())
                 : "memory");
    return value;
}

__device__ float load_l2_evict_last_prefetch(const float* address) {
    float value;
    asm volatile("ld.global.L2::cache_hint.L2::256B.f32 %0, [%1], %2;"
                 : "=f"(value)
                 : "l"(address), "l"(evict_last())
                 : "memory");
    return value;
}

__device__ void store_l2_evict_last(float4* address, float4 value) {
    asm volatile("st.global.L2::cache_hint.v4.f32 [%0], {%1, %2, %3, %4}, %5;"
                 :
                 : "l"(address), "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w), "l"(evict_last())
                 : "memory");
}
