//! Errors in the shape of the text: tokens, numbers, nesting.

/// The text does not have PTX's shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
#[non_exhaustive]
pub enum SyntaxError {
    #[error("expected {expected}, found {found}")]
    Unexpected { expected: &'static str, found: String },
    #[error("unterminated comment")]
    UnterminatedComment,
    #[error("unterminated string")]
    UnterminatedString,
    #[error("`{0}` is not a PTX number")]
    BadNumber(String),
    #[error("the number `{0}` does not fit 64 bits")]
    NumberTooLarge(String),
    #[error("division by zero in a constant expression")]
    DivisionByZero,
    #[error("nested more than {0} deep")]
    TooDeep(usize),
    #[error("the text is longer than 4 GiB")]
    TextTooLong,
}

impl SyntaxError {
    pub(crate) fn help(&self) -> Option<String> {
        Some(match self {
            SyntaxError::UnterminatedComment => "end it with `*/`".into(),
            SyntaxError::UnterminatedString => "end it with `\"` on the same line".into(),
            SyntaxError::BadNumber(_) => {
                "numbers are 12, 0x1F, 017, 0b101, with U after them if unsigned; 0f and 8 hexadecimal digits for an \
                 f32; 0d and 16 of them, or 1.5, for an f64"
                    .into()
            }
            _ => return None,
        })
    }
}
