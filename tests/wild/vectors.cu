// Atomic additions of float2 and float4, which have instructions of their own from sm_90 on, and of pairs of halves.
//@ sm_90
#include <cuda_fp16.h>
#include <cuda_bf16.h>

// Each thread adds to the centre of its particle's cell: 8 cells, the sums are exact.
extern "C" __global__ void centres(const float4 *particles, float4 *sums, float2 *extents) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    float4 particle = particles[t];
    atomicAdd(&sums[t % 8], particle);
    atomicAdd(&extents[t % 4], make_float2(particle.x, particle.w));
}
// run: centres grid=2 block=32
//# p = [[t, 2 * t, 0.25 * t, 1] for t in range(64)]
//= in: f32 sum(p, [])
// in: f32 @1
//= inout: f32 [0] * 32 -> sum([[sum(p[t][i] for t in range(c, 64, 8)) for i in range(4)] for c in range(8)], [])
// inout: f32 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -> 224.0 448.0 56.0 8.0 232.0 464.0 58.0 8.0 240.0 480.0 60.0 8.0 248.0 496.0 62.0 8.0 256.0 512.0 64.0 8.0 264.0 528.0 66.0 8.0 272.0 544.0 68.0 8.0 280.0 560.0 70.0 8.0
//= inout: f32 [1] * 8 -> sum([[1 + sum(p[t][i] for t in range(c, 64, 4)) for i in (0, 3)] for c in range(4)], [])
// inout: f32 1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0 -> 481.0 17.0 497.0 17.0 513.0 17.0 529.0 17.0

// The old value of each component is one that some thread left there.
extern "C" __global__ void tickets(float2 *counter, unsigned *seen) {
    float2 old = atomicAdd(counter, make_float2(1.0f, 2.0f));
    atomicAdd(&seen[(unsigned)old.x], 1u);
    atomicAdd(&seen[32 + (unsigned)old.y / 2], 1u);
}
// run: tickets block=32
//= inout: f32 [0, 0] -> [32, 64]
// inout: f32 0.0 0.0 -> 32.0 64.0
//= inout: u32 [0] * 64 -> [1] * 64
// inout: u32 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -> 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1

// Pairs of f16 and bf16.
extern "C" __global__ void pairs(__half2 *halves, __nv_bfloat162 *brains) {
    atomicAdd(halves, __floats2half2_rn(threadIdx.x, 0.5f));
    atomicAdd(brains, __floats2bfloat162_rn(1.0f, -1.0f));
}
// run: pairs block=32
//# import struct
//# half = lambda x: struct.unpack('<H', struct.pack('<e', x))[0]
//# brain = lambda x: struct.unpack('<I', struct.pack('<f', x))[0] >> 16
//= inout: u16 [half(0), half(1)] -> [half(sum(range(32))), half(17)]
// inout: u16 0 15360 -> 24512 19520
//= inout: u16 [0, 0] -> [brain(32), brain(-32)]
// inout: u16 0 0 -> 16896 49664
