//! What a lane computes of its own operands: moves, conversions, arithmetic, comparisons. Plain
//! data.
//!
//! Operations of one shape share one variant ([`ComputeOp::Unary`], [`ComputeOp::Binary`],
//! [`ComputeOp::Ternary`]), and the modifiers of arithmetic are one [`Mode`].

use super::operand::{Destination, Operand};
use super::operation::{BinaryOp, CarryOp, Combine, Comparison, FloatProperty, Mode, TernaryOp, UnaryOp};
use super::types::{Space, Type};
use super::video::{ScalarVideo, SimdVideo};

/// Operations on the operands of a lane, without access to memory. Typed as [`Op`](super::Op) says.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // fields as in `Op`
pub enum ComputeOp {
    /// `mov`: `dst` and `src` have type `ty`, of 16 to 128 bits or a predicate. With 32 or 64 bits,
    /// `src` may be the address of a symbol.
    Move { ty: Type, dst: Destination, src: Operand },
    /// `mov.v2.u32 {d, e}, {a, b}`: all are read before any is written. All parts have type `ty`,
    /// together at most 128 bits.
    MoveVector { ty: Type, dsts: Vec<Destination>, srcs: Vec<Operand> },
    /// `mov.b64 d, {a, b}`: the first part is the least significant. `ty` is bits, of 16 to
    /// 128, and each part has an equal share of them.
    Pack { ty: Type, dst: Destination, parts: Vec<Operand> },
    /// `mov.b64 {a, b}, s`. Typed as [`ComputeOp::Pack`].
    Unpack { ty: Type, dsts: Vec<Destination>, src: Operand },
    /// `cvt`: `src` has type `from` and `dst` type `to`, each in a register that may be wider (but
    /// for `bf16` and packed types). From floats to integers and wherever a value may not fit,
    /// `mode` rounds.
    Convert { to: Type, from: Type, mode: Mode, dst: Destination, src: Operand },
    /// `cvt.rn.f16x2.f32 d, a, b`: `a` becomes the upper half. `a` and `b` have type `from`, which
    /// is `f32`; `to` is a packed type, and `dst` has as many bits.
    ConvertPair { to: Type, from: Type, mode: Mode, dst: Destination, a: Operand, b: Operand },
    /// `cvt.pack`: `a` and `b` saturated to `bits` bits, with `a` above `b` and the low bits of `c`
    /// above both. `a` and `b` are `s32`, `dst` and `c` are `b32`; `bits` is 16, or 2, 4 or 8,
    /// which need `c`.
    ConvertPack { bits: u32, signed: bool, dst: Destination, a: Operand, b: Operand, c: Option<Operand> },
    /// `cvta` (to generic) or `cvta.to` (from generic). `dst` and `src` have type `ty`, which is
    /// `u32` or `u64`; `src` may be a variable of the space.
    ConvertAddress { space: Space, to_generic: bool, ty: Type, dst: Destination, src: Operand },
    /// `isspacep`: whether a generic address, of 32 or 64 bits, is in a space. `dst` is a
    /// predicate.
    IsSpace { space: Space, dst: Destination, src: Operand },
    /// `istypep`: whether an address is that of a `.texref`, `.samplerref` or `.surfref` of the
    /// module. `ty` is that type, `src` has 64 bits, and `dst` is a predicate.
    IsType { ty: Type, dst: Destination, src: Operand },
    /// `a` has type `ty`, and so has `dst`, except for operations that count bits: these return
    /// `u32`.
    Unary { op: UnaryOp, ty: Type, mode: Mode, dst: Destination, a: Operand },
    /// `a`, `b` and `dst` have type `ty`, except that a shift's or an extension's amount `b` is
    /// `u32`, and a wide product is twice as wide.
    Binary { op: BinaryOp, ty: Type, mode: Mode, dst: Destination, a: Operand, b: Operand },
    /// All operands have type `ty`, except positions, lengths and amounts, which are `u32`; the
    /// base and the offset of `fns`; and the sum and the addend of a wide product, which are twice
    /// as wide.
    Ternary { op: TernaryOp, ty: Type, mode: Mode, dst: Destination, a: Operand, b: Operand, c: Operand },
    /// `lop3.or.b32 d|p, a, b, c, table, q`: `dst_is_set` is whether `dst` is not zero, combined
    /// with a predicate. All are `b32`, but for the predicates.
    LogicAndTest {
        table: u8,
        combine: Combine,
        dst: Destination,
        dst_is_set: Destination,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `bfi d, a, b, position, length`: a inserted into b. `ty` is `b32` or `b64`; `position` and
    /// `length` are `u32`.
    BitFieldInsert { ty: Type, dst: Destination, a: Operand, b: Operand, position: Operand, length: Operand },
    /// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.lo.cc`, `madc.hi`, ...; `c` only for multiply-add.
    /// All operands have type `ty`.
    Carry {
        op: CarryOp,
        ty: Type,
        carry_in: bool,
        carry_out: bool,
        dst: Destination,
        a: Operand,
        b: Operand,
        c: Option<Operand>,
    },
    /// `vadd`, `vmad`, `vset`, ... on a byte, a half or all of each operand of 32 bits.
    ScalarVideo(Box<ScalarVideo>),
    /// `vadd2`, `vset4`, ... on two halves or four bytes at once of operands of 32 bits.
    SimdVideo(Box<SimdVideo>),
    /// `setp`: `dst` gets the result, and `dst_not` the result of the negated comparison. For a
    /// packed type, `dst` gets the result of the lower half and `dst_not` that of the upper half.
    /// `a` and `b` have type `ty`, the destinations are predicates. A comparison must exist for the
    /// type's kind: bits have `eq` and `ne`, only unsigned types `lo` to `hs`, only floats the
    /// unordered ones. `flush_subnormals` is for `f32`, `f16` and `f16x2`. Half types have no
    /// `dst_not`.
    SetPredicate {
        comparison: Comparison,
        ty: Type,
        flush_subnormals: bool,
        combine: Option<Combine>,
        dst: Destination,
        dst_not: Destination,
        a: Operand,
        b: Operand,
    },
    /// `set`: all ones (or 1.0) if true. `dst` has type `to`, and `a` and `b` have type `ty`, typed
    /// as for [`ComputeOp::SetPredicate`]; packed `ty` needs 32 bits of integer or the same type.
    Set {
        comparison: Comparison,
        to: Type,
        ty: Type,
        flush_subnormals: bool,
        combine: Option<Combine>,
        dst: Destination,
        a: Operand,
        b: Operand,
    },
    /// `selp`: `a` if the predicate holds, else `b`. `dst`, `a` and `b` have type `ty`, of at least
    /// 16 bits; `predicate` is a predicate register or a constant.
    Select { ty: Type, dst: Destination, a: Operand, b: Operand, predicate: Operand },
    /// `slct d, a, b, c`: a if c >= 0, else b. `dst`, `a` and `b` have type `ty`; `c` has type
    /// `selector`, which is `s32` or `f32`.
    SelectBySign {
        ty: Type,
        selector: Type,
        flush_subnormals: bool,
        dst: Destination,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `testp`: `a` is `f32` or `f64`, `dst` a predicate.
    TestProperty { property: FloatProperty, ty: Type, dst: Destination, a: Operand },
    /// `mapa`: the address in block `rank` of the cluster that corresponds to `src` in this block.
    /// `dst` and `src` have type `ty`, `u32` or `u64`; `rank` is `u32`.
    MapToBlock { ty: Type, dst: Destination, src: Operand, rank: Operand },
    /// `getctarank`: the rank of the block that an address of shared memory belongs to. `src` has
    /// type `ty`, `u32` or `u64`; `dst` is `u32`.
    RankOfAddress { ty: Type, dst: Destination, src: Operand },
}
