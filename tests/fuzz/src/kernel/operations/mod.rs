//! What a thread computes with: PTX text, and what the PTX manual says that it gives, written as plainly as Rust allows.
//!
//! Where the manual leaves a result open, the text pins it: divisors are made odd and positive, and a result that is not a number
//! becomes the canonical one where the manual does not promise that. So every device must give the same bits.

mod bits;
mod compare;
mod convert;
mod float;
mod half;
mod integer;
mod loose;

use super::Bank;

pub use loose::OBJECTS;

/// An operation of a thread on its registers.
pub struct Operation {
    /// PTX instructions. `$d` is the result, `$a`, `$b`, `$c` and `$e` are the operands; `%th`, `%tr`, `%td` and `%tp` registers are free to use.
    pub text: &'static str,
    /// Where the result goes.
    pub result: Bank,
    /// Where each operand comes from.
    pub operands: &'static [Bank],
    /// The result's bits, of the operands' bits.
    pub evaluate: fn(&[u64]) -> u64,
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.text)
    }
}

/// Every operation that has one result.
pub fn all() -> &'static [&'static Operation] {
    static ALL: std::sync::LazyLock<Vec<&'static Operation>> = std::sync::LazyLock::new(|| {
        [
            integer::OPERATIONS,
            bits::OPERATIONS,
            compare::OPERATIONS,
            convert::OPERATIONS,
            float::OPERATIONS,
            half::OPERATIONS,
        ]
        .into_iter()
        .flatten()
        .copied()
        .flatten()
        .collect()
    });
    &ALL
}

/// The others.
pub fn loose() -> &'static [Operation] {
    loose::OPERATIONS
}

/// A type of PTX as Rust has it.
trait Value: Copy {
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
        $crate::kernel::operations::Operation {
            text: $text,
            result: <$result as $crate::kernel::operations::Value>::BANK,
            operands: &[$(<$type as $crate::kernel::operations::Value>::BANK),*],
            evaluate: |operands| {
                let mut operands = operands.iter().copied();
                $(let $name = <$type as $crate::kernel::operations::Value>::from_bits(operands.next().unwrap_or(0));)*
                let result: $result = $value;
                $crate::kernel::operations::Value::into_bits(result)
            },
        }
    };
}
use operation;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_their_operands() {
        assert!(all().len() > 250, "{}", all().len());
        for operation in all().iter().copied().chain(loose()) {
            for (index, name) in ["$a", "$b", "$c", "$e"].into_iter().enumerate() {
                assert_eq!(operation.text.contains(name), index < operation.operands.len(), "{}", operation.text);
            }
            assert!(operation.text.contains("$d") && operation.text.ends_with(';'), "{}", operation.text);
        }
    }
}
