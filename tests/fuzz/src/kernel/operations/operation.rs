//! The type of an operation, and the macro that declares its PTX and its expected result side by
//! side. The other files of this folder use it. Pure.

use crate::kernel::Bank;

/// An operation of a thread on its registers.
pub struct Operation {
    /// PTX instructions. `$d` is the result, `$a`, `$b`, `$c` and `$e` are the operands; `%th`,
    /// `%tr`, `%td` and `%tp` are scratch registers.
    pub text: &'static str,
    /// Where the result goes.
    pub result: Bank,
    /// Where each operand comes from.
    pub operands: &'static [Bank],
    /// Computes the result's bits from the operands' bits.
    pub evaluate: fn(&[u64]) -> u64,
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.text)
    }
}

/// The Rust type for a type of PTX.
pub trait Value: Copy {
    const BANK: Bank;
    fn from_bits(bits: u64) -> Self;
    fn into_bits(self) -> u64;
}

macro_rules! integers {
    ($($type:ty: $bank:ident),*) => {
        $(impl Value for $type {
            const BANK: Bank = Bank::$bank;
            fn from_bits(bits: u64) -> Self {
                bits as Self
            }
            fn into_bits(self) -> u64 {
                self as u64
            }
        })*
    };
}

integers!(u16: Half, i16: Half, u32: Word, i32: Word, u64: Double, i64: Double);

impl Value for bool {
    const BANK: Bank = Bank::Predicate;
    fn from_bits(bits: u64) -> Self {
        bits & 1 == 1
    }
    fn into_bits(self) -> u64 {
        self.into()
    }
}

impl Value for f32 {
    const BANK: Bank = Bank::Word;
    fn from_bits(bits: u64) -> Self {
        f32::from_bits(bits as u32)
    }
    fn into_bits(self) -> u64 {
        if self.is_nan() { 0x7fff_ffff } else { self.to_bits().into() }
    }
}

impl Value for f64 {
    const BANK: Bank = Bank::Double;
    fn from_bits(bits: u64) -> Self {
        f64::from_bits(bits)
    }
    fn into_bits(self) -> u64 {
        if self.is_nan() { 0x7ff8_0000_0000_0000 } else { self.to_bits() }
    }
}

/// An operation: its text, its operands with their types, the type of the result, and the result.
macro_rules! operation {
    ($text:expr, |$($name:ident: $type:ty),*| $result:ty: $value:expr) => {
        $crate::kernel::operations::operation::Operation {
            text: $text,
            result: <$result as $crate::kernel::operations::operation::Value>::BANK,
            operands: &[$(<$type as $crate::kernel::operations::operation::Value>::BANK),*],
            evaluate: |operands| {
                let mut operands = operands.iter().copied();
                $(let $name = <$type as $crate::kernel::operations::operation::Value>::from_bits(operands.next().unwrap_or(0));)*
                let result: $result = $value;
                $crate::kernel::operations::operation::Value::into_bits(result)
            },
        }
    };
}
pub(super) use operation;
