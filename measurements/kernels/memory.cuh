// Kernels that move data: copies, strides, gathers, transposes.

#pragma once

// Copies, one word a thread: 1, 4, 8 and 16 bytes.

template <typename T>
__device__ inline void copy(const T* in, T* out, unsigned n) {
    const unsigned i = linear_index();
    if (i < n) out[i] = in[i];
}

extern "C" __global__ void copy1(const unsigned char* in, unsigned char* out, unsigned n) {
    copy(in, out, n);
}

extern "C" __global__ void copy4(const float* in, float* out, unsigned n) { copy(in, out, n); }

extern "C" __global__ void copy8(const float2* in, float2* out, unsigned n) { copy(in, out, n); }

extern "C" __global__ void copy16(const float4* in, float4* out, unsigned n) { copy(in, out, n); }

extern "C" __global__ void scale(float* x, float a, unsigned n) {
    const unsigned i = linear_index();
    if (i < n) x[i] *= a;
}

extern "C" __global__ void saxpy(float a, const float* x, float* y, unsigned n) {
    const unsigned i = linear_index();
    if (i < n) y[i] = a * x[i] + y[i];
}

// A loop over the grid: few blocks, each with much to do.
extern "C" __global__ void triad(float* a, const float* b, const float* c, float s, unsigned n) {
    for (unsigned i = linear_index(); i < n; i += gridDim.x * blockDim.x) a[i] = b[i] + s * c[i];
}

extern "C" __global__ void reverse(const float* in, float* out, unsigned n) {
    const unsigned i = linear_index();
    if (i < n) out[n - 1 - i] = in[i];
}

extern "C" __global__ void strided_read(const float* in, float* out, unsigned stride, unsigned n) {
    const unsigned i = linear_index();
    if (i < n) out[i] = in[i * stride];
}

extern "C" __global__ void strided_write(const float* in, float* out, unsigned stride, unsigned n) {
    const unsigned i = linear_index();
    if (i < n) out[i * stride] = in[i];
}

// Elements at random places of a table of `mask` + 1 elements, a power of two.
extern "C" __global__ void gather(const float* table, const unsigned* index, float* out,
                                  unsigned mask, unsigned n) {
    const unsigned i = linear_index();
    if (i < n) out[i] = table[index[i] & mask];
}

// Every element to another place, in no order: the places are a one-to-one mix of the numbers
// below `mask` + 1.
extern "C" __global__ void scatter(const float* in, float* out, unsigned mask) {
    const unsigned i = linear_index();
    unsigned place = (i * 0x9e3779b1u) & mask;
    place ^= place >> 11;
    place = (place * 0x85ebca6bu) & mask;
    out[place] = in[i];
}

// Each warp follows a chain of links, one after the other.
extern "C" __global__ void chase(const unsigned* links, unsigned* end, unsigned mask,
                                 unsigned steps) {
    unsigned place = warp_index() * 0x9e3779b1u;
    for (unsigned step = 0; step < steps; step++) place = links[place & mask] + step;
    if (lane() == 0) end[warp_index()] = place;
}

// Where each key belongs in a sorted table of 2^bits elements.
extern "C" __global__ void search(const unsigned* table, const unsigned* keys, unsigned* places,
                                  unsigned bits, unsigned n) {
    const unsigned i = linear_index();
    if (i >= n) return;
    const unsigned key = keys[i] >> (32 - bits);
    unsigned place = 0;
    for (unsigned half = 1u << (bits - 1); half > 0; half /= 2)
        if (table[place + half] <= key) place += half;
    places[i] = place;
}

// Pixels of three bytes to grey.
extern "C" __global__ void grey(const unsigned char* rgb, unsigned char* out, unsigned n) {
    const unsigned i = linear_index();
    if (i >= n) return;
    const unsigned red = rgb[3 * i], green = rgb[3 * i + 1], blue = rgb[3 * i + 2];
    out[i] = (77 * red + 151 * green + 28 * blue) >> 8;
}

// Transposes through a tile of SIDE x SIDE elements; a block has SIDE x ROWS threads.
template <typename T, unsigned SIDE, unsigned ROWS>
__device__ inline void transpose(const T* in, T* out, unsigned width, unsigned height) {
    __shared__ T tile[SIDE][SIDE + 1];
    const unsigned x = threadIdx.x, col = blockIdx.x * SIDE, row = blockIdx.y * SIDE;
    for (unsigned y = threadIdx.y; y < SIDE; y += ROWS)
        if (col + x < width && row + y < height)
            tile[y][x] = in[size_t(row + y) * width + col + x];
    __syncthreads();
    for (unsigned y = threadIdx.y; y < SIDE; y += ROWS)
        if (row + x < height && col + y < width)
            out[size_t(col + y) * height + row + x] = tile[x][y];
}

extern "C" __global__ void transpose_bytes(const unsigned char* in, unsigned char* out,
                                           unsigned width, unsigned height) {
    transpose<unsigned char, 32, 8>(in, out, width, height);
}

extern "C" __global__ void transpose_doubles(const double* in, double* out, unsigned width,
                                             unsigned height) {
    transpose<double, 16, 16>(in, out, width, height);
}

extern "C" __global__ void transpose_tile64(const float* in, float* out, unsigned width,
                                            unsigned height) {
    transpose<float, 64, 4>(in, out, width, height);
}
