"""Triton's operations along a row: sums, scans, sorting, histograms, transposition, random numbers.

//@ sm_75 sm_90
"""
import triton
import triton.language as tl


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    """With powers of two for e's: some weights are exact then."""
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    weight = tl.exp2(value - tl.max(value, 0))
    tl.store(out + row * columns + at, weight / tl.sum(weight, 0), mask=at < columns)


@triton.jit
def moments(x, mean, variance, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0)
    middle = tl.sum(value, 0) / columns
    off = tl.where(inside, value - middle, 0.0)
    tl.store(mean + row, middle)
    tl.store(variance + row, tl.sum(off * off, 0) / columns)


@triton.jit
def sums_so_far(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), 0))


@triton.jit
def in_order(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))


@triton.jit
def how_many(x, out, BLOCK: tl.constexpr, BINS: tl.constexpr):
    found = tl.histogram(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), BINS)
    tl.atomic_add(out + tl.arange(0, BINS), found)


@triton.jit
def turned(x, out, M, N, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + rows[:, None] * N + columns[None, :])
    tl.store(out + columns[:, None] * M + rows[None, :], tl.trans(tile))


@triton.jit
def dropped(x, out, bits, seed, BLOCK: tl.constexpr):
    """Keeps those whose random number, of Philox with ten rounds, is odd."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    random = tl.randint(seed, at)
    tl.store(bits + at, random)
    tl.store(out + at, tl.where((random & 1) == 1, tl.load(x + at) * 2, 0.0))


F32, I32 = "*fp32", "*i32"
KERNELS = {
    softmax: {"x": F32, "out": F32, "columns": "i32"},
    moments: {"x": F32, "mean": F32, "variance": F32, "columns": "i32"},
    sums_so_far: {"x": I32, "out": I32},
    in_order: {"x": F32, "out": F32},
    how_many: {"x": I32, "out": I32},
    turned: {"x": F32, "out": F32, "M": "i32", "N": "i32"},
    dropped: {"x": F32, "out": F32, "bits": I32, "seed": "i32"},
}
CONSTANTS = {
    softmax: {"BLOCK": 64},
    moments: {"BLOCK": 128},
    sums_so_far: {"BLOCK": 256},
    in_order: {"BLOCK": 128},
    how_many: {"BLOCK": 256, "BINS": 16},
    turned: {"BLOCK": 16},
    dropped: {"BLOCK": 128},
}

"""
//# # Each row's weights are 1, 1/2, 1/4, ... and the last of them twice, in some order: they add up to 2.
//# logits = [[r - min((i + 7 * r) % 20, 18) for i in range(20)] for r in range(3)]
// run: softmax grid=3 block=128 shared=1024
//= in: f32 [x for row in logits for x in row]
// in: f32 0.0 -1.0 -2.0 -3.0 -4.0 -5.0 -6.0 -7.0 -8.0 -9.0 -10.0 -11.0 -12.0 -13.0 -14.0 -15.0 -16.0 -17.0 -18.0 -18.0 -6.0 -7.0 -8.0 -9.0 -10.0 -11.0 -12.0 -13.0 -14.0 -15.0 -16.0 -17.0 -17.0 1.0 0.0 -1.0 -2.0 -3.0 -4.0 -5.0 -12.0 -13.0 -14.0 -15.0 -16.0 -16.0 2.0 1.0 0.0 -1.0 -2.0 -3.0 -4.0 -5.0 -6.0 -7.0 -8.0 -9.0 -10.0 -11.0
//= out: f32 [2.0 ** x / sum(2.0 ** y for y in row) for row in logits for x in row]
// out: f32 0.5 0.25 0.125 0.0625 0.03125 0.015625 0.0078125 0.00390625 0.001953125 0.0009765625 0.00048828125 0.000244140625 0.0001220703125 6.103515625e-05 3.0517578125e-05 1.52587890625e-05 7.62939453125e-06 3.814697265625e-06 1.9073486328125e-06 1.9073486328125e-06 0.00390625 0.001953125 0.0009765625 0.00048828125 0.000244140625 0.0001220703125 6.103515625e-05 3.0517578125e-05 1.52587890625e-05 7.62939453125e-06 3.814697265625e-06 1.9073486328125e-06 1.9073486328125e-06 0.5 0.25 0.125 0.0625 0.03125 0.015625 0.0078125 3.0517578125e-05 1.52587890625e-05 7.62939453125e-06 3.814697265625e-06 1.9073486328125e-06 1.9073486328125e-06 0.5 0.25 0.125 0.0625 0.03125 0.015625 0.0078125 0.00390625 0.001953125 0.0009765625 0.00048828125 0.000244140625 0.0001220703125 6.103515625e-05
// arg: u32 20
// arg: u64 0
// arg: u64 0
//# samples = [[(i * 5 + i * i // 3) % (7 + r) for i in range(64)] for r in range(2)]
//# samples = [[x - y for x, y in zip(row, row[::-1])] for row in samples]
// run: moments grid=2 block=128 shared=1024
//= in: f32 [2 * x + 5 for row in samples for x in row]
// in: f32 5.0 11.0 3.0 9.0 1.0 7.0 -1.0 5.0 11.0 3.0 9.0 1.0 7.0 -1.0 5.0 11.0 3.0 9.0 1.0 7.0 -1.0 5.0 11.0 3.0 9.0 1.0 7.0 -1.0 5.0 11.0 3.0 9.0 1.0 7.0 -1.0 5.0 11.0 3.0 9.0 1.0 7.0 -1.0 5.0 11.0 3.0 9.0 1.0 7.0 -1.0 5.0 11.0 3.0 9.0 1.0 7.0 -1.0 5.0 11.0 3.0 9.0 1.0 7.0 -1.0 5.0 -7.0 1.0 9.0 1.0 -7.0 1.0 9.0 1.0 9.0 1.0 9.0 17.0 9.0 1.0 9.0 17.0 9.0 1.0 9.0 17.0 -7.0 1.0 9.0 1.0 -7.0 1.0 9.0 1.0 -7.0 1.0 9.0 1.0 9.0 1.0 9.0 17.0 9.0 1.0 9.0 17.0 9.0 1.0 9.0 17.0 -7.0 1.0 9.0 1.0 -7.0 1.0 9.0 1.0 -7.0 1.0 9.0 1.0 9.0 1.0 9.0 17.0 9.0 1.0 9.0 17.0
//= out: f32 [5.0 for row in samples]
// out: f32 5.0 5.0
//= out: f32 [4 * sum(x * x for x in row) / 64 for row in samples]
// out: f32 15.75 48.0
// arg: u32 64
// arg: u64 0
// arg: u64 0
//# numbers = [(i * 7919 + i * i) % 401 - 200 for i in range(256)]
// run: sums_so_far block=128 shared=2048
//= in: s32 numbers
// in: s32 @1
//= out: s32 [sum(numbers[:i + 1]) for i in range(256)]
// out: s32 @2
// arg: u64 0
// arg: u64 0
// run: in_order block=128 shared=2048
//= in: f32 [x / 8 for x in numbers[:128]]
// in: f32 -25.0 12.625 0.375 -11.625 -23.375 15.25 4.0 -7.0 -17.75 21.875 11.625 1.625 -8.125 -17.625 23.25 14.25 5.5 -3.0 -11.25 -19.25 23.125 15.625 8.375 1.375 -5.375 -11.875 -18.125 -24.125 20.25 14.75 9.5 4.5 -0.25 -4.75 -9.0 -13.0 -16.75 -20.25 -23.5 23.625 20.875 18.375 16.125 14.125 12.375 10.875 9.625 8.625 7.875 7.375 7.125 7.125 7.375 7.875 8.625 9.625 10.875 12.375 14.125 16.125 18.375 20.875 23.625 -23.5 -20.25 -16.75 -13.0 -9.0 -4.75 -0.25 4.5 9.5 14.75 20.25 -24.125 -18.125 -11.875 -5.375 1.375 8.375 15.625 23.125 -19.25 -11.25 -3.0 5.5 14.25 23.25 -17.625 -8.125 1.625 11.625 21.875 -17.75 -7.0 4.0 15.25 -23.375 -11.625 0.375 12.625 -25.0 -12.25 0.75 14.0 -22.625 -8.875 5.125 19.375 -16.25 -1.5 13.5 -21.375 -5.875 9.875 -24.25 -8.0 8.5 -24.875 -7.875 9.375 -23.25 -5.5 12.5 -19.375 -0.875 17.875 -13.25
//= out: f32 sorted(x / 8 for x in numbers[:128])
// out: f32 -25.0 -25.0 -24.875 -24.25 -24.125 -24.125 -23.5 -23.5 -23.375 -23.375 -23.25 -22.625 -21.375 -20.25 -20.25 -19.375 -19.25 -19.25 -18.125 -18.125 -17.75 -17.75 -17.625 -17.625 -16.75 -16.75 -16.25 -13.25 -13.0 -13.0 -12.25 -11.875 -11.875 -11.625 -11.625 -11.25 -11.25 -9.0 -9.0 -8.875 -8.125 -8.125 -8.0 -7.875 -7.0 -7.0 -5.875 -5.5 -5.375 -5.375 -4.75 -4.75 -3.0 -3.0 -1.5 -0.875 -0.25 -0.25 0.375 0.375 0.75 1.375 1.375 1.625 1.625 4.0 4.0 4.5 4.5 5.125 5.5 5.5 7.125 7.125 7.375 7.375 7.875 7.875 8.375 8.375 8.5 8.625 8.625 9.375 9.5 9.5 9.625 9.625 9.875 10.875 10.875 11.625 11.625 12.375 12.375 12.5 12.625 12.625 13.5 14.0 14.125 14.125 14.25 14.25 14.75 14.75 15.25 15.25 15.625 15.625 16.125 16.125 17.875 18.375 18.375 19.375 20.25 20.25 20.875 20.875 21.875 21.875 23.125 23.125 23.25 23.25 23.625 23.625
// arg: u64 0
// arg: u64 0
// run: how_many grid=2 block=128 shared=2048
//= in: s32 [x % 16 for x in numbers + numbers[::3] + numbers[:170]]
// in: s32 @3
//= inout: s32 list(range(16)) -> [b + sum(x % 16 == b for x in numbers + numbers[::3] + numbers[:170]) for b in range(16)]
// inout: s32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 -> 25 31 26 41 36 38 38 26 43 44 43 46 40 56 45 54
// arg: u64 0
// arg: u64 0
// run: turned grid=3,2 block=128 shared=8192
//= in: f32 range(48 * 32)
// in: f32 @4
//= out: f32 [i * 32 + j for j in range(32) for i in range(48)]
// out: f32 @5
// arg: u32 48
// arg: u32 32
// arg: u64 0
// arg: u64 0
//# def philox(seed, counter):
//#     low, high, c = seed & 0xffffffff, seed >> 32, [counter, 0, 0, 0]
//#     for _ in range(10):
//#         a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
//#         c = [b >> 32 ^ c[1] ^ low, b & 0xffffffff, a >> 32 ^ c[3] ^ high, a & 0xffffffff]
//#         low, high = (low + 0x9E3779B9) & 0xffffffff, (high + 0xBB67AE85) & 0xffffffff
//#     return c[0]
// run: dropped grid=2 block=128 shared=1024
//= in: f32 range(256)
// in: f32 @6
//= out: f32 [2 * i if philox(1234, i) & 1 else 0 for i in range(256)]
// out: f32 @7
//= out: u32 [philox(1234, i) for i in range(256)]
// out: u32 @8
// arg: u32 1234
// arg: u64 0
// arg: u64 0
"""
