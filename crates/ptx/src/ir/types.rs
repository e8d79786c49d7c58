//! Scalar types and state spaces, and their names in PTX (PTX ISA, "State Spaces, Types, and
//! Variables").

use super::names::names;

names! {
    /// A fundamental or packed type.
    #[allow(missing_docs)] // each is PTX's own name
    pub enum Type {
        Pred = "pred",
        B8 = "b8",
        B16 = "b16",
        B32 = "b32",
        B64 = "b64",
        B128 = "b128",
        U8 = "u8",
        U16 = "u16",
        U32 = "u32",
        U64 = "u64",
        /// Two u16 in a word. This and the next are types of instructions only.
        U16x2 = "u16x2",
        S16x2 = "s16x2",
        S8 = "s8",
        S16 = "s16",
        S32 = "s32",
        S64 = "s64",
        F16 = "f16",
        F16x2 = "f16x2",
        Bf16 = "bf16",
        Bf16x2 = "bf16x2",
        /// Two f32 in 64 bits. This and the next three are types of instructions only.
        F32x2 = "f32x2",
        /// An f32 with ten bits of fraction.
        Tf32 = "tf32",
        /// Two 8-bit floats: 4 bits of exponent, 3 of fraction, no infinity.
        E4m3x2 = "e4m3x2",
        /// Two 8-bit floats: 5 bits of exponent, 2 of fraction.
        E5m2x2 = "e5m2x2",
        F32 = "f32",
        F64 = "f64",
        /// `.texref`
        TextureReference = "texref",
        /// `.samplerref`
        SamplerReference = "samplerref",
        /// `.surfref`
        SurfaceReference = "surfref",
    }
}

/// What the bits of a [`Type`] mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Predicate,
    Bits,
    Unsigned,
    Signed,
    Float,
    /// A handle, which only texture and surface instructions take.
    Opaque,
}

impl Type {
    /// Size in bytes; a predicate counts as 1.
    pub fn bytes(self) -> u32 {
        match self {
            Type::Pred | Type::B8 | Type::U8 | Type::S8 => 1,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 2,
            Type::E4m3x2 | Type::E5m2x2 => 2,
            Type::B32 | Type::U32 | Type::S32 | Type::F16x2 | Type::Bf16x2 | Type::F32 => 4,
            Type::U16x2 | Type::S16x2 | Type::Tf32 => 4,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 | Type::F32x2 => 8,
            Type::TextureReference | Type::SamplerReference | Type::SurfaceReference => 8,
            Type::B128 => 16,
        }
    }

    /// Size in bits; a predicate counts as 1.
    pub fn bits(self) -> u32 {
        if self == Type::Pred { 1 } else { self.bytes() * 8 }
    }

    /// What the bits mean.
    pub fn kind(self) -> Kind {
        match self {
            Type::Pred => Kind::Predicate,
            Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128 => Kind::Bits,
            Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::U16x2 => Kind::Unsigned,
            Type::S8 | Type::S16 | Type::S32 | Type::S64 | Type::S16x2 => Kind::Signed,
            // They are held in registers of bits.
            Type::Tf32 | Type::E4m3x2 | Type::E5m2x2 => Kind::Bits,
            Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 | Type::F32 | Type::F32x2 | Type::F64 => Kind::Float,
            Type::TextureReference | Type::SamplerReference | Type::SurfaceReference => Kind::Opaque,
        }
    }

    /// Whether only instructions have the type, and no register or variable can.
    pub fn is_instruction_type(self) -> bool {
        matches!(self, Type::U16x2 | Type::S16x2 | Type::F32x2 | Type::Tf32 | Type::E4m3x2 | Type::E5m2x2)
    }
}

names! {
    /// Where an address points.
    pub enum Space {
        /// No space given: the address's window decides.
        Generic = "",
        /// Memory of the device, visible to every thread.
        Global = "global",
        /// Memory of the block that executes the instruction.
        Shared = "shared" | "shared::cta",
        /// Shared memory of any block of the cluster.
        ClusterShared = "shared::cluster",
        /// Memory of a thread.
        Local = "local",
        /// Read-only memory of the module.
        Constant = "const",
        /// Parameters of the kernel, or of a call being made or served.
        Parameter = "param" | "param::entry" | "param::func",
    }
}
