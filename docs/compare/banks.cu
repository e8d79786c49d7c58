// CUDA C++ twin of `kernels/src/banks.rs`: the banks of shared memory, pattern by pattern.
// By hand: nvcc -ptx -arch=sm_90 -o banks.ptx docs/compare/banks.cu; host banks --ptx banks.ptx

constexpr unsigned StageWords = 2048;

// The stage, filled with the first words of `input`, side by side. One warp a block.
template <typename Word>
__device__ __forceinline__ const Word* fill(const unsigned* input, size_t length) {
    __shared__ __align__(16) unsigned stage[StageWords];
    for (unsigned word = threadIdx.x; word < StageWords; word += 32)
        stage[word] = word < length ? input[word] : 0;
    __syncthreads();
    return reinterpret_cast<const Word*>(stage);
}

// Adds up what `read` gives in each round, and writes the sum.
template <typename Read>
__device__ void add_up(unsigned* output, unsigned rounds, Read read) {
    unsigned sum = 0;
    for (unsigned round = 0; round < rounds; ++round) sum += read(round);
    output[size_t(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

// Lane l reads word stride * l.
extern "C" __global__ void __launch_bounds__(32)
    banks_stride(const unsigned* input, size_t length, unsigned* output, size_t,
                 unsigned rounds, unsigned stride) {
    const unsigned* words = fill<unsigned>(input, length) + stride * threadIdx.x;
    add_up(output, rounds, [=](unsigned round) { return words[round]; });
}

// Lane l reads word l ^ 5: the same 32 words in another order.
extern "C" __global__ void __launch_bounds__(32)
    banks_permuted(const unsigned* input, size_t length, unsigned* output, size_t,
                   unsigned rounds) {
    const unsigned* words = fill<unsigned>(input, length) + (threadIdx.x ^ 5);
    add_up(output, rounds, [=](unsigned round) { return words[round]; });
}

// Words of one byte, side by side.
extern "C" __global__ void __launch_bounds__(32)
    banks_bytes1(const unsigned* input, size_t length, unsigned* output, size_t,
                 unsigned rounds) {
    const unsigned char* bytes = fill<unsigned char>(input, length) + threadIdx.x;
    add_up(output, rounds, [=](unsigned round) { return bytes[4 * round]; });
}

// Words of two bytes, side by side.
extern "C" __global__ void __launch_bounds__(32)
    banks_bytes2(const unsigned* input, size_t length, unsigned* output, size_t,
                 unsigned rounds) {
    const unsigned short* halves = fill<unsigned short>(input, length) + threadIdx.x;
    add_up(output, rounds, [=](unsigned round) { return halves[2 * round]; });
}

// Words of 8 bytes, side by side.
extern "C" __global__ void __launch_bounds__(32)
    banks_bytes8(const unsigned* input, size_t length, unsigned* output, size_t,
                 unsigned rounds) {
    const uint2* pairs = fill<uint2>(input, length) + threadIdx.x;
    add_up(output, rounds, [=](unsigned round) {
        const uint2 pair = pairs[round];
        return pair.x + pair.y;
    });
}

// Words of 16 bytes, side by side.
extern "C" __global__ void __launch_bounds__(32)
    banks_bytes16(const unsigned* input, size_t length, unsigned* output, size_t,
                  unsigned rounds) {
    const uint4* quads = fill<uint4>(input, length) + threadIdx.x;
    add_up(output, rounds, [=](unsigned round) {
        const uint4 quad = quads[round];
        return quad.x + quad.y + quad.z + quad.w;
    });
}

// A structure of `Words` words for each lane, field by field. Volatile, since a round reads a word of
// the round before again, and is meant to.
template <unsigned Words>
__device__ __forceinline__ void field_by_field(const unsigned* input, size_t length,
                                               unsigned* output, unsigned rounds) {
    const volatile unsigned* fields = fill<unsigned>(input, length) + Words * threadIdx.x;
    add_up(output, rounds, [=](unsigned round) {
        unsigned sum = 0;
        for (unsigned field = 0; field < Words; ++field) sum += fields[field + round];
        return sum;
    });
}

extern "C" __global__ void __launch_bounds__(32)
    banks_structure2(const unsigned* input, size_t length, unsigned* output, size_t,
                     unsigned rounds) {
    field_by_field<2>(input, length, output, rounds);
}

extern "C" __global__ void __launch_bounds__(32)
    banks_structure3(const unsigned* input, size_t length, unsigned* output, size_t,
                     unsigned rounds) {
    field_by_field<3>(input, length, output, rounds);
}

// Two elements a thread, `apart` words apart: 1 is interleaved, 32 is block-apart.
extern "C" __global__ void __launch_bounds__(32)
    banks_two(const unsigned* input, size_t length, unsigned* output, size_t,
              unsigned rounds, unsigned apart) {
    const unsigned step = apart == 1 ? 2 : 1;
    const unsigned* words = fill<unsigned>(input, length) + step * threadIdx.x;
    add_up(output, rounds, [=](unsigned round) { return words[round] + words[apart + round]; });
}
