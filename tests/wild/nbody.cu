// One step of n-body with fast mathematics, results to two digits; tiles in shared memory.
//@ sm_75 sm_90 fast
extern "C" __global__ void nbody(const float4 *bodies, int n, int *out) {
    __shared__ float4 tile[16];
    float4 me = bodies[threadIdx.x];
    float ax = 0, ay = 0, az = 0;
    for (int base = 0; base < n; base += 16) {
        tile[threadIdx.x] = bodies[base + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < 16; j++) {
            float x = tile[j].x - me.x, y = tile[j].y - me.y, z = tile[j].z - me.z;
            float inverse = rsqrtf(x * x + y * y + z * z + 0.25f);
            float s = tile[j].w * inverse * inverse * inverse;
            ax += x * s, ay += y * s, az += z * s;
        }
        __syncthreads();
    }
    out[3 * threadIdx.x] = __float2int_rn(ax * 1e2f), out[3 * threadIdx.x + 1] = __float2int_rn(ay * 1e2f), out[3 * threadIdx.x + 2] = __float2int_rn(az * 1e2f);
}
//# b = [[i % 5, i * 3 % 7, i * i % 11, 1 + i % 3] for i in range(32)]
//# def force(m):
//#     t = [0.0] * 3
//#     for o in b:
//#         d = [o[k] - m[k] for k in range(3)]
//#         s = o[3] * (sum(v * v for v in d) + 0.25) ** -1.5
//#         for k in range(3): t[k] += d[k] * s
//#     return [round(v * 1e2) for v in t]
// run: nbody block=16
//= in: f32 sum(b, [])
// in: f32 0.0 0.0 0.0 1.0 1.0 3.0 1.0 2.0 2.0 6.0 4.0 3.0 3.0 2.0 9.0 1.0 4.0 5.0 5.0 2.0 0.0 1.0 3.0 3.0 1.0 4.0 3.0 1.0 2.0 0.0 5.0 2.0 3.0 3.0 9.0 3.0 4.0 6.0 4.0 1.0 0.0 2.0 1.0 2.0 1.0 5.0 0.0 3.0 2.0 1.0 1.0 1.0 3.0 4.0 4.0 2.0 4.0 0.0 9.0 3.0 0.0 3.0 5.0 1.0 1.0 6.0 3.0 2.0 2.0 2.0 3.0 3.0 3.0 5.0 5.0 1.0 4.0 1.0 9.0 2.0 0.0 4.0 4.0 3.0 1.0 0.0 1.0 1.0 2.0 3.0 0.0 2.0 3.0 6.0 1.0 3.0 4.0 2.0 4.0 1.0 0.0 5.0 9.0 2.0 1.0 1.0 5.0 3.0 2.0 4.0 3.0 1.0 3.0 0.0 3.0 2.0 4.0 3.0 5.0 3.0 0.0 6.0 9.0 1.0 1.0 2.0 4.0 2.0
// arg: s32 32
//= out: s32 sum([force(b[i]) for i in range(16)], [])
// out: s32 102 143 173 63 -38 144 -7 -242 -80 53 135 -121 -250 -143 -133 225 182 54 115 -97 110 -88 275 -111 -10 -118 -125 -205 -235 42 212 79 172 74 -121 186 -110 148 190 -111 -41 22 -54 233 -86 212 4 -234
