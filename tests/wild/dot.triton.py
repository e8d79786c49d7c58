"""Products of matrices as Triton makes them: `mma` up to sm_89, `wgmma` for sm_90.

//@ sm_80 sm_90
"""
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """One tile of C = A * B for each program; rows of A have K elements, of B and C they have N."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + (k + depth)[None, :])
        y = tl.load(b + (k + depth)[:, None] * N + columns[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def halves(a, b, c, N, K):
    product(a, b, c, N, K, 64, 16, 32)


@triton.jit
def brain_floats(a, b, c, N, K):
    product(a, b, c, N, K, 64, 16, 16)


@triton.jit
def singles(a, b, c, N, K):
    product(a, b, c, N, K, 64, 16, 16)


@triton.jit
def bytes_of_floats(a, b, c, N, K):
    product(a, b, c, N, K, 64, 16, 32)


@triton.jit
def chained(a, b, c, out):
    """(A * B) * C, where A * B never leaves the registers; C is stored by columns."""
    i, j, k = tl.arange(0, 64), tl.arange(0, 32), tl.arange(0, 16)
    x = tl.load(a + i[:, None] * 16 + k[None, :])
    y = tl.load(b + k[:, None] * 32 + j[None, :])
    z = tl.load(c + k[None, :] * 32 + j[:, None])
    between = tl.dot(x, y).to(tl.float16)
    tl.store(out + i[:, None] * 16 + k[None, :], tl.dot(between, z))


def pointers(element):
    return {"a": element, "b": element, "c": "*fp32", "N": "i32", "K": "i32"}


KERNELS = {
    halves: pointers("*fp16"),
    brain_floats: pointers("*bf16"),
    singles: pointers("*fp32"),
    bytes_of_floats: pointers("*fp8e4nv"),
    chained: {"a": "*fp16", "b": "*fp16", "c": "*fp16", "out": "*fp32"},
}
VARIANTS = {bytes_of_floats: ["sm_89", "sm_90"]}

"""
//# import struct
//# small = lambda count, seed: [(i * i * seed + 3 * i) % 13 - 6 for i in range(count)]
//# half = lambda values: [struct.unpack("<H", struct.pack("<e", v))[0] for v in values]
//# brain = lambda values: [struct.unpack("<I", struct.pack("<f", v))[0] >> 16 for v in values]
//# # An e4m3 is an f16 with a bias of 7, not 15, and three bits of fraction.
//# e4m3 = lambda values: [(h >> 8 & 0x80 | ((h & 0x7fff) >> 7) - 64) if h & 0x7fff else 0 for h in half(values)]
//# def product(a, b, m, n, k): return [sum(a[i * k + l] * b[l * n + j] for l in range(k)) for i in range(m) for j in range(n)]
// run: halves block=128 shared=32768
//= in: u16 half(small(64 * 64, 5))
// in: u16 @1
//= in: u16 half(small(64 * 16, 7))
// in: u16 @2
//= out: f32 product(small(64 * 64, 5), small(64 * 16, 7), 64, 16, 64)
// out: f32 @3
// arg: u32 16
// arg: u32 64
// arg: u64 0
// arg: u64 0
// run: brain_floats grid=1,2 block=128 shared=32768
//= in: u16 brain(small(64 * 32, 3))
// in: u16 @4
//= in: u16 brain(small(32 * 32, 4))
// in: u16 @5
//= out: f32 product(small(64 * 32, 3), small(32 * 32, 4), 64, 32, 32)
// out: f32 @6
// arg: u32 32
// arg: u32 32
// arg: u64 0
// arg: u64 0
// run: singles block=128 shared=32768
//= in: f32 [v / 4 for v in small(64 * 32, 9)]
// in: f32 @7
//= in: f32 [v / 8 for v in small(32 * 16, 2)]
// in: f32 @8
//= out: f32 [v / 32 for v in product(small(64 * 32, 9), small(32 * 16, 2), 64, 16, 32)]
// out: f32 @9
// arg: u32 16
// arg: u32 32
// arg: u64 0
// arg: u64 0
// run: bytes_of_floats block=128 shared=32768
//= in: u8 e4m3(small(64 * 64, 6))
// in: u8 @10
//= in: u8 e4m3(small(64 * 16, 8))
// in: u8 @11
//= out: f32 product(small(64 * 64, 6), small(64 * 16, 8), 64, 16, 64)
// out: f32 @12
// arg: u32 16
// arg: u32 64
// arg: u64 0
// arg: u64 0
// run: chained block=128 shared=32768
//= in: u16 half(small(64 * 16, 5))
// in: u16 @13
//= in: u16 half(small(16 * 32, 7))
// in: u16 @14
//= in: u16 half([small(32 * 16, 2)[j * 16 + k] for k in range(16) for j in range(32)])
// in: u16 @15
//= out: f32 product(product(small(64 * 16, 5), small(16 * 32, 7), 64, 32, 16), small(32 * 16, 2), 64, 16, 32)
// out: f32 @16
// arg: u64 0
// arg: u64 0
"""
