//! Parses the functions of a module of textual LLVM IR: blocks, instructions and their operands.
//!
//! Only what the analysis needs is parsed. An unknown instruction keeps its name and its operands,
//! and a name that is not defined is taken for thread-dependent, so an unknown form is never an
//! excuse.

use std::collections::HashMap;

use super::instruction::{Instruction, is_local, targets};
use crate::ir::tokens;

/// A function with a body.
#[derive(Debug)]
pub(super) struct Function<'a> {
    pub name: &'a str,
    pub is_kernel: bool,
    /// Whether each row of its blocks is a number of warps, by their declared shape.
    pub has_rows_of_warps: bool,
    /// The instructions of all blocks, in order. Parameters come first, as instructions without
    /// operands.
    pub instructions: Vec<Instruction<'a>>,
    /// The first block is the entry.
    pub blocks: Vec<Block>,
    /// The instruction that defines each name.
    pub defined: HashMap<&'a str, usize>,
}

/// A block: a range of instructions, of which the last one is the terminator.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub instructions: std::ops::Range<usize>,
    pub successors: Vec<usize>,
    /// Whether a thread can end here.
    pub is_exit: bool,
}

/// The texts of the functions of the module that have a body.
pub(super) fn bodies(ir: &str) -> impl Iterator<Item = &str> {
    let mut rest = ir;
    std::iter::from_fn(move || {
        let start = if rest.starts_with("define ") { 0 } else { rest.find("\ndefine ")? + 1 };
        let body = &rest[start..];
        let length = body.find("\n}").map_or(body.len(), |end| end + 1);
        rest = &body[length..];
        Some(&body[..length])
    })
}

/// Whether the function of this text is a kernel.
pub(super) fn is_kernel(body: &str) -> bool {
    body.lines().next().is_some_and(|head| tokens(head).any(|token| token.text == "ptx_kernel"))
}

impl<'a> Function<'a> {
    pub fn read(text: &'a str) -> Option<Self> {
        let head = text.lines().next()?;
        let name = tokens(head).find_map(|token| token.name())?;
        let is_kernel = is_kernel(text);
        let mut function = Function {
            name,
            is_kernel,
            has_rows_of_warps: false,
            instructions: Vec::new(),
            blocks: Vec::new(),
            defined: HashMap::new(),
        };
        function.parameters(head);
        function.body(text, head.len() + 1);
        Some(function)
    }

    /// Reads the instructions from byte `at` on, and joins the blocks.
    fn body(&mut self, text: &'a str, mut at: usize) {
        let mut names: HashMap<&str, usize> = HashMap::new();
        let mut labels: Vec<Vec<&str>> = Vec::new();
        let mut start = self.instructions.len();
        while at < text.len() {
            let line = statement(&text[at..]);
            at += line.len() + 1;
            let trimmed = line.trim();
            if let Some(label) = label(line) {
                names.insert(label, self.blocks.len());
            } else if !trimmed.is_empty() && !trimmed.starts_with([';', '#']) {
                let instruction = Instruction::read(trimmed, self.blocks.len());
                if let Some(result) = instruction.result {
                    self.defined.insert(result, self.instructions.len());
                }
                let targets = targets(trimmed);
                let ends = is_terminator(instruction.operation) || !targets.is_empty();
                self.instructions.push(instruction);
                if ends {
                    labels.push(targets);
                    let instructions = start..self.instructions.len();
                    start = instructions.end;
                    self.blocks.push(Block { instructions, ..Block::default() });
                }
            }
        }
        // Text that ends within a block is no function of LLVM's.
        self.instructions.truncate(start);
        self.defined.retain(|_, index| *index < start);
        names.retain(|_, block| *block < self.blocks.len());
        for (block, targets) in self.blocks.iter_mut().zip(labels) {
            let instructions = &self.instructions[block.instructions.clone()];
            let ends_thread = instructions.iter().any(Instruction::ends_thread);
            let terminator = instructions.last().map_or("", |last| last.operation);
            // A launch ends where it traps. Other unreachable code is never reached.
            block.is_exit = ends_thread || !matches!(terminator, "br" | "switch" | "unreachable");
            if !ends_thread {
                block.successors = targets.iter().filter_map(|target| names.get(target).copied()).collect();
                block.successors.sort_unstable();
                block.successors.dedup();
            }
        }
        for (_, label, from) in self.instructions.iter_mut().flat_map(|phi| &mut phi.incoming) {
            // Only an entry has no label; nothing jumps there, but phis may come from it.
            *from = names.get(label.trim_start_matches('%')).copied().unwrap_or(0);
        }
    }

    /// Adds the parameters as instructions, so that they have an index as other values have.
    fn parameters(&mut self, head: &'a str) {
        // Attributes of the result have brackets too, so the list begins behind the name.
        let Some(open) = head.find('@').and_then(|name| Some(name + head[name..].find('(')?)) else { return };
        let mut depth = 0_usize;
        let mut start = open + 1;
        let mut at = open;
        for token in tokens(&head[open..]) {
            match token.text {
                "(" | "[" | "{" | "<" => depth += 1,
                ")" | "]" | "}" | ">" => depth = depth.saturating_sub(1),
                _ => {}
            }
            let ends = depth == 0 || (depth == 1 && token.text == ",");
            if ends {
                self.parameter(&head[start..at]);
                start = at + 1;
            }
            at += token.text.len();
            if depth == 0 {
                return;
            }
        }
    }

    fn parameter(&mut self, text: &'a str) {
        let Some(name) = tokens(text).filter(|token| is_local(token)).last() else { return };
        self.defined.insert(name.text, self.instructions.len());
        self.instructions.push(Instruction {
            text,
            operation: "parameter",
            result: Some(name.text),
            block: 0,
            operands: Vec::new(),
            incoming: Vec::new(),
            location: None,
        });
    }
}

fn is_terminator(operation: &str) -> bool {
    matches!(operation, "ret" | "br" | "switch" | "unreachable" | "indirectbr" | "invoke" | "callbr" | "resume")
}

/// The statement at the start of `text`: a line, or several if a `switch` begins there.
fn statement(text: &str) -> &str {
    let line = text.lines().next().unwrap_or("");
    if !line.trim_end().ends_with('[') || !line.trim_start().starts_with("switch ") {
        return text.find('\n').map_or(text, |end| &text[..end]);
    }
    let close = text.find("\n  ]").map_or(text.len(), |close| close + 1);
    text[close..].find('\n').map_or(text, |end| &text[..close + end])
}

/// The label that a line is.
fn label(line: &str) -> Option<&str> {
    if line.starts_with([' ', '\t', ';', '}']) {
        return None;
    }
    let end = match line.strip_prefix('"') {
        Some(quoted) => quoted.find('"')? + 2,
        None => line.find(':')?,
    };
    line[end..].starts_with(':').then(|| &line[..end])
}
