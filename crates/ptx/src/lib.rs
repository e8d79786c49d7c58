//! PTX text to a typed module: lexer, parser, checks.
//!
//! PTX is the assembly language that compilers for NVIDIA GPUs emit. This crate reads it. It runs
//! nothing and knows nothing of files, devices or terminals. Everything starts with [`parse`],
//! which `host` calls, or with [`Pieces`], for some of the kernels of a long text. `simt` executes
//! the result.
//!
//! ```
//! let text = "
//! .version 7.8
//! .target sm_75
//! .address_size 64
//! .visible .entry k() {
//!     ret;
//! }";
//! let module = ptx::parse("k.ptx", text).unwrap();
//! let (_, kernel) = module.kernels().next().unwrap();
//! assert_eq!(kernel.name, "k");
//!
//! let errors = ptx::parse("k.ptx", &text.replace("ret", "frobnicate")).unwrap_err();
//! assert_eq!(errors.first().line, 6);
//! ```
//!
//! # The representation
//!
//! A [`Module`] holds everything in arenas, and its parts name each other by typed [`Handle`]s:
//!
//! - [`Variable`]s of every state space: the module's `.global`, `.const` and `.shared` ones, a
//!   function's `.local` and `.shared` ones, parameters, and the `.param` variables through which
//!   calls pass values.
//! - [`Function`]s: kernels and device functions. A function has typed virtual [`Register`]s and a
//!   body, a flat list of [`Instruction`]s; labels are gone, a branch names the position that it
//!   goes to. Nested `{ }` scopes are gone too: every name is resolved.
//! - An [`Instruction`] is a guard, an [`Op`] and where it came from: its [`Span`] in the text, and
//!   the [`Location`] in the source program that `.loc` gave, with the chain of calls that it was
//!   inlined through.
//!
//! What PTX can express in several ways has one form: `lo` on an unsigned comparison is
//! [`Comparison::Less`], the modifiers of arithmetic are one [`Mode`], vectors are lists of
//! operands.
//!
//! # From text to module
//!
//! `syntax` splits the text into tokens, which never fails, and an instruction into opcode,
//! modifiers and operands; its tables say which version and target an instruction needs by its
//! name. `typing` gives these their meaning: **a new PTX instruction is an arm of the table in
//! `typing/mod.rs`, a row or a function in the family that the arm names, and a row of
//! `syntax/opcodes.rs`**; a new kind of operation is also a variant of [`Op`] or of one
//! of its families. `environment` holds the names in scope and the module as far as it has been
//! read. `parser` is above them: it reads declarations and bodies, and hands each instruction on.
//!
//! `print` is the way back: an [`Op`] implements `Display` as PTX, and [`Instruction::in_function`]
//! with names. The words of PTX are declared once, with the enums of `ir`, for both ways.
//!
//! # Errors
//!
//! [`parse`] continues after an error and returns all errors as [`Errors`], each with its [`Span`],
//! line, column and the text of the instruction. Unsupported instructions are errors, too. Nothing
//! is skipped, and no input makes it panic. A [`Module`] that it returns is consistent: every
//! handle belongs to the module's own arenas, branches stay within the body, operands have the kind
//! and width that their operation requires, and calls match their callees.
#![forbid(unsafe_code)]

mod arena;
mod environment;
mod errors;
mod ir;
mod parser;
mod passing;
mod pieces;
mod print;
mod syntax;
mod typing;

pub use arena::{Arena, Handle};
pub use errors::{
    DeclarationError, Error, Errors, InstructionError, NameError, NameKind, OperandError, Problem, SyntaxError,
};
pub use ir::*;
pub use parser::parse;
pub use pieces::Pieces;

/// The README, whose example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
