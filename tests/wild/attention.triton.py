"""Attention as Triton's users write it: keys in tiles, sums and greatest scores kept for each row of queries.

//@ sm_80 sm_90
"""
import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, sums, out, keys, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Weights are powers of two of the scores. What they are divided by is stored beside the weighted values."""
    rows, across = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    queries = tl.load(q + rows[:, None] * D + across[None, :])
    greatest = tl.full((BM,), -float("inf"), tl.float32)
    divisor = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for start in range(0, keys, BN):
        here = start + tl.arange(0, BN)
        scores = tl.dot(queries, tl.load(k + here[None, :] * D + across[:, None]))
        highest = tl.maximum(greatest, tl.max(scores, 1))
        weights = tl.exp2(scores - highest[:, None])
        shrink = tl.exp2(greatest - highest)
        divisor = divisor * shrink + tl.sum(weights, 1)
        values = tl.load(v + here[:, None] * D + across[None, :])
        total = tl.dot(weights.to(tl.float16), values, total * shrink[:, None])
        greatest = highest
    tl.store(sums + rows, divisor)
    tl.store(out + rows[:, None] * D + across[None, :], total)


KERNELS = {attention: {"q": "*fp16", "k": "*fp16", "v": "*fp16", "sums": "*fp32", "out": "*fp32", "keys": "i32"}}
CONSTANTS = {attention: {"D": 16, "BM": 64, "BN": 16}}

"""
//# import struct
//# half = lambda values: [struct.unpack("<H", struct.pack("<e", v))[0] for v in values]
//# # Scores are from -9 to 9, so weights are powers of two that add up exactly.
//# q = [[(i + j) % 4 - 1 if (3 * i + j) % 5 == 0 else 0 for j in range(16)] for i in range(64)]
//# k = [[(5 * i + j) % 3 - 1 for j in range(16)] for i in range(48)]
//# v = [[(7 * i + 3 * j) % 17 - 8 for j in range(16)] for i in range(48)]
//# scores = [[sum(x * y for x, y in zip(a, b)) for b in k] for a in q]
//# weights = [[2.0 ** (s - max(row)) for s in row] for row in scores]
//# flat = lambda rows: [x for row in rows for x in row]
// run: attention block=128 shared=32768
//= in: u16 half(flat(q))
// in: u16 @1
//= in: u16 half(flat(k))
// in: u16 @2
//= in: u16 half(flat(v))
// in: u16 @3
//= out: f32 [sum(row) for row in weights]
// out: f32 28.0 24.5 24.5 34.0 24.5 24.5 34.0 24.5 34.0 34.0 24.5 34.0 34.0 24.5 34.0 20.125 24.5 34.0 24.5 24.5 28.0 24.5 24.5 34.0 24.5 24.5 34.0 24.5 34.0 34.0 24.5 34.0 34.0 24.5 34.0 20.125 24.5 34.0 24.5 24.5 28.0 24.5 24.5 34.0 24.5 24.5 34.0 24.5 34.0 34.0 24.5 34.0 34.0 24.5 34.0 20.125 24.5 34.0 24.5 24.5 28.0 24.5 24.5 34.0
//= out: f32 [sum(w * v[i][j] for i, w in enumerate(row)) for row in weights for j in range(16)]
// out: f32 @4
// arg: u32 48
// arg: u64 0
// arg: u64 0
"""
