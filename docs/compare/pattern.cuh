// Which element each thread accesses: `Pattern` of `kernels/src/access.rs`, for access.cu and
// cache.cu.

#pragma once

struct Pattern {
    unsigned stride;        // elements from one thread's to the next one's
    unsigned exchange;      // combined with the thread's number by exclusive or
    unsigned offset;        // elements before the first
    unsigned scatter_bits;  // not 0: numbers below 2^this are scattered
};

// A one-to-one mapping of the numbers below 2^bits: multiply by odd numbers, fold the upper half.
__device__ inline unsigned scatter(unsigned i, unsigned bits) {
    const unsigned mask = ~0u >> (32 - bits);
    const unsigned fold = bits / 2 + 1;
    i = (i ^ (i >> fold)) & mask;
    i = (i * 0x9e3779b1u) & mask;
    i = (i ^ (i >> fold)) & mask;
    i = (i * 0x85ebca6bu) & mask;
    return (i ^ (i >> fold)) & mask;
}

// The element of thread `i`.
__device__ inline unsigned element(const Pattern& pattern, unsigned i) {
    i ^= pattern.exchange;
    if (pattern.scatter_bits != 0) i = scatter(i, pattern.scatter_bits);
    return i * pattern.stride + pattern.offset;
}
