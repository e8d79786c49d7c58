//! PTX as it is written: tokens, constants, operands and statements, without a meaning.
//!
//! A [`Cursor`](cursor::Cursor) moves over the tokens of [`lexer`]; [`expression`], [`operands`]
//! and [`statement`] give it a method for each thing to read, each file using those before it. The
//! tables [`opcodes`], [`targets`], [`versions`] and [`unsupported`] know instructions by their
//! names. *Invariant:* nothing here knows the module, a scope or an operation: `typing` and
//! `parser` are above.

pub(crate) mod constant;
pub(crate) mod cursor;
mod expression;
pub(crate) mod lexer;
pub(crate) mod opcodes;
pub(crate) mod operands;
pub(crate) mod statement;
pub(crate) mod targets;
mod unsupported;
pub(crate) mod versions;
