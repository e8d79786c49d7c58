// Programs as courses have them, for the counts of nvcc's PTX (nvcc_h100.json):
//     nvcc -ptx -arch=sm_90 -O3 -std=c++17 -o nvcc.ptx nvcc.cu
// `a` and `b` have 1 << 20 words, which begin with small numbers; `c` is what is written.

#include <cuda_fp16.h>

// Products of tiles.

extern "C" __global__ void sgemm(const float* a, const float* b, float* c, int n) {
    __shared__ float s[32][32], t[32][32];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 32) {
        s[y][x] = a[row * n + k + x];
        t[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 32; ++i) sum += s[y][i] * t[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// The same with tiles of 16, and a guard.
extern "C" __global__ void sgemm_guarded(const float* a, const float* b, float* c, int n) {
    __shared__ float s[16][16], t[16][17];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < (n + 15) / 16; ++k) {
        s[y][x] = row < n && k * 16 + x < n ? a[row * n + k * 16 + x] : 0.0f;
        t[y][x] = k * 16 + y < n && column < n ? b[(k * 16 + y) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += s[y][i] * t[i][x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

// A second tile that is transposed: both are read along rows.
extern "C" __global__ void sgemm_transposed(const float* a, const float* b, float* c, int n) {
    __shared__ float s[16][16], t[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        s[y][x] = a[row * n + k + x];
        t[x][y] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += s[y][i] * t[x][i];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// Four rows a thread.
extern "C" __global__ void sgemm_rows(const float* a, const float* b, float* c, int n) {
    __shared__ float s[32][32], t[32][32];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32, column = blockIdx.x * 32 + x;
    float sums[4] = {};
    for (int k = 0; k < n; k += 32) {
        for (int j = 0; j < 4; ++j) {
            s[y + 8 * j][x] = a[(row + y + 8 * j) * n + k + x];
            t[y + 8 * j][x] = b[(k + y + 8 * j) * n + column];
        }
        __syncthreads();
        for (int i = 0; i < 32; ++i)
            for (int j = 0; j < 4; ++j) sums[j] += s[y + 8 * j][i] * t[i][x];
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j) c[(row + y + 8 * j) * n + column] = sums[j];
}

// float4 from global memory, and 4 x 4 elements a thread.
extern "C" __global__ void sgemm_float4(const float4* a, const float4* b, float* c, int n) {
    __shared__ float s[16][64], t[16][64];
    int id = threadIdx.x, x = id % 16, y = id / 16;
    float sums[4][4] = {};
    for (int k = 0; k < n; k += 16) {
        int row = id / 4, part = id % 4;
        float4 from = a[((blockIdx.y * 64 + row) * n + k) / 4 + part];
        s[part * 4 + 0][row] = from.x;
        s[part * 4 + 1][row] = from.y;
        s[part * 4 + 2][row] = from.z;
        s[part * 4 + 3][row] = from.w;
        *reinterpret_cast<float4*>(&t[y][4 * x]) = b[((k + y) * n + blockIdx.x * 64) / 4 + x];
        __syncthreads();
        for (int i = 0; i < 16; ++i)
            for (int j = 0; j < 4; ++j)
                for (int l = 0; l < 4; ++l) sums[j][l] += s[i][4 * y + j] * t[i][4 * x + l];
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j)
        for (int l = 0; l < 4; ++l) c[(blockIdx.y * 64 + 4 * y + j) * n + blockIdx.x * 64 + 4 * x + l] = sums[j][l];
}

extern "C" __global__ void dgemm(const double* a, const double* b, double* c, int n) {
    __shared__ double s[16][16], t[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    double sum = 0;
    for (int k = 0; k < n; k += 16) {
        s[y][x] = a[row * n + k + x];
        t[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += s[y][i] * t[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void hgemm(const __half2* a, const __half2* b, __half2* c, int n) {
    __shared__ __half2 s[16][16], t[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    __half2 sum = __float2half2_rn(0.0f);
    for (int k = 0; k < n; k += 16) {
        s[y][x] = a[row * n + k + x];
        t[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum = __hfma2(s[y][i], t[i][x], sum);
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// Histograms.

extern "C" __global__ void histogram_global(const unsigned* a, unsigned* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&c[a[i] % 256], 1u);
}

extern "C" __global__ void histogram_shared(const unsigned* a, unsigned* c, int n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&bins[a[i] % 256], 1u);
    __syncthreads();
    atomicAdd(&c[threadIdx.x], bins[threadIdx.x]);
}

// A bin for each thread, which nobody else counts in.
extern "C" __global__ void histogram_own(const unsigned* a, unsigned* c, int n) {
    __shared__ unsigned bins[128][8];
    for (int j = 0; j < 8; ++j) bins[threadIdx.x][j] = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) bins[threadIdx.x][a[i] % 8]++;
    unsigned sum = 0;
    for (int j = 0; j < 8; ++j) sum += bins[threadIdx.x][j] * (j + 1);
    c[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Stencils.

extern "C" __global__ void stencil_1d(const float* a, float* c, int n) {
    __shared__ float s[256 + 8];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x + 4] = a[i + 4];
    if (threadIdx.x < 4) {
        s[threadIdx.x] = a[i];
        s[threadIdx.x + 260] = a[i + 260];
    }
    __syncthreads();
    float sum = 0;
    for (int j = -4; j <= 4; ++j) sum += s[threadIdx.x + 4 + j];
    c[i] = sum;
}

extern "C" __global__ void stencil_2d(const float* a, float* c, int n) {
    int x = blockIdx.x * 32 + threadIdx.x + 1, y = blockIdx.y * 8 + threadIdx.y + 1;
    if (x < n - 1 && y < n - 1)
        c[y * n + x] = 0.2f * (a[y * n + x] + a[y * n + x - 1] + a[y * n + x + 1] + a[(y - 1) * n + x] + a[(y + 1) * n + x]);
}

extern "C" __global__ void stencil_2d_shared(const float* a, float* c, int n) {
    __shared__ float s[10][34];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x, row = blockIdx.y * 8 + y;
    for (int j = y; j < 10; j += 8)
        for (int i = x; i < 34; i += 32) s[j][i] = a[(blockIdx.y * 8 + j) * n + blockIdx.x * 32 + i];
    __syncthreads();
    c[row * n + column] = s[y + 1][x + 1] + s[y][x + 1] + s[y + 2][x + 1] + s[y + 1][x] + s[y + 1][x + 2];
}

__constant__ float filter[49];

extern "C" __global__ void convolution(const float* a, float* c, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int j = 0; j < 7; ++j)
        for (int i = 0; i < 7; ++i) sum += filter[7 * j + i] * a[(y + j) * n + x + i];
    c[y * n + x] = sum;
}

// Scans and reductions.

extern "C" __global__ void scan_steps(const float* a, float* c) {
    __shared__ float s[2][256];
    int t = threadIdx.x, from = 0;
    s[0][t] = a[blockIdx.x * 256 + t];
    for (int step = 1; step < 256; step *= 2) {
        __syncthreads();
        s[1 - from][t] = t >= step ? s[from][t] + s[from][t - step] : s[from][t];
        from = 1 - from;
    }
    __syncthreads();
    c[blockIdx.x * 256 + t] = s[from][t];
}

extern "C" __global__ void scan_tree(const float* a, float* c) {
    __shared__ float s[512];
    int t = threadIdx.x, step = 1;
    s[2 * t] = a[blockIdx.x * 512 + 2 * t];
    s[2 * t + 1] = a[blockIdx.x * 512 + 2 * t + 1];
    for (int d = 256; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
        step *= 2;
    }
    if (t == 0) s[511] = 0;
    for (int d = 1; d < 512; d *= 2) {
        step /= 2;
        __syncthreads();
        if (t < d) {
            float left = s[step * (2 * t + 1) - 1];
            s[step * (2 * t + 1) - 1] = s[step * (2 * t + 2) - 1];
            s[step * (2 * t + 2) - 1] += left;
        }
    }
    __syncthreads();
    c[blockIdx.x * 512 + 2 * t] = s[2 * t];
    c[blockIdx.x * 512 + 2 * t + 1] = s[2 * t + 1];
}

extern "C" __global__ void sum_atomic(const float* a, float* c, int n) {
    __shared__ float s[256];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) sum += a[i];
    s[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(c, s[0]);
}

extern "C" __global__ void sum_shuffle(const float* a, float* c, int n) {
    __shared__ float s[8];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) sum += a[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0;
        for (int j = 0; j < 8; ++j) all += s[j];
        atomicAdd(c, all);
    }
}

// Each thread sums what lies next to each other.
extern "C" __global__ void sum_own(const float* a, float* c) {
    __shared__ float s[1024];
    for (int j = 0; j < 8; ++j) s[threadIdx.x + 128 * j] = a[blockIdx.x * 1024 + threadIdx.x + 128 * j];
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < 8; ++j) sum += s[8 * threadIdx.x + j];
    c[blockIdx.x * 128 + threadIdx.x] = sum;
}

extern "C" __global__ void atomics(const unsigned* a, unsigned* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = a[i];
    atomicMax(&c[0], value);
    atomicAdd(&c[1], value);
    atomicOr(&c[2], value);
    atomicMin(&c[64 + i % 32], value);
    atomicExch(&c[128 + i % 64], value);
    atomicXor(&c[256 + i], value);
    if (value & 1) c[4096 + atomicAdd(&c[3], 1u)] = i;
}

extern "C" __global__ void float_atomics(const float* a, float* c) {
    __shared__ float s[32];
    if (threadIdx.x < 32) s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[threadIdx.x % 32], a[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&c[threadIdx.x], s[threadIdx.x]);
}

// Structures.

struct Particle { float x, y, z, mass; };
struct Point { float x, y, z; };

extern "C" __global__ void particles(const Particle* a, Particle* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Particle one = a[i];
    one.x += one.y * one.mass;
    c[i] = one;
}

extern "C" __global__ void points(const Point* a, float* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i].x + a[i].y * a[i].z;
}

extern "C" __global__ void nbody(const float4* a, float4* c, int n) {
    __shared__ float4 s[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 own = a[i];
    float x = 0, y = 0, z = 0;
    for (int first = 0; first < n; first += 128) {
        s[threadIdx.x] = a[first + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 128; ++j) {
            float dx = s[j].x - own.x, dy = s[j].y - own.y, dz = s[j].z - own.z;
            float d = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float f = s[j].w * d * d * d;
            x += f * dx;
            y += f * dy;
            z += f * dz;
        }
        __syncthreads();
    }
    c[i] = make_float4(x, y, z, 0);
}

extern "C" __global__ void nbody_structs(const Particle* a, Particle* c, int n) {
    __shared__ Particle s[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    Particle own = a[i];
    float x = 0, y = 0;
    for (int first = 0; first < n; first += 128) {
        s[threadIdx.x] = a[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 128; ++j) {
            float dx = s[j].x - own.x, dy = s[j].y - own.y;
            float f = s[j].mass * rsqrtf(dx * dx + dy * dy + 0.01f);
            x += f * dx;
            y += f * dy;
        }
        __syncthreads();
    }
    c[i] = Particle{x, y, 0, own.mass};
}

// Others.

extern "C" __global__ void transpose(const float* a, float* c, int n) {
    __shared__ float s[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    for (int j = 0; j < 32; j += 8) s[y + j][x] = a[(blockIdx.y * 32 + y + j) * n + blockIdx.x * 32 + x];
    __syncthreads();
    for (int j = 0; j < 32; j += 8) c[(blockIdx.x * 32 + y + j) * n + blockIdx.y * 32 + x] = s[x][y + j];
}

extern "C" __global__ void strided(const float* a, float* c, int stride) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
    c[i] = a[i] * 2 + a[i + 1];
}

extern "C" __global__ void four_each(const float* a, float* c) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int j = 0; j < 4; ++j) c[i + j] = a[i + j] + 1;
}

extern "C" __global__ void saxpy_half2(const __half2* a, __half2* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = __hfma2(a[i], __float2half2_rn(2.0f), c[i]);
}

extern "C" __global__ void matrix_vector(const float4* a, const float4* b, float* c, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int i = lane; i < n / 4; i += 32) {
        float4 one = a[row * (n / 4) + i], other = b[i];
        sum += one.x * other.x + one.y * other.y + one.z * other.z + one.w * other.w;
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) c[row] = sum;
}

extern "C" __global__ void sort_block(const float* a, float* c) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 256 + t];
    for (int size = 2; size <= 256; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            int other = t ^ step;
            if (other > t && (s[t] > s[other]) == ((t & size) == 0)) {
                float held = s[t];
                s[t] = s[other];
                s[other] = held;
            }
        }
    __syncthreads();
    c[blockIdx.x * 256 + t] = s[t];
}

extern "C" __global__ void local_array(const unsigned* a, unsigned* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned counts[16];
    for (int j = 0; j < 16; ++j) counts[j] = j;
    for (int j = 0; j < 32; ++j) counts[a[32 * i + j] % 16] += j;
    unsigned sum = 0;
    for (int j = 0; j < 16; ++j) sum = sum * 31 + counts[j];
    c[i] = sum;
}

extern "C" __global__ void dynamic(const float* a, float* c) {
    extern __shared__ float s[];
    for (int j = 0; j < 4; ++j) s[4 * threadIdx.x + j] = a[blockIdx.x * 512 + 4 * threadIdx.x + j];
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < 4; ++j) sum += s[4 * (127 - threadIdx.x) + j];
    c[blockIdx.x * 128 + threadIdx.x] = sum;
}

// Coefficients of a polynomial in shared memory: the same words for all threads.
extern "C" __global__ void polynomial(const float* a, const float* b, float* c) {
    __shared__ float s[8];
    if (threadIdx.x < 8) s[threadIdx.x] = b[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i], sum = 0;
    for (int j = 7; j >= 0; --j) sum = sum * x + s[j];
    c[i] = sum;
}

// Rows of matrices of doubles, in pairs.
extern "C" __global__ void complex_product(const double2* a, const double2* b, double2* c) {
    __shared__ double2 s[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    s[threadIdx.x] = b[i];
    __syncthreads();
    double2 one = a[i], other = s[127 - threadIdx.x];
    c[i] = make_double2(one.x * other.x - one.y * other.y, one.x * other.y + one.y * other.x);
}
