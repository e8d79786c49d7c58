// What the twins of the best reductions share, as `kernels/best/src/combine.rs` has it: words, and how
// values are combined in a thread, a block and a grid.
#pragma once

constexpr unsigned Block = 512;  // threads of a block that reduce_blocks is for

// Four values: a word of 16 bytes.
template <typename T>
struct Quad;
template <>
struct Quad<float> { using Word = float4; };
template <>
struct Quad<int> { using Word = int4; };
template <>
struct Quad<unsigned> { using Word = uint4; };

// The numbers of a word, combined.
template <typename Operation, typename T>
__device__ __forceinline__ T combined(T number) {
    return number;
}

template <typename Operation>
__device__ __forceinline__ float combined(float4 word) {
    return Operation::combine(Operation::combine(word.x, word.y),
                              Operation::combine(word.z, word.w));
}

template <typename Operation>
__device__ __forceinline__ int combined(int4 word) {
    return Operation::combine(Operation::combine(word.x, word.y),
                              Operation::combine(word.z, word.w));
}

template <typename Operation>
__device__ __forceinline__ unsigned combined(uint4 word) {
    return Operation::combine(Operation::combine(word.x, word.y),
                              Operation::combine(word.z, word.w));
}

__device__ __forceinline__ bool stands_on_16(const void* address) {
    return reinterpret_cast<size_t>(address) % 16 == 0;
}

// Combines what `number` makes of what `load` gives for first, first + step, ... below end, with
// Together loads in flight.
template <int Together, typename Operation, typename T, typename Load, typename Number>
__device__ __forceinline__ T reduce_indices(size_t first, size_t step, size_t end, T nothing, Load load,
                                        Number number) {
    using Loaded = decltype(load(size_t(0)));
    T value = nothing;
    Loaded loaded[Together];
    size_t i = first;
    for (; i + (Together - 1) * step < end; i += Together * step) {
#pragma unroll
        for (int k = 0; k < Together; ++k) loaded[k] = load(i + k * step);
#pragma unroll
        for (int k = 0; k < Together; ++k) value = Operation::combine(value, number(loaded[k]));
    }
#pragma unroll
    for (int k = 0; k < Together; ++k)
        if (i + k * step < end) loaded[k] = load(i + k * step);
#pragma unroll
    for (int k = 0; k < Together; ++k)
        if (i + k * step < end) value = Operation::combine(value, number(loaded[k]));
    return value;
}

// Combines the values of each Lanes neighbouring lanes of a warp; the first one has the result.
template <typename Operation, unsigned Lanes, typename T>
__device__ __forceinline__ T reduce_lanes(T value) {
#pragma unroll
    for (unsigned distance = Lanes / 2; distance > 0; distance /= 2)
        value = Operation::combine(value, T(__shfl_down_sync(~0u, value, distance, Lanes)));
    return value;
}

// Combines the values of a block of 4 * Quads warps, in its first thread.
template <typename Operation, int Quads, typename T>
__device__ __forceinline__ T reduce_block(T value, T nothing, int stage) {
    __shared__ alignas(16) T stages[2][16];
    const unsigned t = threadIdx.x;
    value = reduce_lanes<Operation, 32>(value);
    if (t % 32 == 0) stages[stage][t / 32] = value;
    __syncthreads();
    // The other warps have nothing to do.
    if (t < 32) {
        value = nothing;
        using Word = typename Quad<T>::Word;
        const Word* words = reinterpret_cast<const Word*>(stages[stage]);
#pragma unroll
        for (int k = 0; k < Quads; ++k)
            value = Operation::combine(value, combined<Operation>(words[k]));
    }
    return value;
}

// A value in a slot, which is marked; an empty slot is 0.
using Slot = unsigned long long;

template <typename T>
__device__ void publish(Slot* slot, T value) {
    *static_cast<volatile Slot*>(slot) = 1ull << 32 | reinterpret_cast<unsigned&>(value);
}

// Waits for a block's value, and empties its slot.
template <typename T>
__device__ T wait_for(Slot* slot) {
    volatile Slot* place = slot;
    Slot word;
    do word = *place;
    while (!(word >> 32));
    *place = 0;
    unsigned bits = unsigned(word);
    return reinterpret_cast<T&>(bits);
}

// Combines the blocks' values in the first thread of the last block, where it returns true.
template <typename Operation, typename T>
__device__ bool reduce_blocks(T& value, T nothing, unsigned block, unsigned blocks, Slot* slots) {
    const unsigned t = threadIdx.x;
    if (blocks == 1) return t == 0;
    if (block + 1 < blocks) {
        if (t == 0) publish(slots + block, value);
        return false;
    }
    if (t > 0) value = nothing;
    for (unsigned i = t; i + 1 < blocks; i += Block)
        value = Operation::combine(value, wait_for<T>(slots + i));
    value = reduce_block<Operation, 4>(value, nothing, 1);
    return t == 0;
}
