// What nvcc (CUDA 13, -ptx -arch=sm_90 -lineinfo) makes of this file is nvcc.ptx.
__constant__ float coefficients[8] = {1.0f, 2.0f, 0.5f, -3.0f};
__constant__ const char* names[2] = {"one", "two"};
__device__ int counter = 7;
__device__ double table[3][2] = {{1.0, 2.0}, {3.0}};
__device__ int* pointer_to_counter = &counter;
__device__ __managed__ unsigned managed_value = 3;
struct Pair { int a; double b; };
struct Big { float v[12]; };

extern "C" __global__ void transpose_padded(const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * cols + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < rows && y + j < cols) out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void __launch_bounds__(256, 2) reduce(const float4* in, float* out, unsigned n) {
    extern __shared__ float partial[];
    float sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 v = in[i];
        sum += v.x + v.y + v.z + v.w;
    }
    for (int s = 16; s; s >>= 1) sum += __shfl_down_sync(0xffffffff, sum, s);
    if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, partial[0]);
    unsigned ballot = __ballot_sync(0xffffffff, sum > 1.0f);
    if (__all_sync(0xffffffff, sum > 0)) atomicMax((int*)out + 1, __popc(ballot));
    atomicCAS((unsigned*)out + 2, 1u, ballot);
    __threadfence();
}

__device__ __noinline__ double helper(Pair p, Big big, int k) { return p.a * p.b + big.v[k]; }
__device__ __noinline__ int twice(int x) { return x * 2 + 1; }
__device__ __noinline__ int thrice(int x) { return x * 3 + 1; }

extern "C" __global__ void calls(Pair* pairs, Big big, double* out, int which, int* ints) {
    int i = threadIdx.x;
    out[i] = helper(pairs[i], big, which);
    int (*f)(int) = which ? twice : thrice;
    ints[i] = f(i);
    int local[40];
    for (int k = 0; k < 40; k++) local[k] = ints[k] ^ i;
    int s = 0;
    for (int k = 0; k < which; k++) s += local[(k * 7 + i) % 40];
    ints[i + 1] = s;
    if (which == 77) asm volatile("trap;");
}

extern "C" __global__ void many(float* f, double* d, int* n, long long* l, unsigned char* b, int k) {
    int i = threadIdx.x;
    f[i] = __sinf(f[i]) + sqrtf(f[i]) / fmaxf(f[i + 1], 2.0f) + rsqrtf(f[i]) + __fdividef(f[i], 3.0f) + coefficients[k];
    d[i] = sqrt(d[i]) / d[i + 1] + fma(d[i], d[i], 1.0) + (double)n[i] + floor(d[i]) + fabs(d[i]) + table[k][1];
    n[i] = __brev(n[i]) + __clz(n[i]) + __popc(n[i]) + n[i] / 7 + n[i] % (k + 1) + __ffs(n[i]) + __byte_perm(n[i], k, 0x1234) + (int)f[i] + min(n[i], k) + abs(n[i]) + __funnelshift_l(n[i], k, 3) + __dp4a(n[i], k, 3) + __vadd4(n[i], k) * 0;
    l[i] = l[i] * k + __mulhi(n[i], k) + __mul64hi(l[i], 3) + (l[i] >> k) + counter + *pointer_to_counter + __popcll(l[i]) + (long long)names[k & 1] + clock64();
    b[i] = b[i] * 3 + (b[i + 1] > 7 ? 1 : 2);
    switch (k) { case 0: f[i] = 1; break; case 1: n[i] = 2; break; case 2: d[i] = 3; break; case 3: l[i] = 9; break; case 4: b[i] = 1; break; case 5: f[i+9] = 9; break; default: break; }
    int pred = __syncthreads_count(k > i); n[i + 5] = pred;
    __nanosleep(20);
    n[i + 6] = __match_any_sync(0xffffffff, k) + __activemask() + managed_value;
    f[i + 100] = __ldcg(f + i) + __ldcs(f + i + 1) + __ldg(f + i + 2);
}
