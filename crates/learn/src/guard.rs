//! Reads a student's file with rustc's own lexer, and refuses what no exercise needs: access to
//! files, the environment or other modules, assembly, and attributes for the linker.
//! [`crate::judge`] calls it before it compiles anything.
//!
//! The guard is no protection, since a macro can build what its rules look for: the
//! [sandbox] protects. The guard explains common mistakes in one line, and never
//! passes text that is not Rust to the compiler.
//!
//! *Invariant:* a text that does not consist of Rust's tokens, with brackets in pairs, is never
//! compiled.

use exercise::SOURCE;
use ra_ap_rustc_lexer::{FrontmatterAllowed, LiteralKind, TokenKind, strip_shebang, tokenize};
use rustc_literal_escaper::{Mode, check_for_errors};

/// Names that only reach the machine or a linker, and why they are refused.
const REFUSED: &[(&[&str], &str)] = &[
    (&["include_str", "include_bytes"], FILES),
    (&["option_env"], ENVIRONMENT),
    (&["asm", "global_asm", "naked_asm"], "inline assembly is not needed here: use what cuda_std has"),
    (&["link_name", "link_section", "link_args", "export_name", "no_mangle"], LINKER),
    (&["allow_internal_unstable", "rustc_const_unstable"], UNSTABLE),
    (&["proc_macro", "concat_idents"], "a kernel brings no macros that run code"),
];

/// Names that are refused as macros, and are fine elsewhere.
const MACROS: &[(&str, &str)] = &[("include", FILES), ("env", ENVIRONMENT)];

/// Names that are refused in attributes, and are fine elsewhere.
const ATTRIBUTES: &[(&str, &str)] =
    &[("path", "a kernel is one file"), ("link", LINKER), ("feature", UNSTABLE), ("debugger_visualizer", FILES)];

const FILES: &str = "a kernel may not read files";
const ENVIRONMENT: &str = "a kernel may not read the environment";
const LINKER: &str = "a kernel needs no names for a linker";
const UNSTABLE: &str = "unstable features are not needed here";

/// The deepest nesting of brackets, below rustc's own limit.
const DEEPEST: usize = 200;

/// The maximum length of a file in bytes.
pub const LONGEST: usize = 1 << 18;

/// Why a text is not compiled.
#[derive(Debug, PartialEq, Eq)]
pub enum Objection {
    /// It has something that a submission may not have: a sentence with the line.
    Refused(String),
    /// It is not Rust: a message like rustc's.
    NotRust(String),
}

/// A token, and where it begins.
#[derive(Clone, Copy)]
struct Token<'a> {
    kind: TokenKind,
    text: &'a str,
    line: usize,
    column: usize,
}

/// Names that host code may not have, either: what reaches the system past `cust`.
const REFUSED_ON_HOST: &[(&[&str], &str)] = &[
    (&["fs", "os", "net", "process", "libc", "syscall"], "host code needs nothing of the system but memory and `cust`"),
    (&["transmute", "transmute_copy"], "a change of types is not needed here"),
    (&["extern", "naked"], LINKER),
];

/// Checks whether the text of host code may be compiled.
///
/// # Errors
///
/// The first objection.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "host code runs on Linux alone"))]
pub fn check_host(text: &str) -> Result<(), Objection> {
    check(text)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    for token in tokens(&text)? {
        let is_name = matches!(token.kind, TokenKind::Ident | TokenKind::RawIdent);
        let refused = REFUSED_ON_HOST.iter().find(|(names, _)| is_name && names.contains(&token.name()));
        if let Some((_, why)) = refused {
            return Err(token.refused(token.name(), why));
        }
    }
    Ok(())
}

/// Checks whether a text may be compiled.
///
/// # Errors
///
/// The first objection.
pub fn check(text: &str) -> Result<(), Objection> {
    if text.len() > LONGEST {
        return Err(Objection::Refused(format!("the file has {} bytes, and {LONGEST} are allowed", text.len())));
    }
    // As rustc does when it reads a file.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    if strip_shebang(&text).is_some() {
        return Err(Objection::Refused("line 1: `#!` without `[`: a kernel is not a script".to_owned()));
    }
    let tokens = tokens(&text)?;
    brackets(&tokens)?;
    names(&tokens)
}

/// The lines with `unsafe`, of a text that was checked. With a kernel, those in other kernels do
/// not count, as long as they keep what is unsafe to themselves: they have no items, give no macro
/// an `unsafe`, which could make one of it, and nothing else in the file has their names. What is
/// no kernel could be marked as one, by another attribute of that name, but could not be called
/// then.
pub fn unsafe_lines(text: &str, kernel: Option<&str>) -> Vec<u32> {
    // What an item within a kernel has, the rest of the file can use.
    const ITEMS: [&str; 7] = ["impl", "macro_rules", "macro", "fn", "trait", "mod", "extern"];
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let Ok(tokens) = tokens(&text) else { return Vec::new() };
    let mut others: Vec<std::ops::Range<usize>> = Vec::new();
    let opens =
        |token: &Token<'_>| matches!(token.kind, TokenKind::OpenBrace | TokenKind::OpenBracket | TokenKind::OpenParen);
    let closes = |token: &Token<'_>| {
        matches!(token.kind, TokenKind::CloseBrace | TokenKind::CloseBracket | TokenKind::CloseParen)
    };
    let is_elsewhere = |name: &str| tokens.iter().filter(|token| token.name() == name).count() > 1;
    let (mut depth, mut begin) = (0, None);
    for (index, token) in tokens.iter().enumerate() {
        let is = |ahead: usize, text: &str| tokens.get(index + ahead).is_some_and(|token| token.text == text);
        if depth == 0 && is(0, "#") && is(1, "[") && is(2, "kernel") {
            begin = Some(None);
        }
        if let (0, true, Some(name @ None)) = (depth, is(0, "fn"), &mut begin) {
            *name = tokens.get(index + 1).map(|token| (index, token.name()));
        }
        depth = depth + usize::from(opens(token)) - usize::from(closes(token));
        // The end of a function's body, which its parameters are not.
        if let (0, TokenKind::CloseBrace, Some(Some((function, name)))) = (depth, token.kind, begin) {
            begin = None;
            let body = &tokens[function + 1..index];
            let has_items = body.iter().any(|token| ITEMS.contains(&token.text)) || gives_macros_unsafe(body);
            if kernel.is_some_and(|kernel| kernel != name) && !has_items && !is_elsewhere(name) {
                // `unsafe` may stand before `fn`.
                others.push(function - 1..index);
            }
        }
    }
    let counts = |(index, token): &(usize, &Token<'_>)| {
        token.text == "unsafe" && !others.iter().any(|other| other.contains(index))
    };
    tokens.iter().enumerate().filter(counts).map(|(_, token)| token.line as u32).collect()
}

/// Whether `unsafe` stands in the brackets of a macro, in a text whose brackets are in pairs.
fn gives_macros_unsafe(tokens: &[Token<'_>]) -> bool {
    // Behind these, `!` is no macro's.
    const BEFORE_NOT: [&str; 7] = ["if", "while", "match", "return", "in", "else", "break"];
    // For each open bracket, whether it or one around it is a macro's.
    let mut within: Vec<bool> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::OpenBrace | TokenKind::OpenBracket | TokenKind::OpenParen => {
                let is_macros = match &tokens[..index] {
                    [.., name, not] => {
                        not.kind == TokenKind::Bang
                            && matches!(name.kind, TokenKind::Ident | TokenKind::RawIdent)
                            && !BEFORE_NOT.contains(&name.text)
                    }
                    _ => false,
                };
                within.push(is_macros || within.last() == Some(&true));
            }
            TokenKind::CloseBrace | TokenKind::CloseBracket | TokenKind::CloseParen => _ = within.pop(),
            _ if token.text == "unsafe" && within.last() == Some(&true) => return true,
            _ => {}
        }
    }
    false
}

/// The tokens but for whitespace and comments.
fn tokens(text: &str) -> Result<Vec<Token<'_>>, Objection> {
    let mut tokens = Vec::new();
    let (mut rest, mut line, mut column) = (text, 1, 1);
    for token in tokenize(text, FrontmatterAllowed::Yes) {
        let (text, after) = rest.split_at(token.len as usize);
        let token = Token { kind: token.kind, text, line, column };
        if let Some(problem) = malformed(&token) {
            return Err(token.is_not_rust(problem));
        }
        // A doc comment is a token: an attribute in other words.
        let blank = TokenKind::Whitespace == token.kind
            || matches!(
                token.kind,
                TokenKind::LineComment { doc_style: None } | TokenKind::BlockComment { doc_style: None, .. }
            );
        if !blank {
            tokens.push(token);
        }
        line += text.matches('\n').count();
        column = match text.rsplit_once('\n') {
            Some((_, last)) => 1 + last.chars().count(),
            None => column + text.chars().count(),
        };
        rest = after;
    }
    Ok(tokens)
}

/// What is wrong with a token.
fn malformed(token: &Token<'_>) -> Option<String> {
    let text = token.text;
    let problem = match token.kind {
        TokenKind::Unknown => return Some(format!("unknown start of token: {}", text.escape_debug())),
        TokenKind::InvalidIdent => return Some(format!("`{text}` is no name: it has a symbol in it")),
        TokenKind::BlockComment { terminated: false, .. } => "this comment has no end",
        TokenKind::Frontmatter { .. } => "a kernel has no frontmatter",
        TokenKind::UnknownPrefix | TokenKind::UnknownPrefixLifetime => {
            return Some(format!("prefix `{text}` is unknown"));
        }
        TokenKind::ForcedKeywordIdent | TokenKind::GuardedStrPrefix => return Some(format!("`{text}` is reserved")),
        TokenKind::Lifetime { starts_with_number: true } => "lifetimes cannot start with a number",
        TokenKind::Literal { kind, suffix_start } => return malformed_literal(kind, text, suffix_start as usize),
        _ => return None,
    };
    Some(problem.to_owned())
}

fn malformed_literal(kind: LiteralKind, text: &str, suffix: usize) -> Option<String> {
    let (mode, open) = match kind {
        LiteralKind::Int { empty_int: true, .. } => return Some("this number has no digits".to_owned()),
        LiteralKind::Float { empty_exponent: true, .. } => return Some("this exponent has no digits".to_owned()),
        LiteralKind::Int { .. } | LiteralKind::Float { .. } => return None,
        LiteralKind::Char { terminated } => (Mode::Char, terminated.then_some(1)),
        LiteralKind::Byte { terminated } => (Mode::Byte, terminated.then_some(2)),
        LiteralKind::Str { terminated } => (Mode::Str, terminated.then_some(1)),
        LiteralKind::ByteStr { terminated } => (Mode::ByteStr, terminated.then_some(2)),
        LiteralKind::CStr { terminated } => (Mode::CStr, terminated.then_some(2)),
        LiteralKind::RawStr { n_hashes } => (Mode::RawStr, n_hashes.map(|hashes| 2 + usize::from(hashes))),
        LiteralKind::RawByteStr { n_hashes } => (Mode::RawByteStr, n_hashes.map(|hashes| 3 + usize::from(hashes))),
        LiteralKind::RawCStr { n_hashes } => (Mode::RawCStr, n_hashes.map(|hashes| 3 + usize::from(hashes))),
    };
    let Some(open) = open else { return Some("this literal has no end".to_owned()) };
    // Behind it there are a quote and as many hashes as before it.
    let hashes = text[..open].matches('#').count();
    let inner = &text[open..suffix - 1 - hashes];
    let mut problem = None;
    check_for_errors(inner, mode, |range, error| {
        if error.is_fatal() && problem.is_none() {
            problem = Some(format!("this literal is wrong at `{}`: {error:?}", inner[range].escape_debug()));
        }
    });
    problem
}

/// Checks that brackets come in pairs, and not too deep.
fn brackets(tokens: &[Token<'_>]) -> Result<(), Objection> {
    use TokenKind::{CloseBrace, CloseBracket, CloseParen, OpenBrace, OpenBracket, OpenParen};
    let mut open: Vec<&Token<'_>> = Vec::new();
    for token in tokens {
        let opened = match token.kind {
            OpenBrace | OpenBracket | OpenParen => {
                open.push(token);
                if open.len() > DEEPEST {
                    return Err(Objection::Refused(format!("brackets are nested more than {DEEPEST} deep")));
                }
                continue;
            }
            CloseBrace => OpenBrace,
            CloseBracket => OpenBracket,
            CloseParen => OpenParen,
            _ => continue,
        };
        match open.pop() {
            Some(last) if last.kind == opened => {}
            Some(last) => {
                let problem = format!("`{}` closes the `{}` of line {}", token.text, last.text, last.line);
                return Err(token.is_not_rust(problem));
            }
            None => return Err(token.is_not_rust(format!("unexpected closing delimiter: `{}`", token.text))),
        }
    }
    match open.last() {
        Some(last) => Err(last.is_not_rust(format!("unclosed delimiter: nothing closes this `{}`", last.text))),
        None => Ok(()),
    }
}

/// Looks for what is refused.
fn names(tokens: &[Token<'_>]) -> Result<(), Objection> {
    // The depths of brackets at which attributes began.
    let (mut depth, mut attribute) = (0, None);
    for (index, token) in tokens.iter().enumerate() {
        let next = |ahead: usize| tokens.get(index + ahead);
        let kind = |ahead: usize| next(ahead).map(|token| token.kind);
        match token.kind {
            TokenKind::OpenBrace | TokenKind::OpenBracket | TokenKind::OpenParen => depth += 1,
            TokenKind::CloseBrace | TokenKind::CloseBracket | TokenKind::CloseParen => {
                depth -= 1;
                attribute = attribute.filter(|&outside| depth > outside);
            }
            TokenKind::Pound => match (kind(1), kind(2)) {
                (Some(TokenKind::OpenBracket), _) | (Some(TokenKind::Bang), Some(TokenKind::OpenBracket)) => {
                    attribute = attribute.or(Some(depth));
                }
                (Some(TokenKind::Bang), _) => return Err(token.refused("#!", "without `[`, it is for scripts")),
                _ => {}
            },
            // `${concat(...)}` makes names that are not in the text.
            TokenKind::Dollar if kind(1) == Some(TokenKind::OpenBrace) => {
                return Err(token.refused("${", UNSTABLE));
            }
            TokenKind::Ident | TokenKind::RawIdent => {
                let name = token.name();
                let within =
                    |list: &[(&str, &'static str)]| list.iter().find(|(known, _)| *known == name).map(|(_, why)| *why);
                let anywhere = REFUSED.iter().find(|(names, _)| names.contains(&name)).map(|(_, why)| *why);
                let of_core = || matches!(&tokens[..index], [.., krate, one, two] if one.text == ":" && two.text == ":" && ["core", "std"].contains(&krate.name()));
                let as_macro = || {
                    within(MACROS)
                        .filter(|_| kind(1) == Some(TokenKind::Bang) && kind(2) != Some(TokenKind::Eq) || of_core())
                };
                let in_attribute = || within(ATTRIBUTES).filter(|_| attribute.is_some());
                if let Some(why) = anywhere.or_else(as_macro).or_else(in_attribute) {
                    return Err(token.refused(name, why));
                }
                if name == "mod" && kind(2) == Some(TokenKind::Semi) {
                    let module = next(1).map_or("", |token| token.text);
                    return Err(token.refused(&format!("mod {module};"), "a kernel is one file"));
                }
                if name == "extern" && next(1).is_some_and(|krate| krate.name() == "crate") {
                    return Err(token.refused("extern crate", "a kernel has cuda_std and core, and needs no more"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

impl Token<'_> {
    /// A name, without the mark of raw ones.
    fn name(&self) -> &str {
        self.text.strip_prefix("r#").unwrap_or(self.text)
    }

    fn refused(&self, what: &str, why: &str) -> Objection {
        Objection::Refused(format!("line {}: `{what}`: {why}", self.line))
    }

    fn is_not_rust(&self, problem: String) -> Objection {
        Objection::NotRust(format!("error: {problem}\n --> {SOURCE}:{}:{}", self.line, self.column))
    }
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
