//! What can be wrong with a PTX text, and where.
//!
//! There is one enum for each concern, in a file of its own; [`Problem`] is any of them. Each
//! message says what is wrong. [`Problem::help`] says what to do about it, unless the message
//! already does. Inside the crate an error travels as a [`Fault`], a problem and its span; the
//! parser turns faults into [`Error`]s, which have line, column and the text of the statement.
//! Everything here is plain data.

mod declaration;
mod instruction;
mod name;
mod operand;
mod syntax;

pub use declaration::DeclarationError;
pub use instruction::InstructionError;
pub use name::{NameError, NameKind};
pub use operand::OperandError;
pub(crate) use operand::counted;
pub use syntax::SyntaxError;

use crate::Span;
use std::fmt;

/// What is wrong at one position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // each is documented at its enum
#[error("{}", shortened(.0))]
pub enum Problem {
    Syntax(#[from] SyntaxError),
    Declaration(#[from] DeclarationError),
    Name(#[from] NameError),
    Instruction(#[from] InstructionError),
    Operand(#[from] OperandError),
}

/// A message cut to a readable length: a name in it may be as long as the text.
fn shortened(message: &impl fmt::Display) -> String {
    const LONGEST: usize = 500;
    let text = message.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

impl Problem {
    /// What to do about it, if that is known.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Problem::Syntax(error) => error.help(),
            Problem::Declaration(error) => error.help(),
            Problem::Name(error) => error.help(),
            Problem::Instruction(error) => error.help(),
            Problem::Operand(error) => error.help(),
        };
        help.map(|help| shortened(&help))
    }
}

/// A problem and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub problem: Problem,
    /// The bytes of the text that are wrong.
    pub span: Span,
    /// Line of the first of them, from 1.
    pub line: u32,
    /// Column of the first of them in characters, from 1.
    pub column: u32,
    /// The text of the instruction or declaration around it, on one line, shortened if it is long.
    pub statement: String,
}

impl fmt::Display for Error {
    /// `line:column: message, in "statement"`, on one line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.line, self.column, self.described())
    }
}

impl Error {
    /// `message, in "statement"`: all but the position.
    pub fn described(&self) -> String {
        match self.statement.as_str() {
            "" => self.problem.to_string(),
            statement => format!("{}, in \"{statement}\"", self.problem),
        }
    }
}

impl std::error::Error for Error {}

/// All errors in a text, in the order of the text; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors {
    name: String,
    text: String,
    errors: Vec<Error>,
    complete: bool,
}

impl Errors {
    /// The most errors that are kept.
    pub const LIMIT: usize = 100;

    /// `errors` must not be empty.
    pub(crate) fn new(name: &str, text: &str, mut errors: Vec<Error>, complete: bool) -> Self {
        debug_assert!(!errors.is_empty());
        errors.sort_by_key(|error| error.span.start);
        Self { name: name.to_owned(), text: text.to_owned(), errors, complete }
    }

    /// The name under which the text was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The first error.
    pub fn first(&self) -> &Error {
        &self.errors[0]
    }

    /// The errors, in the order of the text.
    pub fn iter(&self) -> std::slice::Iter<'_, Error> {
        self.errors.iter()
    }

    /// Whether these are all errors; if not, reading stopped at [`Errors::LIMIT`].
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}

impl fmt::Display for Errors {
    /// A line for each error, `name:line:column: message, in "statement"`; no newline at the end.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            if index > 0 {
                writeln!(formatter)?;
            }
            write!(formatter, "{}:{error}", self.name)?;
        }
        if !self.complete {
            write!(formatter, "\n{}: reading stopped after {} errors", self.name, self.errors.len())?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

impl<'a> IntoIterator for &'a Errors {
    type Item = &'a Error;
    type IntoIter = std::slice::Iter<'a, Error>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A problem and its span, before it becomes an [`Error`].
#[derive(Debug)]
pub(crate) struct Fault {
    pub problem: Problem,
    pub span: Span,
}

/// The result of parsing something; boxed, because faults are rare and results many.
pub(crate) type Parsed<T> = Result<T, Box<Fault>>;

/// A fault at a span.
pub(crate) fn fault<T>(span: Span, problem: impl Into<Problem>) -> Parsed<T> {
    Err(Box::new(Fault { problem: problem.into(), span }))
}
