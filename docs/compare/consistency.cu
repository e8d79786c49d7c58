// CUDA C++ twin of `kernels/src/consistency.rs`: messages between blocks, and a look-back.
// By hand: nvcc -ptx -arch=sm_90 -o consistency.ptx docs/compare/consistency.cu; host consistency --ptx consistency.ptx

#include <cstddef>
#include <cstdint>

#define ARGUMENTS unsigned *words, unsigned *results, unsigned number

__device__ __forceinline__ unsigned load_relaxed(const unsigned* place) {
    unsigned value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(place) : "memory");
    return value;
}

__device__ __forceinline__ unsigned load_acquire(const unsigned* place) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(place) : "memory");
    return value;
}

__device__ __forceinline__ uint64_t load_relaxed(const uint64_t* place) {
    uint64_t value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(place) : "memory");
    return value;
}

__device__ __forceinline__ void store_relaxed(unsigned* place, unsigned value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(place), "r"(value) : "memory");
}

__device__ __forceinline__ void store_release(unsigned* place, unsigned value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(place), "r"(value) : "memory");
}

__device__ __forceinline__ void store_relaxed(uint64_t* place, uint64_t value) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(place), "l"(value) : "memory");
}

__device__ __forceinline__ uint64_t packed(unsigned flag, unsigned value) {
    return uint64_t(flag) << 32 | value;
}

// Block 2k sends, and block 2k + 1 receives, once the line of the message is in its L1.
template <class Send, class Receive>
__device__ __forceinline__ void pass(ARGUMENTS, Send send, Receive receive) {
    const unsigned block = blockIdx.x;
    unsigned* line = words + size_t(96) * (block / 2);
    unsigned *message = line + 2, *flag = line + 32, *ready = line + 64;
    if (block % 2 == 0) {
        while (load_relaxed(ready) != number) {}
        send(message, flag);
    } else {
        store_relaxed(ready, number + *line);
        results[block / 2] = receive(message, flag);
    }
}

#define MESSAGE(name, SEND, RECEIVE)                                              \
    extern "C" __global__ void __launch_bounds__(1) name(ARGUMENTS) {             \
        pass(                                                                     \
            words, results, number,                                               \
            [=](unsigned* message, unsigned* flag) { *message = number; SEND; },  \
            [=](unsigned* message, unsigned* flag) { RECEIVE; return *message; }); \
    }

MESSAGE(consistency_volatile, *(volatile unsigned*)flag = number, while (*(volatile unsigned*)flag != number) {})
MESSAGE(consistency_relaxed, store_relaxed(flag, number), while (load_relaxed(flag) != number) {})
MESSAGE(consistency_block_fence, __threadfence_block(); store_relaxed(flag, number),
        while (load_relaxed(flag) != number) {} __threadfence_block())
MESSAGE(consistency_device_fence, __threadfence(); store_relaxed(flag, number),
        while (load_relaxed(flag) != number) {} __threadfence())
MESSAGE(consistency_release, store_release(flag, number), while (load_acquire(flag) != number) {})

extern "C" __global__ void __launch_bounds__(1) consistency_packed(ARGUMENTS) {
    pass(
        words, results, number,
        [=](unsigned* message, unsigned*) { store_relaxed((uint64_t*)message, packed(number, number)); },
        [=](unsigned* message, unsigned*) {
            uint64_t word;
            do word = load_relaxed((const uint64_t*)message);
            while (unsigned(word >> 32) != number);
            return unsigned(word);
        });
}

// Each block's sum of its own value and those of the blocks before it.
template <class Publish, class Find>
__device__ __forceinline__ void look_back(ARGUMENTS, Publish publish, Find find) {
    const unsigned block = blockIdx.x;
    unsigned sum = (block + 1) * number;
    unsigned* own = words + size_t(4) * block;
    publish(own, 2 * number, sum);
    for (unsigned at = block; at > 0;) {
        at -= 1;
        unsigned value;
        const unsigned status = find(words + size_t(4) * at, &value);
        sum += value;
        if (status % 2 == 1) break;
    }
    publish(own, 2 * number + 1, sum);
    results[block] = sum;
}

#define LOOK_BACK(name, STORE, LOAD)                                                  \
    extern "C" __global__ void __launch_bounds__(1) name(ARGUMENTS) {                 \
        look_back(                                                                    \
            words, results, number,                                                   \
            [=](unsigned* entry, unsigned status, unsigned value) {                   \
                entry[1 + status % 2] = value;                                        \
                STORE(entry, status);                                                 \
            },                                                                        \
            [=](unsigned* entry, unsigned* value) {                                   \
                unsigned status;                                                      \
                do status = LOAD(entry);                                              \
                while (status / 2 != number);                                         \
                *value = entry[1 + status % 2];                                       \
                return status;                                                        \
            });                                                                       \
    }

LOOK_BACK(consistency_lookback_relaxed, store_relaxed, load_relaxed)
LOOK_BACK(consistency_lookback_release, store_release, load_acquire)

extern "C" __global__ void __launch_bounds__(1) consistency_lookback_packed(ARGUMENTS) {
    look_back(
        words, results, number,
        [=](unsigned* entry, unsigned status, unsigned value) {
            store_relaxed((uint64_t*)entry, packed(status, value));
        },
        [=](unsigned* entry, unsigned* value) {
            uint64_t word;
            do word = load_relaxed((const uint64_t*)entry);
            while (unsigned(word >> 32) / 2 != number);
            *value = unsigned(word);
            return unsigned(word >> 32);
        });
}
