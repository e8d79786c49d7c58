//! The parser: tokens to a module. [`parse`] reads a whole text, [`parse_parts`] the parts that
//! `pieces` chooses.
//!
//! It reads in one pass. Declarations are read here; an instruction is read in two steps.
//! [`syntax`](crate::syntax) splits it into opcode, modifiers and operands without knowing any
//! opcode, and [`typing`](crate::typing) gives these a meaning; neither knows of this folder.
//! Labels may be used before they are declared, so branches get their positions at the end of the
//! function. An error in a statement is recorded, and reading continues after that statement.
//!
//! [`state::Parser`] is what all files work on. `module` reads the whole text with `function`, that
//! with `body`, and both with `variable` and `shape`; calls go in this direction only.

mod alias;
mod body;
mod debug;
mod function;
mod initializer;
mod module;
mod parameters;
mod shape;
mod state;
mod variable;

use crate::errors::{Error, Errors, Problem, SyntaxError};
use crate::{LineTable, Module, Span};
use state::Parser;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

/// Parses a PTX text. `name` is what messages call it, usually a path.
///
/// The text must be complete: `.version` and `.target` first, everything declared before its use.
/// On failure, all errors are returned, up to [`Errors::LIMIT`].
pub fn parse(name: &str, text: &str) -> Result<Module, Errors> {
    let whole = 0..text.len();
    let text = Arc::from(text);
    parse_parts(name, &text, &Arc::new(LineTable::new(text.clone())), slice::from_ref(&whole))
}

/// Parses these parts of a text, in this order. The text has these lines.
pub(crate) fn parse_parts(
    name: &str,
    text: &Arc<str>,
    lines: &Arc<LineTable>,
    parts: &[Range<usize>],
) -> Result<Module, Errors> {
    if u32::try_from(text.len()).is_err() {
        let problem = Problem::Syntax(SyntaxError::TextTooLong);
        let error = Error { problem, span: Span::default(), line: 1, column: 1, statement: String::new() };
        return Err(Errors::new(name, "", vec![error], true));
    }
    let mut parser = Parser::new(name, text, lines, parts);
    parser.module();
    if parser.errors.is_empty() {
        return Ok(parser.environment.module);
    }
    let complete = parser.errors.len() < Errors::LIMIT;
    Err(Errors::new(name, text, parser.errors, complete))
}
