//! Numbers (PTX ISA, "Constants"), from their text to their value.

use crate::errors::SyntaxError;

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constant {
    /// 64 bits in two's complement.
    Integer(u64),
    /// The bits of an f32, written `0f...`.
    Single(u32),
    /// An f64, written `0d...` or as a decimal.
    Double(f64),
}

/// The value of one number.
pub(super) fn number(text: &str) -> Result<Constant, SyntaxError> {
    let bad = || SyntaxError::BadNumber(text.chars().take(40).collect());
    let large = || SyntaxError::NumberTooLarge(text.chars().take(40).collect());
    let lower = text.as_bytes().get(1).map(u8::to_ascii_lowercase);
    let zero = text.starts_with('0');
    if zero && lower == Some(b'f') {
        let digits = &text[2..];
        let valid = digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        return if valid {
            u32::from_str_radix(digits, 16).map(Constant::Single).map_err(|_| bad())
        } else {
            Err(bad())
        };
    }
    if zero && lower == Some(b'd') {
        let digits = &text[2..];
        let valid = digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bits = u64::from_str_radix(digits, 16).map_err(|_| bad())?;
        return if valid { Ok(Constant::Double(f64::from_bits(bits))) } else { Err(bad()) };
    }
    let hexadecimal = zero && lower == Some(b'x');
    if !hexadecimal && text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        return text.parse().map(Constant::Double).map_err(|_| bad());
    }
    let digits = text.strip_suffix('U').unwrap_or(text);
    let (digits, radix) = if hexadecimal {
        (&digits[2..], 16)
    } else if zero && lower == Some(b'b') {
        (&digits[2..], 2)
    } else if zero && digits.len() > 1 {
        (&digits[1..], 8)
    } else {
        (digits, 10)
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(bad());
    }
    u64::from_str_radix(digits, radix).map(Constant::Integer).map_err(|_| large())
}

/// The value of a number without sign.
pub(crate) fn natural(text: &str) -> Result<u64, SyntaxError> {
    match number(text)? {
        Constant::Integer(value) => Ok(value),
        _ => Err(SyntaxError::BadNumber(text.chars().take(40).collect())),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::syntax::cursor::Cursor;
    use crate::syntax::lexer::TokenKind;

    /// The constant that is all of a text.
    pub fn value(text: &str) -> Option<Constant> {
        let mut cursor = Cursor::new(text, std::slice::from_ref(&(0..text.len())));
        let value = cursor.constant().ok()?;
        (cursor.kind() == TokenKind::End).then_some(value)
    }

    #[test]
    fn numbers_of_every_notation() {
        assert_eq!(value("12"), Some(Constant::Integer(12)));
        assert_eq!(value("0x1fU"), Some(Constant::Integer(31)));
        assert_eq!(value("017"), Some(Constant::Integer(15)));
        assert_eq!(value("0b101"), Some(Constant::Integer(5)));
        assert_eq!(value("0"), Some(Constant::Integer(0)));
        assert_eq!(value("0U"), Some(Constant::Integer(0)));
        assert_eq!(value("-1"), Some(Constant::Integer(u64::MAX)));
        assert_eq!(value("18446744073709551615"), Some(Constant::Integer(u64::MAX)));
        assert_eq!(value("0f3F800000"), Some(Constant::Single(0x3F80_0000)));
        assert_eq!(value("0D3FF0000000000000"), Some(Constant::Double(1.0)));
        assert_eq!(value("1.5"), Some(Constant::Double(1.5)));
        assert_eq!(value("1e3"), Some(Constant::Double(1000.0)));
        assert_eq!(value("2.5e-1"), Some(Constant::Double(0.25)));
        assert_eq!(value(".5"), Some(Constant::Double(0.5)));
        assert_eq!(value(".25E+1"), Some(Constant::Double(2.5)));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["0x", "08", "0b2", "12abc", "0f3F80", "0d00", "18446744073709551616", ".", "1..5"] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
