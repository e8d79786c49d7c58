// Peers in CUDA C++ for `--peer-library`: CUB's reductions, prefix sums and compaction, and a copy
// as nvcc compiles it. The
// host loads this file as a shared library and times its functions beside the Rust kernels: same
// data, same check, same stopwatch. `cargo xtask compare` compiles it. By hand:
// nvcc -O3 -std=c++17 -arch=sm_90 -shared -Xcompiler -fPIC -o libcub.so docs/compare/cub.cu
// host reduce --best --peer --peer-library libcub.so
//
// Each function that launches something returns a CUDA status. As in CUB, a null pointer to
// temporary storage asks for its size, and nothing is launched then.

#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <climits>
#include <cstddef>
#include <cstdint>

namespace {

// In the order of the host's enums.
enum Operation { Sum, Product, Least, Greatest };
enum Type { F32, I32 };

struct Multiply {
    template <typename T>
    __host__ __device__ T operator()(T a, T b) const { return a * b; }
};

// `Number` counts the values: 32 bits where they suffice, since CUB indexes with that type.
template <typename T, typename Number>
cudaError_t reduce(int operation, const T* input, T* output, Number length, void* temporary,
                   size_t* bytes, cudaStream_t stream) {
    using Reduce = cub::DeviceReduce;
    switch (operation) {
        case Sum: return Reduce::Sum(temporary, *bytes, input, output, length, stream);
        case Product:
            return Reduce::Reduce(temporary, *bytes, input, output, length, Multiply{}, T(1),
                                  stream);
        case Least: return Reduce::Min(temporary, *bytes, input, output, length, stream);
        case Greatest: return Reduce::Max(temporary, *bytes, input, output, length, stream);
        default: return cudaErrorInvalidValue;
    }
}

template <typename T>
cudaError_t reduce(int operation, const void* input, void* output, uint64_t length, void* temporary,
                   size_t* bytes, cudaStream_t stream) {
    const T* values = static_cast<const T*>(input);
    T* result = static_cast<T*>(output);
    if (length <= INT_MAX)
        return reduce(operation, values, result, int(length), temporary, bytes, stream);
    return reduce(operation, values, result, int64_t(length), temporary, bytes, stream);
}

struct IsNotZero {
    __host__ __device__ bool operator()(uint32_t value) const { return value != 0; }
};

template <typename Number>
cudaError_t prefix_sums(const uint32_t* input, uint32_t* output, Number length, void* temporary,
                        size_t* bytes, cudaStream_t stream) {
    return cub::DeviceScan::InclusiveSum(temporary, *bytes, input, output, length, stream);
}

template <typename Number>
cudaError_t compact(const uint32_t* input, uint32_t* output, uint32_t* count, Number length,
                    void* temporary, size_t* bytes, cudaStream_t stream) {
    return cub::DeviceSelect::If(temporary, *bytes, input, output, count, length, IsNotZero{},
                                 stream);
}

// Where row `row` begins, or ends.
template <typename Offset>
struct Row {
    Offset pitch, more;
    __host__ __device__ Offset operator()(Offset row) const { return row * pitch + more; }
};

template <typename Offset>
cudaError_t sum_rows(const float* input, float* output, uint64_t rows, uint64_t columns,
                     uint64_t pitch, void* temporary, size_t* bytes, cudaStream_t stream) {
    const thrust::counting_iterator<Offset> row(0);
    const auto begin = thrust::make_transform_iterator(row, Row<Offset>{Offset(pitch), 0});
    const Row<Offset> to{Offset(pitch), Offset(columns)};
    const auto end = thrust::make_transform_iterator(row, to);
    return cub::DeviceSegmentedReduce::Sum(temporary, *bytes, input, output, int(rows), begin, end,
                                           stream);
}

// A word of 16 bytes a thread in each round, as many blocks as are resident at once.
__global__ void copy(const float* input, float* output, uint64_t length) {
    const uint64_t words = length / 4, threads = uint64_t(gridDim.x) * blockDim.x;
    const uint64_t first = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    for (uint64_t i = first; i < words; i += threads)
        reinterpret_cast<float4*>(output)[i] = reinterpret_cast<const float4*>(input)[i];
    const uint64_t rest = 4 * words + first;
    if (rest < length) output[rest] = input[rest];
}

constexpr int CopyThreads = 256;

}  // namespace

// Changes when a function here does: the host refuses a library of another one.
extern "C" int coalesce_peer_interface() { return 2; }

// CUB's version, as 300001 is 3.0.1.
extern "C" int coalesce_peer_cub_version() { return CUB_VERSION; }

// The release of the compiler, as 13000 is 13.0.
extern "C" int coalesce_peer_nvcc_version() {
    return __CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10;
}

// Reduces `length` values to one. Sums and products of integers are modulo 2^32, as those of
// unsigned numbers are.
extern "C" int coalesce_peer_reduce(int operation, int type, const void* input, void* output,
                                    uint64_t length, void* temporary, uint64_t* bytes,
                                    void* stream) {
    size_t needed = *bytes;
    const cudaStream_t queue = static_cast<cudaStream_t>(stream);
    const bool adds = operation == Sum || operation == Product;
    cudaError_t status;
    if (type == F32)
        status = reduce<float>(operation, input, output, length, temporary, &needed, queue);
    else if (type == I32 && adds)
        status = reduce<unsigned>(operation, input, output, length, temporary, &needed, queue);
    else if (type == I32)
        status = reduce<int>(operation, input, output, length, temporary, &needed, queue);
    else
        status = cudaErrorInvalidValue;
    *bytes = needed;
    return status;
}

// The sum of each row of a matrix whose rows begin `pitch` floats apart.
extern "C" int coalesce_peer_row_sums(const void* input, void* output, uint64_t rows,
                                      uint64_t columns, uint64_t pitch, void* temporary,
                                      uint64_t* bytes, void* stream) {
    if (rows > INT_MAX) return cudaErrorInvalidValue;
    size_t needed = *bytes;
    const cudaStream_t queue = static_cast<cudaStream_t>(stream);
    const float* elements = static_cast<const float*>(input);
    float* sums = static_cast<float*>(output);
    const cudaError_t status =
        rows * pitch <= INT_MAX
            ? sum_rows<int>(elements, sums, rows, columns, pitch, temporary, &needed, queue)
            : sum_rows<int64_t>(elements, sums, rows, columns, pitch, temporary, &needed, queue);
    *bytes = needed;
    return status;
}

// Each sum becomes that of the values up to its own, modulo 2^32.
extern "C" int coalesce_peer_prefix_sums(const void* input, void* output, uint64_t length,
                                         void* temporary, uint64_t* bytes, void* stream) {
    size_t needed = *bytes;
    const cudaStream_t queue = static_cast<cudaStream_t>(stream);
    const uint32_t* values = static_cast<const uint32_t*>(input);
    uint32_t* sums = static_cast<uint32_t*>(output);
    const cudaError_t status =
        length <= INT_MAX ? prefix_sums(values, sums, int(length), temporary, &needed, queue)
                          : prefix_sums(values, sums, int64_t(length), temporary, &needed, queue);
    *bytes = needed;
    return status;
}

// The values that are not 0, in their order, and how many there are.
extern "C" int coalesce_peer_compact(const void* input, void* output, void* count, uint64_t length,
                                     void* temporary, uint64_t* bytes, void* stream) {
    size_t needed = *bytes;
    const cudaStream_t queue = static_cast<cudaStream_t>(stream);
    const uint32_t* values = static_cast<const uint32_t*>(input);
    uint32_t *kept = static_cast<uint32_t*>(output), *number = static_cast<uint32_t*>(count);
    const cudaError_t status =
        length <= INT_MAX
            ? compact(values, kept, number, int(length), temporary, &needed, queue)
            : compact(values, kept, number, int64_t(length), temporary, &needed, queue);
    *bytes = needed;
    return status;
}

// Copies `length` floats.
extern "C" int coalesce_peer_copy(const void* input, void* output, uint64_t length, void* stream) {
    // Asked once: the device does not change while the library is loaded.
    static const int blocks = [] {
        int device = 0, multiprocessors = 0, each = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, copy, CopyThreads, 0);
        return multiprocessors * each;
    }();
    const uint64_t needed = (length / 4 + CopyThreads - 1) / CopyThreads + 1;
    const unsigned grid = needed < uint64_t(blocks) ? unsigned(needed) : unsigned(blocks);
    copy<<<grid, CopyThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const float*>(input), static_cast<float*>(output), length);
    return cudaGetLastError();
}
