//! Constant expressions (PTX ISA, "Constant Expressions"): C's operators with C's precedence, on
//! 64-bit integers, signed or unsigned, and on f64. Initial values, array sizes and immediate
//! operands are read with it. Moves the cursor and changes nothing else.

use super::constant::{Constant, number};
use super::cursor::Cursor;
use super::lexer::TokenKind;
use crate::errors::{Parsed, SyntaxError, fault};

/// Expressions nested deeper than this are rejected.
const DEPTH: usize = 64;

/// The value of a part of an expression.
#[derive(Clone, Copy)]
enum Value {
    /// 64 bits in two's complement. A literal is unsigned if it ends in `U` or is too large for an
    /// `.s64`.
    Integer {
        bits: u64,
        signed: bool,
    },
    /// The bits of an f32, which takes no operators.
    Single(u32),
    Double(f64),
}

impl Value {
    fn of_literal(constant: Constant, text: &str) -> Self {
        match constant {
            Constant::Integer(bits) => {
                Value::Integer { bits, signed: !text.ends_with('U') && i64::try_from(bits).is_ok() }
            }
            Constant::Single(bits) => Value::Single(bits),
            Constant::Double(value) => Value::Double(value),
        }
    }

    fn of_truth(holds: bool) -> Self {
        Value::Integer { bits: holds.into(), signed: true }
    }

    fn constant(self) -> Constant {
        match self {
            Value::Integer { bits, .. } => Constant::Integer(bits),
            Value::Single(bits) => Constant::Single(bits),
            Value::Double(value) => Constant::Double(value),
        }
    }
}

/// A binary operator.
#[derive(Clone, Copy)]
enum Operator {
    LogicalOr,
    LogicalAnd,
    Or,
    Xor,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
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
            // Before a name, `!` negates a predicate.
            TokenKind::Not => self.kind_after() != TokenKind::Word,
            TokenKind::Word => self.text() == "WARP_SZ",
            _ => false,
        }
    }

    /// A constant expression.
    pub fn constant(&mut self) -> Parsed<Constant> {
        self.choice(0).map(Value::constant)
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

    /// `condition ? yes : no`, or an expression that binds more tightly.
    fn choice(&mut self, depth: usize) -> Parsed<Value> {
        let start = self.start();
        let condition = self.binary(0, depth)?;
        if !self.accept(TokenKind::Question) {
            return Ok(condition);
        }
        let yes = self.choice(depth + 1)?;
        self.expect(TokenKind::Colon, "`:`")?;
        let no = self.choice(depth + 1)?;
        match (condition, yes, no) {
            (
                Value::Integer { bits: condition, .. },
                Value::Integer { bits: yes, signed: first },
                Value::Integer { bits: no, signed: second },
            ) => Ok(Value::Integer { bits: if condition == 0 { no } else { yes }, signed: first && second }),
            _ => self.mismatch(start, "an integer expression"),
        }
    }

    /// Operators that bind more tightly than `strength`, and their operands.
    fn binary(&mut self, strength: u8, depth: usize) -> Parsed<Value> {
        let start = self.start();
        let mut left = self.unary(depth)?;
        while let Some((operator, tokens, binds)) = self.operator()
            && binds > strength
        {
            for _ in 0..tokens {
                self.advance();
            }
            let right = self.binary(binds, depth + 1)?;
            left = match (left, right) {
                (Value::Integer { bits: a, signed }, Value::Integer { bits: b, signed: other }) => {
                    let shifts = matches!(operator, Operator::ShiftLeft | Operator::ShiftRight);
                    let result = of_integers(operator, a, b, signed && (other || shifts));
                    result.or_else(|error| fault(self.span_from(start), error))?
                }
                (Value::Double(a), Value::Double(b)) => match of_floats(operator, a, b) {
                    Some(result) => result,
                    None => return self.mismatch(start, "an integer expression"),
                },
                _ => return self.mismatch(start, "an expression of integers, or of decimals"),
            };
        }
        Ok(left)
    }

    fn mismatch<T>(&self, start: u32, expected: &'static str) -> Parsed<T> {
        let span = self.span_from(start);
        let found = format!("`{}`", self.text_of(span));
        fault(span, SyntaxError::Unexpected { expected, found })
    }

    /// The binary operator here, how many tokens it has, and how tightly it binds.
    fn operator(&self) -> Option<(Operator, usize, u8)> {
        let after = self.kind_after();
        Some(match self.kind() {
            TokenKind::Or if after == TokenKind::Or => (Operator::LogicalOr, 2, 1),
            TokenKind::And if after == TokenKind::And => (Operator::LogicalAnd, 2, 2),
            TokenKind::Or => (Operator::Or, 1, 3),
            TokenKind::Xor => (Operator::Xor, 1, 4),
            TokenKind::And => (Operator::And, 1, 5),
            TokenKind::Equal if after == TokenKind::Equal => (Operator::Equal, 2, 6),
            TokenKind::Not if after == TokenKind::Equal => (Operator::NotEqual, 2, 6),
            TokenKind::Less if after == TokenKind::Less => (Operator::ShiftLeft, 2, 8),
            TokenKind::Greater if after == TokenKind::Greater => (Operator::ShiftRight, 2, 8),
            TokenKind::Less if after == TokenKind::Equal => (Operator::LessEqual, 2, 7),
            TokenKind::Greater if after == TokenKind::Equal => (Operator::GreaterEqual, 2, 7),
            TokenKind::Less => (Operator::Less, 1, 7),
            TokenKind::Greater => (Operator::Greater, 1, 7),
            TokenKind::Plus => (Operator::Add, 1, 9),
            TokenKind::Minus => (Operator::Subtract, 1, 9),
            TokenKind::Star => (Operator::Multiply, 1, 10),
            TokenKind::Slash => (Operator::Divide, 1, 10),
            TokenKind::Percent => (Operator::Remainder, 1, 10),
            _ => return None,
        })
    }

    fn unary(&mut self, depth: usize) -> Parsed<Value> {
        if depth > DEPTH {
            return fault(self.peek().span, SyntaxError::TooDeep(DEPTH));
        }
        let token = self.peek();
        match token.kind {
            TokenKind::Plus | TokenKind::Minus | TokenKind::Tilde | TokenKind::Not => {
                self.advance();
                match (token.kind, self.unary(depth + 1)?) {
                    (TokenKind::Plus, value @ (Value::Integer { .. } | Value::Double(_))) => Ok(value),
                    (TokenKind::Minus, Value::Integer { bits, signed }) => {
                        Ok(Value::Integer { bits: bits.wrapping_neg(), signed })
                    }
                    (TokenKind::Minus, Value::Double(value)) => Ok(Value::Double(-value)),
                    (TokenKind::Tilde, Value::Integer { bits, signed }) => Ok(Value::Integer { bits: !bits, signed }),
                    (TokenKind::Not, Value::Integer { bits, .. }) => Ok(Value::of_truth(bits == 0)),
                    (TokenKind::Plus | TokenKind::Minus, _) => {
                        self.mismatch(token.span.start, "an integer or a decimal after a sign")
                    }
                    _ => self.mismatch(token.span.start, "an integer after `~` or `!`"),
                }
            }
            TokenKind::OpenParenthesis => {
                self.advance();
                if let Some(to @ ("s64" | "u64")) = self.dot()
                    && self.kind_after() == TokenKind::CloseParenthesis
                {
                    self.advance();
                    self.advance();
                    return match self.unary(depth + 1)? {
                        Value::Integer { bits, .. } => Ok(Value::Integer { bits, signed: to == "s64" }),
                        _ => self.mismatch(token.span.start, "an integer"),
                    };
                }
                let value = self.choice(depth + 1)?;
                self.expect(TokenKind::CloseParenthesis, "`)`")?;
                Ok(value)
            }
            TokenKind::Word if self.text() == "WARP_SZ" => {
                self.advance();
                Ok(Value::Integer { bits: 32, signed: true })
            }
            TokenKind::Integer | TokenKind::Decimal => {
                let text = self.text();
                self.advance();
                let literal = number(text).or_else(|error| fault(token.span, error))?;
                Ok(Value::of_literal(literal, text))
            }
            _ => self.unexpected("a number"),
        }
    }
}

/// `signed`: whether both operands are signed; for a shift, whether the first one is.
fn of_integers(operator: Operator, a: u64, b: u64, signed: bool) -> Result<Value, SyntaxError> {
    // With the sign bit flipped, signed numbers compare as unsigned ones.
    let sign = if signed { 1 << 63 } else { 0 };
    let order = (a ^ sign).cmp(&(b ^ sign));
    let bits = match operator {
        Operator::LogicalOr => return Ok(Value::of_truth(a != 0 || b != 0)),
        Operator::LogicalAnd => return Ok(Value::of_truth(a != 0 && b != 0)),
        Operator::Equal => return Ok(Value::of_truth(order.is_eq())),
        Operator::NotEqual => return Ok(Value::of_truth(order.is_ne())),
        Operator::Less => return Ok(Value::of_truth(order.is_lt())),
        Operator::LessEqual => return Ok(Value::of_truth(order.is_le())),
        Operator::Greater => return Ok(Value::of_truth(order.is_gt())),
        Operator::GreaterEqual => return Ok(Value::of_truth(order.is_ge())),
        Operator::Or => a | b,
        Operator::Xor => a ^ b,
        Operator::And => a & b,
        // By the low bits of the amount, as in `ptxas`.
        Operator::ShiftLeft => a.wrapping_shl(b as u32),
        Operator::ShiftRight if signed => (a as i64).wrapping_shr(b as u32) as u64,
        Operator::ShiftRight => a.wrapping_shr(b as u32),
        Operator::Add => a.wrapping_add(b),
        Operator::Subtract => a.wrapping_sub(b),
        Operator::Multiply => a.wrapping_mul(b),
        Operator::Divide | Operator::Remainder if b == 0 => return Err(SyntaxError::DivisionByZero),
        Operator::Divide if signed => (a as i64).wrapping_div(b as i64) as u64,
        Operator::Divide => a / b,
        Operator::Remainder if signed => (a as i64).wrapping_rem(b as i64) as u64,
        Operator::Remainder => a % b,
    };
    Ok(Value::Integer { bits, signed })
}

/// `None` if the operator is for integers only.
fn of_floats(operator: Operator, a: f64, b: f64) -> Option<Value> {
    Some(match operator {
        Operator::Equal => Value::of_truth(a == b),
        Operator::NotEqual => Value::of_truth(a != b),
        Operator::Less => Value::of_truth(a < b),
        Operator::LessEqual => Value::of_truth(a <= b),
        Operator::Greater => Value::of_truth(a > b),
        Operator::GreaterEqual => Value::of_truth(a >= b),
        Operator::Add => Value::Double(a + b),
        Operator::Subtract => Value::Double(a - b),
        Operator::Multiply => Value::Double(a * b),
        Operator::Divide => Value::Double(a / b),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::constant::tests::value;

    fn integer(text: &str) -> Option<i64> {
        match value(text)? {
            Constant::Integer(bits) => Some(bits as i64),
            _ => None,
        }
    }

    #[test]
    fn the_precedence_is_that_of_c() {
        assert_eq!(integer("1 + 2 * 3"), Some(7));
        assert_eq!(integer("(1 + 2) * 3"), Some(9));
        assert_eq!(integer("10 - 3 - 2"), Some(5));
        assert_eq!(integer("8 / 4 / 2"), Some(1));
        assert_eq!(integer("1 << 4 | 1"), Some(17));
        assert_eq!(integer("~0 & 0xF0 ^ 0x10"), Some(0xE0));
        assert_eq!(integer("5 & 3 == 3"), Some(1));
        assert_eq!(integer("1 | 2 ^ 3 & 4"), Some(3));
        assert_eq!(integer("1 < 2 << 1"), Some(1));
        assert_eq!(integer("0 && 0 || 1"), Some(1));
        assert_eq!(integer("WARP_SZ * 4"), Some(128));
    }

    #[test]
    fn a_choice_groups_to_the_right() {
        assert_eq!(integer("1 ? 2 : 3"), Some(2));
        assert_eq!(integer("0 ? 2 : 0 ? 4 : 5"), Some(5));
        assert_eq!(integer("1 ? 2 ? 3 : 4 : 5"), Some(3));
        assert_eq!(integer("1.5 < 2.5 ? 1 : 2"), Some(1));
        assert_eq!(integer("(1 ? -1 : 2) < 0"), Some(1));
        assert_eq!(integer("(1 ? -1 : 2U) < 0"), Some(0), "both are unsigned if one is");
        for text in ["1.0 ? 2 : 3", "1 ? 2.0 : 3.0", "1 ? 2", "1 ? 2 :"] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    // As `ptxas` 13.5 computes them.
    #[test]
    fn signs_decide_on_divisions_shifts_and_orders() {
        assert_eq!(integer("-7 / 2"), Some(-3));
        assert_eq!(integer("-7 % 4"), Some(-3));
        assert_eq!(integer("0xffffffffffffffff / 2"), Some(i64::MAX));
        assert_eq!(integer("(.s64) 0xffffffffffffffff / 2"), Some(0));
        assert_eq!(integer("-9223372036854775808 / -1"), Some(0));
        assert_eq!(integer("-1 >> 1"), Some(-1));
        assert_eq!(integer("-1U >> 1"), Some(i64::MAX));
        assert_eq!(integer("-1 >> 1U"), Some(-1));
        assert_eq!(integer("1 << 64"), Some(1));
        assert_eq!(integer("1 << -1"), Some(i64::MIN));
        assert_eq!(integer("-1 > 2"), Some(0));
        assert_eq!(integer("-1 > 2U"), Some(1));
        assert_eq!(integer("-1 < (.u64) 2"), Some(0));
        assert_eq!(integer("!5"), Some(0));
        assert_eq!(integer("!0"), Some(1));
        assert_eq!(integer("1 <= 1 != 2 >= 3"), Some(1));
    }

    #[test]
    fn decimals_are_computed_as_f64() {
        assert_eq!(value("1.0 / 3.0"), Some(Constant::Double(1.0 / 3.0)));
        assert_eq!(value("-(1.5 + 2.0) * 2.0 - 1.0"), Some(Constant::Double(-8.0)));
        assert_eq!(integer("1.5 == 1.5"), Some(1));
        for text in ["1.5 + 1", "1 + 2.0", "~1.0", "!1.0", "1.0 % 2.0", "1.0 & 2.0", "-0f3F800000", "0f3F800000 + 1.0"]
        {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn what_has_no_value_is_refused() {
        for text in ["1 / 0", "7 % 0", "1 +", "(1", "1 = 1", "(.s64)", "(.s64) 1.0"] {
            assert_eq!(value(text), None, "{text}");
        }
        for deep in ["(", "-", "1 ? ", "1 ? 1 : ", "!", "1 + ("] {
            assert_eq!(value(&deep.repeat(100_000)), None);
        }
    }
}
