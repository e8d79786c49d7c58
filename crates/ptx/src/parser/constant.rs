//! Numbers and constant expressions (PTX ISA, "Constants").

use super::cursor::Cursor;
use crate::errors::{Parsed, SyntaxError, fault};
use crate::lexer::TokenKind;

/// Expressions nested deeper than this are refused.
const DEPTH: usize = 64;

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

impl Cursor<'_> {
    /// Whether a constant expression can start here.
    pub fn at_constant(&self) -> bool {
        match self.kind() {
            TokenKind::Integer
            | TokenKind::Decimal
            | TokenKind::Minus
            | TokenKind::Plus
            | TokenKind::Tilde
            | TokenKind::OpenParenthesis => true,
            TokenKind::Word => self.text() == "WARP_SZ",
            _ => false,
        }
    }

    /// A constant expression.
    pub fn constant(&mut self) -> Parsed<Constant> {
        self.binary(0, 0)
    }

    /// A constant expression that must be an integer.
    pub fn integer(&mut self) -> Parsed<u64> {
        if !self.at_constant() {
            return self.unexpected("an integer");
        }
        let start = self.start();
        match self.constant()? {
            Constant::Integer(value) => Ok(value),
            _ => {
                let span = self.span_from(start);
                let found = format!("`{}`", self.text_of(span));
                fault(span, SyntaxError::Unexpected { expected: "an integer", found })
            }
        }
    }

    /// An integer that fits 32 bits.
    pub fn integer32(&mut self) -> Parsed<u32> {
        let start = self.start();
        let value = self.integer()?;
        u32::try_from(value).or_else(|_| {
            let span = self.span_from(start);
            let found = format!("`{}`", self.text_of(span));
            fault(span, SyntaxError::Unexpected { expected: "an integer of at most 32 bits", found })
        })
    }

    /// Operators that bind at least as strongly as `strength`.
    fn binary(&mut self, strength: u8, depth: usize) -> Parsed<Constant> {
        let start = self.start();
        let mut left = self.unary(depth)?;
        while let Some((operator, tokens, binds)) = self.operator()
            && binds > strength
        {
            for _ in 0..tokens {
                self.advance();
            }
            let right = self.binary(binds, depth + 1)?;
            let span = self.span_from(start);
            let (Constant::Integer(a), Constant::Integer(b)) = (left, right) else {
                let found = format!("`{}`", self.text_of(span));
                return fault(span, SyntaxError::Unexpected { expected: "an integer expression", found });
            };
            left = Constant::Integer(match operator {
                Operator::Or => a | b,
                Operator::Xor => a ^ b,
                Operator::And => a & b,
                Operator::ShiftLeft => {
                    if b < 64 {
                        a << b
                    } else {
                        0
                    }
                }
                Operator::ShiftRight => {
                    if b < 64 {
                        a >> b
                    } else {
                        0
                    }
                }
                Operator::Add => a.wrapping_add(b),
                Operator::Subtract => a.wrapping_sub(b),
                Operator::Multiply => a.wrapping_mul(b),
                Operator::Divide | Operator::Remainder if b == 0 => return fault(span, SyntaxError::DivisionByZero),
                Operator::Divide => (a as i64).wrapping_div(b as i64) as u64,
                Operator::Remainder => (a as i64).wrapping_rem(b as i64) as u64,
            });
        }
        Ok(left)
    }

    /// The binary operator here, how many tokens it takes, and how strongly it binds.
    fn operator(&self) -> Option<(Operator, usize, u8)> {
        Some(match self.kind() {
            TokenKind::Or => (Operator::Or, 1, 1),
            TokenKind::Xor => (Operator::Xor, 1, 2),
            TokenKind::And => (Operator::And, 1, 3),
            TokenKind::Less if self.kind_after() == TokenKind::Less => (Operator::ShiftLeft, 2, 4),
            TokenKind::Greater if self.kind_after() == TokenKind::Greater => (Operator::ShiftRight, 2, 4),
            TokenKind::Plus => (Operator::Add, 1, 5),
            TokenKind::Minus => (Operator::Subtract, 1, 5),
            TokenKind::Star => (Operator::Multiply, 1, 6),
            TokenKind::Slash => (Operator::Divide, 1, 6),
            TokenKind::Percent => (Operator::Remainder, 1, 6),
            _ => return None,
        })
    }

    fn unary(&mut self, depth: usize) -> Parsed<Constant> {
        if depth > DEPTH {
            return fault(self.peek().span, SyntaxError::TooDeep(DEPTH));
        }
        let token = self.peek();
        match token.kind {
            TokenKind::Plus => {
                self.advance();
                self.unary(depth + 1)
            }
            TokenKind::Minus => {
                self.advance();
                Ok(match self.unary(depth + 1)? {
                    Constant::Integer(value) => Constant::Integer(value.wrapping_neg()),
                    Constant::Single(bits) => Constant::Single(bits ^ 0x8000_0000),
                    Constant::Double(value) => Constant::Double(-value),
                })
            }
            TokenKind::Tilde => {
                self.advance();
                match self.unary(depth + 1)? {
                    Constant::Integer(value) => Ok(Constant::Integer(!value)),
                    _ => {
                        let found = "a float".into();
                        fault(token.span, SyntaxError::Unexpected { expected: "an integer behind `~`", found })
                    }
                }
            }
            TokenKind::OpenParenthesis => {
                self.advance();
                if matches!(self.dot(), Some("s64" | "u64")) && self.kind_after() == TokenKind::CloseParenthesis {
                    self.advance();
                    self.advance();
                    return self.unary(depth + 1);
                }
                let value = self.binary(0, depth + 1)?;
                self.expect(TokenKind::CloseParenthesis, "`)`")?;
                Ok(value)
            }
            TokenKind::Word if self.text() == "WARP_SZ" => {
                self.advance();
                Ok(Constant::Integer(32))
            }
            TokenKind::Integer | TokenKind::Decimal => {
                let text = self.text();
                self.advance();
                number(text).or_else(|error| fault(token.span, error))
            }
            _ => self.unexpected("a number"),
        }
    }
}

#[derive(Clone, Copy)]
enum Operator {
    Or,
    Xor,
    And,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// The value of one number.
fn number(text: &str) -> Result<Constant, SyntaxError> {
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
pub(super) fn natural(text: &str) -> Result<u64, SyntaxError> {
    match number(text)? {
        Constant::Integer(value) => Ok(value),
        _ => Err(SyntaxError::BadNumber(text.chars().take(40).collect())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<Constant> {
        let mut cursor = Cursor::new(text);
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
        assert_eq!(value("-0f3F800000"), Some(Constant::Single(0xBF80_0000)));
        assert_eq!(value("0D3FF0000000000000"), Some(Constant::Double(1.0)));
        assert_eq!(value("1.5"), Some(Constant::Double(1.5)));
        assert_eq!(value("1e3"), Some(Constant::Double(1000.0)));
        assert_eq!(value("2.5e-1"), Some(Constant::Double(0.25)));
    }

    #[test]
    fn expressions_follow_the_precedence_of_c() {
        assert_eq!(value("1 + 2 * 3"), Some(Constant::Integer(7)));
        assert_eq!(value("(1 + 2) * 3"), Some(Constant::Integer(9)));
        assert_eq!(value("10 - 3 - 2"), Some(Constant::Integer(5)));
        assert_eq!(value("1 << 4 | 1"), Some(Constant::Integer(17)));
        assert_eq!(value("~0 & 0xF0 ^ 0x10"), Some(Constant::Integer(0xE0)));
        assert_eq!(value("WARP_SZ * 4"), Some(Constant::Integer(128)));
        assert_eq!(value("-7 / 2"), Some(Constant::Integer(-3i64 as u64)));
        assert_eq!(value("7 % 4"), Some(Constant::Integer(3)));
        assert_eq!(value("1 << 64"), Some(Constant::Integer(0)));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in
            ["0x", "08", "0b2", "12abc", "0f3F80", "0d00", "18446744073709551616", "1 / 0", "7 % 0", "1.5 + 1", "~1.0"]
        {
            assert_eq!(value(text), None, "{text}");
        }
        assert_eq!(value(&"(".repeat(100_000)), None);
        assert_eq!(value(&"-".repeat(100_000)), None);
    }
}
