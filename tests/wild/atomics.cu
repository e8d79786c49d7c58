// Atomic operations of every kind, on global and shared memory, in every scope.
//@ sm_75 sm_90 debug
extern "C" __global__ void integers(int *s, unsigned *u, unsigned long long *w) {
    int t = threadIdx.x;
    atomicAdd(&s[0], t), atomicSub(&s[1], t), atomicMin(&s[2], 5 - t), atomicMax(&s[3], t - 5);
    atomicAnd(&s[4], ~(1 << t)), atomicOr(&s[5], 1 << t), atomicXor(&s[6], t * t);
    atomicInc(&u[0], 9), atomicDec(&u[1], 9), atomicMin(&u[2], 100u - t), atomicMax(&u[3], 100u + t);
    atomicAdd(&w[0], 1ull << 33), atomicMax(&w[1], (unsigned long long)t << 40), atomicAnd(&w[2], ~(1ull << t));
    atomicAdd_system(&u[4], 1u), atomicAdd_block(&u[5], 2u);
}
extern "C" __global__ void swaps(unsigned *out, double *d, float *f) {
    __shared__ unsigned lock, sum;
    if (threadIdx.x == 0) lock = 0, sum = 0;
    __syncthreads();
    bool done = false;
    while (!done)
        if (atomicCAS(&lock, 0u, 1u) == 0) {
            volatile unsigned *s = &sum;
            *s = *s + threadIdx.x;
            __threadfence_block();
            atomicExch(&lock, 0u);
            done = true;
        }
    __syncthreads();
    unsigned long long old = *(unsigned long long *)d, seen;
    do {
        seen = old;
        old = atomicCAS((unsigned long long *)d, seen, __double_as_longlong(__longlong_as_double(seen) + 0.5));
    } while (old != seen);
    atomicAdd(d + 1, 0.25), atomicAdd(f, 0.125f);
    if (threadIdx.x == 0) *out = sum;
}
//# from functools import reduce
// run: integers block=32
//= inout: s32 [0, 0, 0, 0, -1, 0, 0] -> [496, -496, -26, 26, 0, -1, reduce(lambda a, b: a ^ b, [t * t for t in range(32)])]
// inout: s32 0 0 0 0 -1 0 0 -> 496 -496 -26 26 0 -1 896
//= inout: u32 [0, 0, 1000, 0, 0, 0] -> [32 % 10, (0 - 32) % 10, 69, 131, 32, 64]
// inout: u32 0 0 1000 0 0 0 -> 2 8 69 131 32 64
//= inout: u64 [0, 0, 2**64 - 1] -> [32 << 33, 31 << 40, 2**64 - 2**32]
// inout: u64 0 0 18446744073709551615 -> 274877906944 34084860461056 18446744069414584320
// The plain read of `d` is what a compare-and-swap expects; unoptimised, that is in a function of its own.
// run: swaps block=48
//= out: u32 [48 * 47 // 2]
// out: u32 1128
//= inout: f64 [1.0, 2.0] -> [25.0, 14.0]
// inout: f64 1.0 2.0 -> 25.0 14.0
//= inout: f32 [0.0] -> [6.0]
// inout: f32 0.0 -> 6.0
