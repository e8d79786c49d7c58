//! What a thread computes with: PTX text, and what the PTX manual says that it gives, written as
//! plainly as Rust allows.
//!
//! Where the manual leaves a result open, the text pins it: divisors are made odd and positive, and
//! a result that is not a number becomes the canonical one where the manual does not promise that.
//! So every device must give the same bits.

mod bits;
mod compare;
mod convert;
mod float;
mod half;
mod integer;
mod loose;
mod operation;

pub use loose::OBJECTS;
pub use operation::Operation;

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

/// The operations of loose kernels.
pub fn loose() -> &'static [Operation] {
    loose::OPERATIONS
}

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
