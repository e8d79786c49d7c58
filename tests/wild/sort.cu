// Bitonic sort in shared memory, and an odd-even sort of structs in local memory.
//@ sm_75 sm_90 debug
extern "C" __global__ void bitonic(int *data) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int k = 2; k <= 64; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int p = t ^ j;
            if (p > t) {
                bool up = (t & k) == 0;
                if ((s[t] > s[p]) == up) { int v = s[t]; s[t] = s[p]; s[p] = v; }
            }
            __syncthreads();
        }
    data[t] = s[t];
}
struct Pair { short key; signed char value; };
extern "C" __global__ void insertion(const Pair *in, Pair *out, int n) {
    Pair local[16];
    for (int i = 0; i < n; i++) local[i] = in[i];
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && local[j].key < local[j - 1].key; j--) { Pair p = local[j]; local[j] = local[j - 1]; local[j - 1] = p; }
    for (int i = 0; i < n; i++) { out[i].key = local[i].key; out[i].value = local[i].value; }
}
//# x = [(i * 37 + 11) % 64 - 30 for i in range(64)]
// run: bitonic block=64
//= inout: s32 x -> sorted(x)
// inout: s32 -19 18 -9 28 1 -26 11 -16 21 -6 31 4 -23 14 -13 24 -3 -30 7 -20 17 -10 27 0 -27 10 -17 20 -7 30 3 -24 13 -14 23 -4 33 6 -21 16 -11 26 -1 -28 9 -18 19 -8 29 2 -25 12 -15 22 -5 32 5 -22 15 -12 25 -2 -29 8 -> -30 -29 -28 -27 -26 -25 -24 -23 -22 -21 -20 -19 -18 -17 -16 -15 -14 -13 -12 -11 -10 -9 -8 -7 -6 -5 -4 -3 -2 -1 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33
//# k = [5, -3, 9, 0, -32768, 7, 2]
//# word = lambda key, value: (key & 0xffff) | (value & 0xff) << 16
//# order = sorted(range(7), key=lambda i: k[i])
// run: insertion
//= in: u32 [word(k[i], i - 3) for i in range(7)]
// in: u32 16580613 16711677 16711689 0 98304 131079 196610
//= out: u16 sum([[k[i] & 0xffff, 0xa500 | (i - 3) & 0xff] for i in order], [])
// out: u16 32768 42241 65533 42494 0 42240 2 42243 5 42493 7 42242 9 42495
// arg: s32 7
