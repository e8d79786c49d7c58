//! The banks of registers of a thread: predicates, halves, words and doubles. The generator, the
//! text and the second machine use them. Plain data.

/// A bank of a thread's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bank {
    /// `.pred`
    Predicate,
    /// `.b16`
    Half,
    /// `.b32`
    Word,
    /// `.b64`
    Double,
}

impl Bank {
    /// The number of its registers.
    pub fn registers(self) -> u8 {
        match self {
            Self::Predicate | Self::Half => 4,
            Self::Word => 8,
            Self::Double => 6,
        }
    }

    /// Bits of a register.
    pub fn bits(self) -> u32 {
        match self {
            Self::Predicate => 1,
            Self::Half => 16,
            Self::Word => 32,
            Self::Double => 64,
        }
    }
}
