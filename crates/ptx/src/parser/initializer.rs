//! Initial values of `.global` and `.const` variables, and the state of `.samplerref`s. Moves the
//! cursor and returns the value; the module is only read.

use super::shape::{LARGEST, Shape};
use super::state::Parser;
use crate::environment::Entity;
use crate::errors::{DeclarationError, NameError, NameKind, Parsed, SyntaxError, fault};
use crate::syntax::constant::{Constant, natural};
use crate::syntax::cursor::Word;
use crate::syntax::lexer::TokenKind;
use crate::syntax::versions;
use crate::{InitialAddress, Initializer, Kind, SamplerAddressMode, SamplerState, Span, Symbol, Type};

/// Braces nested deeper than this are rejected.
const DEPTH: usize = 16;

impl<'t> Parser<'t> {
    /// The value after `=`. A first dimension `[]` gets the length that the values need.
    pub(super) fn initializer(
        &mut self,
        shape: &Shape,
        dimensions: &mut [Option<u64>],
        name: Word<'t>,
    ) -> Parsed<Initializer> {
        let mut values = Initializer::default();
        let is_open = dimensions.first() == Some(&None);
        let lengths: Vec<u64> = dimensions.iter().map(|length| length.unwrap_or(1)).collect();
        let element = u64::from(shape.ty.bytes()) * u64::from(shape.vector);
        let bytes_from =
            |level: usize| lengths[level..].iter().fold(element, |bytes, &length| bytes.saturating_mul(length));
        // The bytes that each level of braces can hold, from the whole variable to a scalar.
        let mut levels: Vec<u64> = (0..=lengths.len()).map(bytes_from).collect();
        if levels[0] > LARGEST {
            return fault(name.span, DeclarationError::TooLarge(name.text.to_owned()));
        }
        if is_open {
            levels[0] = u64::MAX;
        }
        if shape.vector > 1 {
            levels.push(u64::from(shape.ty.bytes()));
        }
        self.values(shape.ty, &levels, name, &mut values, 0)?;
        if is_open {
            dimensions[0] = Some((values.bytes.len() as u64).div_ceil(levels[1].max(1)));
        }
        Ok(values)
    }

    /// `{ addr_mode_0 = wrap, filter_mode = linear, force_unnormalized_coords = 1 }`
    pub(super) fn sampler_state(&mut self) -> Parsed<Initializer> {
        let mut state = SamplerState::default();
        self.cursor.expect(TokenKind::OpenBrace, "`{`")?;
        loop {
            let field = self.cursor.word("a field such as `filter_mode`")?;
            self.cursor.expect(TokenKind::Equal, "`=`")?;
            let value = self.cursor.peek();
            let text = self.cursor.text();
            self.cursor.advance();
            let mode = match text {
                "wrap" => Some(SamplerAddressMode::Wrap),
                "mirror" => Some(SamplerAddressMode::Mirror),
                "clamp_ogl" | "clamp_to_edge" => Some(SamplerAddressMode::ClampToEdge),
                "clamp_to_border" => Some(SamplerAddressMode::ClampToBorder),
                _ => None,
            };
            match (field.text, mode, text) {
                ("addr_mode_0", Some(mode), _) => state.address_modes[0] = mode,
                ("addr_mode_1", Some(mode), _) => state.address_modes[1] = mode,
                ("addr_mode_2", Some(mode), _) => state.address_modes[2] = mode,
                ("filter_mode", _, "nearest" | "linear") => state.linear = text == "linear",
                ("force_unnormalized_coords", _, "0" | "1") => state.unnormalized = text == "1",
                _ => {
                    let found = format!("`{} = {text}`", field.text);
                    let span = Span { start: field.span.start, end: value.span.end };
                    return fault(
                        span,
                        SyntaxError::Unexpected { expected: "a field of a sampler and its value", found },
                    );
                }
            }
            if !self.cursor.accept(TokenKind::Comma) {
                break;
            }
        }
        self.cursor.expect(TokenKind::CloseBrace, "`,` or `}`")?;
        Ok(Initializer { sampler: Some(state), ..Initializer::default() })
    }

    /// One value, or a list of them in braces, which fills `levels[0]` bytes at most.
    fn values(
        &mut self,
        ty: Type,
        levels: &[u64],
        name: Word<'t>,
        values: &mut Initializer,
        depth: usize,
    ) -> Parsed<()> {
        let too_long = || fault(name.span, DeclarationError::InitializerTooLong(name.text.to_owned()));
        let start = values.bytes.len() as u64;
        let capacity = levels[0];
        if self.cursor.kind() == TokenKind::OpenBrace {
            if depth >= DEPTH {
                return fault(self.cursor.peek().span, SyntaxError::TooDeep(DEPTH));
            }
            self.cursor.advance();
            let inner = if levels.len() > 1 { &levels[1..] } else { levels };
            if self.cursor.accept(TokenKind::CloseBrace) {
                return Ok(());
            }
            loop {
                let before = values.bytes.len() as u64;
                let nested = self.cursor.kind() == TokenKind::OpenBrace;
                self.values(ty, inner, name, values, depth + 1)?;
                if values.bytes.len() as u64 - start > capacity {
                    return too_long();
                }
                let more = self.cursor.accept(TokenKind::Comma);
                if nested && more {
                    let filled = before.saturating_add(inner[0]);
                    if filled - start > capacity {
                        return too_long();
                    }
                    let padding = filled.saturating_sub(values.bytes.len() as u64);
                    self.environment.spend(padding, name.span)?;
                    values.bytes.resize(filled as usize, 0);
                }
                if !more {
                    break;
                }
            }
            self.cursor.expect(TokenKind::CloseBrace, "`,` or `}`")?;
            return Ok(());
        }
        self.value(ty, values)?;
        if values.bytes.len() as u64 - start > capacity { too_long() } else { Ok(()) }
    }

    /// One value: a number, a string of bytes, or an address.
    fn value(&mut self, ty: Type, values: &mut Initializer) -> Parsed<()> {
        let span = self.cursor.peek().span;
        if self.cursor.kind() == TokenKind::String {
            if ty.bytes() != 1 {
                return fault(span, DeclarationError::BadInitializer { ty, found: "a string" });
            }
            self.cursor.advance();
            values.bytes.extend(self.cursor.text_of(span).trim_matches('"').bytes());
            return Ok(());
        }
        let mask = self.cursor.kind() == TokenKind::Integer && self.cursor.kind_after() == TokenKind::OpenParenthesis;
        if mask || self.cursor.kind() == TokenKind::Word && self.cursor.text() != "WARP_SZ" {
            return self.address(ty, mask, values);
        }
        let (bits, found) = match self.cursor.constant()? {
            Constant::Integer(value) => (Some(value).filter(|_| ty.kind() != Kind::Float), "an integer"),
            Constant::Single(bits) => (
                match ty {
                    Type::F32 | Type::B32 => Some(u64::from(bits)),
                    Type::F64 => Some(f64::from(f32::from_bits(bits)).to_bits()),
                    _ => None,
                },
                "an f32",
            ),
            Constant::Double(value) => (
                match ty {
                    Type::F64 | Type::B64 => Some(value.to_bits()),
                    Type::F32 => Some(u64::from((value as f32).to_bits())),
                    _ => None,
                },
                "a float",
            ),
        };
        let Some(bits) = bits else { return fault(span, DeclarationError::BadInitializer { ty, found }) };
        let wide = u128::from(bits).to_le_bytes();
        values.bytes.extend(&wide[..ty.bytes() as usize]);
        Ok(())
    }

    /// `symbol+4`, `generic(symbol)+4`, `0xFF00(symbol)`.
    fn address(&mut self, ty: Type, masked: bool, values: &mut Initializer) -> Parsed<()> {
        let start = self.cursor.start();
        let mut mask = u64::MAX;
        let mut parentheses = 0;
        if masked {
            let token = self.cursor.advance();
            let text = self.cursor.text_of(token.span);
            mask = natural(text).or_else(|error| fault(token.span, error))?;
            let missing = versions::missing_mask(self.environment.module.version);
            self.report_missing(missing, || format!("{text}(...)"), token.span);
            self.cursor.expect(TokenKind::OpenParenthesis, "`(`")?;
            parentheses += 1;
        }
        let mut symbol = self.cursor.word("a symbol")?;
        let generic = symbol.text == "generic" && self.cursor.kind() == TokenKind::OpenParenthesis;
        if generic {
            self.cursor.advance();
            symbol = self.cursor.word("a symbol")?;
            self.cursor.expect(TokenKind::CloseParenthesis, "`)`")?;
        }
        let mut addend = self.addend()?;
        for _ in 0..parentheses {
            self.cursor.expect(TokenKind::CloseParenthesis, "`)`")?;
            addend = addend.wrapping_add(self.addend()?);
        }
        let span = self.cursor.span_from(start);
        let shift = mask.trailing_zeros();
        let width = ty.bytes();
        let selects_bytes = mask == u64::MAX && width == 8
            || masked && shift % 8 == 0 && mask.checked_shr(shift) == Some(u64::MAX >> (64 - 8 * width.min(8)));
        if !selects_bytes || !matches!(ty.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed) {
            return fault(span, DeclarationError::BadInitializer { ty, found: "an address" });
        }
        let symbol = match self.environment.lookup(symbol.text, symbol.span)? {
            Entity::Variable(variable) => Symbol::Variable(variable),
            Entity::Function(function) => Symbol::Function(function),
            other => {
                let (expected, found) = (NameKind::Variable, other.kind());
                return fault(symbol.span, NameError::WrongKind { name: symbol.text.into(), expected, found });
            }
        };
        let offset = values.bytes.len() as u64;
        values.addresses.push(InitialAddress { offset, width, symbol, generic, addend, shift });
        values.bytes.resize(values.bytes.len() + width as usize, 0);
        Ok(())
    }

    fn addend(&mut self) -> Parsed<i64> {
        match self.cursor.kind() {
            TokenKind::Plus | TokenKind::Minus => Ok(self.cursor.integer()? as i64),
            _ => Ok(0),
        }
    }
}
