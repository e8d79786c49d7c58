// What the order of accesses costs, without turning anything: why a transpose of a large matrix
// is slower than a copy. Blocks of 256 threads copy 4 KB each, a word of 16 bytes a thread, of a
// matrix of 16384 x 16384 floats. Either side goes in the order of addresses, or in that of a
// transpose: a piece of one row, the piece below it, and so on, then the next column of pieces.
// nvcc -O3 -std=c++17 -arch=sm_90 -o address_order docs/compare/address_order.cu && ./address_order

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

constexpr unsigned SIDE = 16384, BLOCK = 256, FLOATS = 4 * BLOCK, BLOCKS = SIDE / FLOATS * SIDE;

// The floats of a piece, for the order of addresses.
constexpr unsigned ADDRESSES = 0;

// The word of a block's thread, where pieces have this many floats.
template <unsigned Piece>
__device__ size_t word(unsigned block, unsigned thread) {
    constexpr unsigned width = Piece == ADDRESSES || Piece > FLOATS ? FLOATS : Piece;
    constexpr unsigned height = FLOATS / width, high = SIDE / height, wide = SIDE / width;
    constexpr unsigned together = Piece == ADDRESSES ? 1 : Piece / width;
    unsigned row, column;
    if (Piece == ADDRESSES) {
        column = block % wide, row = block / wide;
    } else {
        const unsigned inside = block % together, piece = block / together;
        row = piece % high, column = piece / high * together + inside;
    }
    const unsigned x = thread % (width / 4), y = thread / (width / 4);
    return size_t(row * height + y) * (SIDE / 4) + column * (width / 4) + x;
}

template <unsigned Read, unsigned Write>
__global__ void __launch_bounds__(BLOCK) copy(const float4* input, float4* output) {
    const float4 value = __ldcg(input + word<Read>(blockIdx.x, threadIdx.x));
    output[word<Write>(blockIdx.x, threadIdx.x)] = value;
}

template <unsigned Read>
__global__ void __launch_bounds__(BLOCK) read(const float4* input, float4* output) {
    const float4 value = __ldcg(input + word<Read>(blockIdx.x, threadIdx.x));
    // Never: but so the load has a use.
    if (value.x == -1.5f) output[0] = value;
}

template <unsigned Write>
__global__ void __launch_bounds__(BLOCK) write(float4* output) {
    output[word<Write>(blockIdx.x, threadIdx.x)] = make_float4(1, 2, 3, 4);
}

struct Way {
    const char* name;
    unsigned bytes;
    std::function<void()> launch;
    std::vector<float> times;
};

void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "order: %s\n", cudaGetErrorString(status));
    std::exit(1);
}

// Both sides, and each alone, in pieces of this many floats.
template <unsigned Piece>
void add(std::vector<Way>& ways, const float4* input, float4* output) {
    const auto way = [&](const char* name, std::function<void()> launch) {
        ways.push_back({name, 4 * Piece, launch, {}});
    };
    way("read and write", [=] { copy<Piece, Piece><<<BLOCKS, BLOCK>>>(input, output); });
    way("read, write by address",
        [=] { copy<Piece, ADDRESSES><<<BLOCKS, BLOCK>>>(input, output); });
    way("write, read by address",
        [=] { copy<ADDRESSES, Piece><<<BLOCKS, BLOCK>>>(input, output); });
    way("only read", [=] { read<Piece><<<BLOCKS, BLOCK>>>(input, output); });
    way("only write", [=] { write<Piece><<<BLOCKS, BLOCK>>>(output); });
}

int main() {
    const size_t bytes = size_t(SIDE) * SIDE * sizeof(float);
    float4 *input, *output;
    check(cudaMalloc(&input, bytes));
    check(cudaMalloc(&output, bytes));
    check(cudaMemset(input, 1, bytes));
    std::vector<Way> ways;
    const auto kind = cudaMemcpyDeviceToDevice;
    const auto driver = [=] { check(cudaMemcpyAsync(output, input, bytes, kind)); };
    ways.push_back({"the driver's copy", 0, driver, {}});
    add<ADDRESSES>(ways, input, output);
    add<32>(ways, input, output);
    add<64>(ways, input, output);
    add<256>(ways, input, output);
    add<1024>(ways, input, output);
    add<8192>(ways, input, output);

    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    // In turn, so that all meet the same clocks; each after a launch of its own that is not timed.
    for (int round = 0; round < 4; ++round)
        for (Way& way : ways)
            for (int i = 0; i < 12; ++i) {
                way.launch();
                check(cudaEventRecord(begin));
                way.launch();
                check(cudaEventRecord(end));
                check(cudaEventSynchronize(end));
                float milliseconds;
                check(cudaEventElapsedTime(&milliseconds, begin, end));
                if (i >= 2) way.times.push_back(milliseconds * 1000);
            }
    check(cudaGetLastError());
    std::printf("%-24s %10s %10s %20s\n", "way", "piece", "median", "quartiles");
    for (Way& way : ways) {
        std::sort(way.times.begin(), way.times.end());
        const auto part = [&](size_t quarter) { return way.times[way.times.size() * quarter / 4]; };
        char piece[16] = "-";
        if (way.bytes > 0) std::snprintf(piece, sizeof piece, "%u B", way.bytes);
        std::printf("%-24s %10s %7.1f us %8.1f to %6.1f us\n", way.name, piece, part(2), part(1),
                    part(3));
    }
}
