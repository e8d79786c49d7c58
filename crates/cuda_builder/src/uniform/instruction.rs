//! Parses one instruction of textual LLVM IR.

use crate::ir::{Kind, Token, tokens};

/// An instruction.
#[derive(Debug)]
pub(super) struct Instruction<'a> {
    pub text: &'a str,
    /// `load`, `call`, `br`; `parameter` for a parameter.
    pub operation: &'a str,
    pub result: Option<&'a str>,
    pub block: usize,
    /// The local values it uses, with their `%`.
    pub operands: Vec<&'a str>,
    /// For a `phi`: each value, with the label and the index of the block that it comes from.
    pub incoming: Vec<(&'a str, &'a str, usize)>,
    /// The number of its debug location.
    pub location: Option<u32>,
}

impl<'a> Instruction<'a> {
    /// The function that it calls by name.
    pub fn callee(&self) -> Option<&'a str> {
        if self.operation != "call" {
            return None;
        }
        let mut tokens = tokens(self.text).peekable();
        while let Some(token) = tokens.next() {
            if token.name().is_some() && tokens.peek().is_some_and(|next| next.text == "(") {
                return token.name();
            }
        }
        None
    }

    /// The text of the inline assembly that it is.
    pub fn assembly(&self) -> Option<&'a str> {
        if self.operation != "call" {
            return None;
        }
        let mut tokens = tokens(self.text).skip_while(|token| token.text != "asm");
        tokens.find(|token| token.kind == Kind::String).map(|token| token.text)
    }

    /// Whether inline assembly has this instruction, or one whose name begins so if it ends with a
    /// dot.
    pub fn assembles(&self, mnemonic: &str) -> bool {
        let words = |text: &'a str| text.split(|c: char| c.is_whitespace() || ";{}\"".contains(c));
        // A line end is written `\0A`.
        self.assembly().is_some_and(|text| {
            text.split("\\0A")
                .flat_map(words)
                .any(|word| word == mnemonic || (mnemonic.ends_with('.') && word.starts_with(mnemonic)))
        })
    }

    /// Whether this ends the thread.
    pub fn ends_thread(&self) -> bool {
        self.assembles("exit") || self.callee() == Some("llvm.nvvm.exit")
    }
}

impl<'a> Instruction<'a> {
    pub fn read(text: &'a str, block: usize) -> Self {
        let (result, rest) = match text.split_once(" = ") {
            Some((result, rest)) if result.starts_with('%') => (Some(result), rest),
            _ => (None, text),
        };
        let mut words = rest.split_whitespace();
        let mut operation = words.next().unwrap_or("").trim_end_matches(',');
        if matches!(operation, "tail" | "musttail" | "notail") {
            operation = words.next().unwrap_or("");
        }
        let all: Vec<Token<'a>> = tokens(rest).filter(|token| token.kind != Kind::Space).collect();
        let mut operands = Vec::new();
        let mut location = None;
        for (index, token) in all.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| all[before].text);
            if before == Some("!dbg") {
                location = token.text.strip_prefix('!').and_then(|number| number.parse().ok());
            } else if is_local(token) && before != Some("label") {
                operands.push(token.text);
            }
        }
        let incoming = if operation == "phi" { incoming(&all) } else { Vec::new() };
        if operation == "phi" {
            operands = incoming.iter().map(|&(value, ..)| value).filter(|value| value.starts_with('%')).collect();
        }
        Instruction { text, operation, result, block, operands, incoming, location }
    }
}

/// The pairs `[ value, %block ]` of a phi. A value of several tokens is the text of its first.
fn incoming<'a>(tokens: &[Token<'a>]) -> Vec<(&'a str, &'a str, usize)> {
    let mut pairs = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        // Types have brackets too; only a pair ends with `, %block ]`.
        if let [.., comma, block, close] = &tokens[..=index]
            && (comma.text, close.text) == (",", "]")
            && is_local(block)
            && let Some(open) = opening(&tokens[..=index])
        {
            pairs.push((value(&tokens[open + 1..index - 2]), block.text, 0));
        }
        index += 1;
    }
    pairs
}

/// The index of the bracket that the last token closes.
fn opening(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().rev() {
        match token.text {
            "]" => depth += 1,
            "[" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(index);
        }
    }
    None
}

/// A value's text. Constants of several tokens all differ from each other: their text is that of no
/// value.
fn value<'a>(tokens: &[Token<'a>]) -> &'a str {
    match tokens {
        [single] => single.text,
        _ => "",
    }
}

pub(super) fn is_local(token: &Token<'_>) -> bool {
    token.kind == Kind::Word && token.text.starts_with('%') && token.text.len() > 1
}

/// The labels that a statement names.
pub(super) fn targets(text: &str) -> Vec<&str> {
    let mut targets = Vec::new();
    let mut words = tokens(text).filter(|token| token.kind != Kind::Space).peekable();
    while let Some(word) = words.next() {
        if word.text == "label"
            && let Some(target) = words.peek()
        {
            targets.push(target.text.trim_start_matches('%'));
        }
    }
    targets
}
