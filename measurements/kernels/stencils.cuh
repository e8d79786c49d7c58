// Stencils: each element from those around it.

#pragma once

// Nine neighbours in a row, by way of shared memory with a halo of four on each side.
extern "C" __global__ void stencil_1d(const float* in, float* out, unsigned n) {
    __shared__ float line[256 + 8];
    const unsigned i = linear_index(), at = threadIdx.x + 4;
    line[at] = i < n ? in[i] : 0.0f;
    if (threadIdx.x < 4) {
        line[threadIdx.x] = i >= 4 ? in[i - 4] : 0.0f;
        line[at + 256] = i + 256 < n ? in[i + 256] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = -4; k <= 4; k++) sum += line[at + k];
    if (i < n) out[i] = sum / 9.0f;
}

// A step of Jacobi's method for Poisson's equation: five points, straight from global memory.
extern "C" __global__ void jacobi(const float* u, const float* f, float* out, unsigned width,
                                  unsigned height) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x + 1 >= width || y + 1 >= height) return;
    const unsigned i = y * width + x;
    out[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - width] + u[i + width] - f[i]);
}

// Seven points of a cube of side^3 elements; a thread walks along z.
extern "C" __global__ void stencil_3d(const float* in, float* out, unsigned side) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x + 1 >= side || y + 1 >= side) return;
    const unsigned plane = side * side;
    const unsigned first = blockIdx.z * 16, last = min(first + 16, side - 1);
    for (unsigned z = max(first, 1u); z < last; z++) {
        const unsigned i = z * plane + y * side + x;
        const float around = in[i - 1] + in[i + 1] + in[i - side] + in[i + side] + in[i - plane] +
                             in[i + plane];
        out[i] = 0.4f * in[i] + 0.1f * around;
    }
}

__constant__ float coefficients[17];

// A filter of 17 coefficients in constant memory. The input has 16 elements more than the output.
extern "C" __global__ void convolve_1d(const float* in, float* out, unsigned n) {
    const unsigned i = linear_index();
    if (i >= n) return;
    float sum = 0.0f;
    for (unsigned k = 0; k < 17; k++) sum += coefficients[k] * in[i + k];
    out[i] = sum;
}

__constant__ float mask[25];

// A filter of 5 x 5. Pixels outside count as the nearest one inside.
extern "C" __global__ void convolve_2d(const float* in, float* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++) {
            const int col = min(max(x + i, 0), width - 1), row = min(max(y + j, 0), height - 1);
            sum += mask[(j + 2) * 5 + i + 2] * in[row * width + col];
        }
    out[y * width + x] = sum;
}

// Heat: five points from a tile of 32 x 8 with a halo, in shared memory.
extern "C" __global__ void heat(const float* in, float* out, int width, int height, float k) {
    __shared__ float tile[10][34];
    const int left = int(blockIdx.x) * 32 - 1, top = int(blockIdx.y) * 8 - 1;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 340; i += 256) {
        const int x = left + i % 34, y = top + i / 34;
        const bool inside = x >= 0 && y >= 0 && x < width && y < height;
        tile[i / 34][i % 34] = inside ? in[y * width + x] : 0.0f;
    }
    __syncthreads();
    const int x = threadIdx.x + 1, y = threadIdx.y + 1;
    if (left + x >= width || top + y >= height) return;
    const float around = tile[y][x - 1] + tile[y][x + 1] + tile[y - 1][x] + tile[y + 1][x];
    out[(top + y) * width + left + x] = tile[y][x] + k * (around - 4.0f * tile[y][x]);
}

// A generation of Conway's game, a byte a cell; the field's edges meet. Sides are powers of two.
extern "C" __global__ void life(const unsigned char* in, unsigned char* out, unsigned width,
                                unsigned height) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    unsigned alive = 0;
    for (unsigned j = 0; j < 3; j++)
        for (unsigned i = 0; i < 3; i++)
            if (i != 1 || j != 1)
                alive += in[((y + j - 1) & (height - 1)) * width + ((x + i - 1) & (width - 1))] & 1;
    out[y * width + x] = alive == 3 || (alive == 2 && (in[y * width + x] & 1));
}

__device__ inline void in_order(float& a, float& b) {
    const float low = fminf(a, b);
    b = fmaxf(a, b);
    a = low;
}

// The median of 3 x 3 pixels, by a bubble sort in registers.
extern "C" __global__ void median(const float* in, float* out, unsigned width, unsigned height) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x + 1 >= width || y + 1 >= height) return;
    float v[9];
#pragma unroll
    for (unsigned j = 0; j < 3; j++)
#pragma unroll
        for (unsigned i = 0; i < 3; i++) v[3 * j + i] = in[(y + j - 1) * width + x + i - 1];
#pragma unroll
    for (unsigned end = 8; end >= 4; end--)
#pragma unroll
        for (unsigned i = 0; i < end; i++) in_order(v[i], v[i + 1]);
    out[y * width + x] = v[4];
}

// A step of Floyd and Warshall: ways that pass through node k.
extern "C" __global__ void shortest(const float* from, float* to, unsigned k, unsigned n) {
    const unsigned j = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    to[i * n + j] = fminf(from[i * n + j], from[i * n + k] + from[k * n + j]);
}
