// Locks that the lanes of a warp fight for, which need that each thread goes on some time; libcu++'s semaphore and latch; functions of any
// number of arguments; bit fields and integers of 128 bits.
//@ sm_75 sm_90
#include <cuda/latch>
#include <cuda/semaphore>
#include <cstdarg>
// The lock is opened behind the loop in which it is tried: where all lanes' ways meet.
extern "C" __global__ void spin(int *out) {
    __shared__ int lock, count;
    if (threadIdx.x == 0) lock = count = 0;
    __syncthreads();
    while (atomicCAS(&lock, 0, 1) != 0) { }
    __threadfence_block();
    int mine = *(volatile int *)&count;
    *(volatile int *)&count = mine + 1;
    __threadfence_block();
    atomicExch(&lock, 0);
    __syncthreads();
    out[threadIdx.x] = count * 1000 + (mine < count);
}
extern "C" __global__ void semaphore(int *out) {
    using Semaphore = cuda::binary_semaphore<cuda::thread_scope_block>;
    using Latch = cuda::latch<cuda::thread_scope_block>;
    __shared__ alignas(Semaphore) char semaphore_room[sizeof(Semaphore)];
    __shared__ alignas(Latch) char latch_room[sizeof(Latch)];
    __shared__ int count;
    Semaphore &one = *(Semaphore *)semaphore_room;
    Latch &all = *(Latch *)latch_room;
    if (threadIdx.x == 0) {
        new (&one) Semaphore(1);
        new (&all) Latch(blockDim.x);
        count = 0;
    }
    __syncthreads();
    one.acquire();
    count = count + threadIdx.x;
    one.release();
    all.arrive_and_wait();
    out[threadIdx.x] = count;
}
__device__ __noinline__ int sum(int count, ...) {
    va_list list;
    va_start(list, count);
    int s = 0;
    for (int i = 0; i < count; i++) s += i & 1 ? (int)va_arg(list, double) : va_arg(list, int);
    va_end(list);
    return s;
}
extern "C" __global__ void any_number(int *out) { out[threadIdx.x] = sum(4, (int)threadIdx.x, 2.5, 3, 4.5) * 10 + sum(1, 7) + sum(0); }
struct Fields { unsigned a : 3, b : 7, c : 22; int d : 5; long long e : 40; };
extern "C" __global__ void fields(int *out) {
    Fields x = {threadIdx.x, threadIdx.x * 3, 1234567, -(int)threadIdx.x, 1ll << 35};
    x.a++; x.b += x.a; x.c ^= x.b; x.d -= 3; x.e = x.e * 3 + x.d;
    out[threadIdx.x * 5] = x.a; out[threadIdx.x * 5 + 1] = x.b; out[threadIdx.x * 5 + 2] = x.c; out[threadIdx.x * 5 + 3] = x.d;
    out[threadIdx.x * 5 + 4] = x.e >> 8;
}
extern "C" __global__ void wide(unsigned long long *out, long long a, unsigned long long b) {
    __int128 x = (__int128)a * (long long)(b >> 1) + ((__int128)threadIdx.x << 100);
    unsigned __int128 y = (unsigned __int128)b * b + threadIdx.x;
    __int128 d = x / (a | 1), q = x >> 37;
    unsigned __int128 r = y % (b | 3), w = y << 61;
    unsigned long long *o = out + threadIdx.x * 8;
    o[0] = d; o[1] = d >> 64; o[2] = r; o[3] = r >> 64; o[4] = q; o[5] = q >> 64; o[6] = w; o[7] = w >> 64;
}
// run: spin block=12
//= out: s32 [12001] * 12
// out: s32 12001 12001 12001 12001 12001 12001 12001 12001 12001 12001 12001 12001
// run: semaphore block=20
//= out: s32 [190] * 20
// out: s32 190 190 190 190 190 190 190 190 190 190 190 190 190 190 190 190 190 190 190 190
// run: any_number block=5
//= out: s32 [(t + 2 + 3 + 4) * 10 + 7 for t in range(5)]
// out: s32 97 107 117 127 137
//# def signed(v, bits):
//#     v &= (1 << bits) - 1
//#     return v - (1 << bits) if v >> (bits - 1) else v
//# def fields(t):
//#     a, b, c, d, e = t & 7, t * 3 & 127, 1234567, signed(-t, 5), 1 << 35
//#     a = a + 1 & 7; b = b + a & 127; c ^= b; d = signed(d - 3, 5); e = signed(e * 3 + d, 40)
//#     return [a, b, c, d, e >> 8]
// run: fields block=20
//= out: s32 sum([fields(t) for t in range(20)], [])
// out: s32 1 1 1234566 -3 402653183 2 5 1234562 -4 402653183 3 9 1234574 -5 402653183 4 13 1234570 -6 402653183 5 17 1234582 -7 402653183 6 21 1234578 -8 402653183 7 25 1234590 -9 402653183 0 21 1234578 -10 402653183 1 25 1234590 -11 402653183 2 29 1234586 -12 402653183 3 33 1234598 -13 402653183 4 37 1234594 -14 402653183 5 41 1234606 -15 402653183 6 45 1234602 -16 402653183 7 49 1234614 15 402653184 0 45 1234602 14 402653184 1 49 1234614 13 402653184 2 53 1234610 12 402653184 3 57 1234622 11 402653184 4 61 1234618 10 402653184
//# A, B = -1234567890123456789, 0xfedcba9876543210
//# def cut(x, y): return (abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1)
//# def wide(t):
//#     x, y = A * (B >> 1) + (t << 100), B * B + t
//#     values = [cut(x, A | 1), y % (B | 3), x >> 37, y << 61]
//#     return sum([[v & 2**64 - 1, v >> 64 & 2**64 - 1] for v in values], [])
// run: wide block=3
//= out: u64 sum([wide(t) for t in range(3)], [])
// out: u64 9182379272246532360 0 9 0 12074709466677201246 18446744073705080245 0 11231288742399002656 9182378245449536933 0 10 0 2851337429822425438 18446744073705080246 2305843009213693952 11231288742399002656 9182377218652541507 0 11 0 12074709466677201246 18446744073705080246 4611686018427387904 11231288742399002656
// arg: s64 -1234567890123456789
// arg: u64 0xfedcba9876543210
