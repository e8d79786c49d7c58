"""Triton's tensor descriptors: a kernel makes a tensor map of zeros in shared memory, field by field (`tensormap.replace`), puts it into its
part of the scratch memory that Triton's launcher gives it, and lets the copy engine bring and take tiles. `passed` gets its maps from
the host.

//@ sm_90
"""
import triton
import triton.language as tl


@triton.jit
def transposed(a, out, M, N):
    """Each program takes a tile of A, of M rows and N columns, and puts its transpose out."""
    x = tl.make_tensor_descriptor(a, shape=[M, N], strides=[N, 1], block_shape=[16, 16])
    y = tl.make_tensor_descriptor(out, shape=[N, M], strides=[M, 1], block_shape=[16, 16])
    row, column = tl.program_id(0) * 16, tl.program_id(1) * 16
    y.store([column, row], x.load([row, column]).T)


@triton.jit
def product(a, b, c, M, N, K):
    """C = A * B, of halves: tiles of A and B come in turn, whole ones and those that reach over the end."""
    x = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[64, 32])
    y = tl.make_tensor_descriptor(b, shape=[K, N], strides=[N, 1], block_shape=[32, 16])
    z = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[64, 16])
    row, column = tl.program_id(0) * 64, tl.program_id(1) * 16
    total = tl.zeros((64, 16), dtype=tl.float32)
    for k in range(0, K, 32):
        total = tl.dot(x.load([row, k]), y.load([k, column]), total)
    z.store([row, column], total)


@triton.jit
def summed(a, out, M, N):
    """The sums of each column: every program adds its rows to `out` by a reduction of the copy engine."""
    x = tl.make_tensor_descriptor(a, shape=[M, N], strides=[N, 1], block_shape=[8, 16])
    y = tl.make_tensor_descriptor(out, shape=[1, N], strides=[N, 1], block_shape=[1, 16])
    column = tl.program_id(1) * 16
    tile = x.load([tl.program_id(0) * 8, column])
    y.atomic_add([0, column], tl.sum(tile, axis=0, keep_dims=True))


@triton.jit
def passed(x, out, N):
    """Doubles what comes from the descriptor that the host has made."""
    row, column = tl.program_id(0) * 8, tl.program_id(1) * 16
    tile = x.load([row, column])
    rows, columns = row + tl.arange(0, 8), column + tl.arange(0, 16)
    tl.store(out + rows[:, None] * N + columns[None, :], tile * 2)


KERNELS = {
    transposed: {"a": "*fp32", "out": "*fp32", "M": "i32", "N": "i32"},
    product: {"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32"},
    summed: {"a": "*i32", "out": "*i32", "M": "i32", "N": "i32"},
    passed: {"x": "tensordesc<i32[8, 16]>", "out": "*i32", "N": "i32"},
}

"""
//# import struct
//# small = lambda count, seed: [(i * i * seed + 3 * i) % 13 - 6 for i in range(count)]
//# half = lambda values: [struct.unpack("<H", struct.pack("<e", v))[0] for v in values]
// run: transposed grid=2,3 block=128 shared=1032
//= in: f32 [v / 4 for v in small(24 * 40, 5)]
// in: f32 @1
//= out: f32 [small(24 * 40, 5)[i * 40 + j] / 4 for j in range(40) for i in range(24)]
// out: f32 @2
// arg: u32 24
// arg: u32 40
// in: u8 0x0x1536
// arg: u64 0
// run: product grid=2,2 block=128 shared=15384
//= in: u16 half(small(72 * 40, 5))
// in: u16 @3
//= in: u16 half(small(40 * 24, 7))
// in: u16 @4
//= out: f32 [sum(small(72 * 40, 5)[i * 40 + l] * small(40 * 24, 7)[l * 24 + j] for l in range(40)) for i in range(72) for j in range(24)]
// out: f32 @5
// arg: u32 72
// arg: u32 24
// arg: u32 40
// in: u8 0x0x1536
// arg: u64 0
// run: summed grid=3,2 block=128 shared=520
//= in: s32 small(20 * 24, 3)
// in: s32 @6
//= inout: s32 [100] * 24 -> [100 + sum(small(20 * 24, 3)[i * 24 + j] for i in range(20)) for j in range(24)]
// inout: s32 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 100 -> 127 112 126 117 124 121 121 124 117 126 112 127 106 127 112 126 117 124 121 121 124 117 126 112
// arg: u32 20
// arg: u32 24
// in: u8 0x0x1536
// arg: u64 0
// run: passed grid=2,2 block=128 shared=520
// tensor: s32[24x10],box:16x8,swizzle:64 0..240
// arg: u32 10
// arg: u32 24
// arg: u64 24
// arg: u64 1
//= out: s32 [2 * (24 * i + j) if i < 10 and j < 24 else 0 for i in range(16) for j in range(32)]
// out: s32 @7
// arg: u32 32
// arg: u64 0
// arg: u64 0
"""
