//! The launches of an open exercise: lines of the student's file of kernels, which are read as data.
//!
//! ```text
//! //@ launch transpose: grid = ["ceil(cols / 32)", "ceil(rows / 32)"], block = [32, 8]
//! //@ launch sum: grid = "4 * multiprocessors", block = 256, shared = "4 * block.x"
//! ```
//!
//! Each line is one launch, in this order, with the parameters that the exercise gives all kernels.
//! `grid`, `block` and `shared` are as in `goals.toml` ([`crate::goals_file::Launch`]); expressions
//! also know `multiprocessors`, those of the GPU whose times are predicted. What is commented out or
//! in a string launches nothing.

use ra_ap_rustc_lexer::{FrontmatterAllowed, TokenKind, tokenize};
use serde::Deserialize;

use crate::files::Exercise;
use crate::goals_file::{Extents, Launch, Open};
use goals::expression::Expression;

/// How a line for the judge begins.
const MARK: &str = "//@";

/// What such a line is to look like.
const FORM: &str = "//@ launch KERNEL: grid = ..., block = ...";

/// What is after the kernel's name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    grid: Extents,
    block: Extents,
    shared: Option<Expression>,
}

impl Exercise {
    /// An open exercise with the launches that a student's file asks for, on a GPU of so many
    /// multiprocessors.
    ///
    /// # Errors
    ///
    /// A sentence with the number of the line that cannot be read.
    pub fn with_launches(&self, text: &str, multiprocessors: u32) -> Result<Self, String> {
        let Some(open) = &self.goals.open else { return Ok(self.clone()) };
        let mut exercise = self.clone();
        exercise.goals.launch.clear();
        exercise.goals.open = Some(Open { multiprocessors, ..open.clone() });
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (line, rest) in marked(text) {
            let launch = launch(rest, open, line).map_err(|problem| format!("line {line}: {problem}"))?;
            if exercise.goals.launch.len() == open.launches {
                let most = if open.launches == 1 { "one launch" } else { &format!("{} launches", open.launches) };
                return Err(format!("line {line}: this exercise has at most {most}"));
            }
            exercise.goals.launch.push(launch);
        }
        match exercise.goals.launch.is_empty() {
            true => Err(format!("this file launches no kernel: write a line `{FORM}`")),
            false => Ok(exercise),
        }
    }
}

/// The lines for the judge: their numbers, and what is after the mark.
fn marked(text: &str) -> Vec<(u32, &str)> {
    let (mut all, mut start, mut line) = (Vec::new(), 0, 1);
    for token in tokenize(text, FrontmatterAllowed::No) {
        let (before, own) = (&text[..start], &text[start..start + token.len as usize]);
        let is_first = || before.trim_end_matches([' ', '\t']).chars().next_back().is_none_or(|last| last == '\n');
        if let (TokenKind::LineComment { .. }, Some(rest)) = (token.kind, own.strip_prefix(MARK))
            && is_first()
        {
            all.push((line, rest));
        }
        start += own.len();
        line += own.matches('\n').count() as u32;
    }
    all
}

/// What a line asks for, without its mark.
fn launch(rest: &str, open: &Open, line: u32) -> Result<Launch, String> {
    let parts = rest.trim().strip_prefix("launch ").and_then(|rest| rest.split_once(':'));
    let (kernel, rest) = parts.ok_or_else(|| format!("write it as `{FORM}`"))?;
    let kernel = kernel.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if kernel.is_empty() || !kernel.chars().all(is_name) {
        return Err(format!("'{}' is no kernel's name; write the line as `{FORM}`", wording::printable(kernel)));
    }
    let read = toml::from_str::<toml::Table>(&format!("launch = {{ {rest} }}"));
    let read = read.and_then(|mut table| match table.remove("launch") {
        Some(launch) if table.is_empty() => launch.try_into::<Written>(),
        _ => Err(serde::de::Error::custom(format!("write it as `{FORM}`"))),
    });
    let Written { grid, block, shared } = read.map_err(|error| wording::one_line(error.message()))?;
    let arguments = open.arguments.clone();
    Ok(Launch { kernel: kernel.to_owned(), grid, block, shared, arguments, optional: false, line: Some(line) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn exercise() -> Exercise {
        let goals = "title = \"a\"\ntask = \"open\"\nminutes = 1\n[open]\narguments = [\"input\", \"n\"]\nlaunches = 2\n\
                     bytes = \"4 * n\"\ngrades = { passed = 2.0 }\n";
        Exercise { name: "a".to_owned(), folder: PathBuf::new(), goals: toml::from_str(goals).unwrap() }
    }

    #[test]
    fn each_line_is_a_launch() {
        let text = "//! A\n//@ launch a: grid = [\"ceil(n / 32)\", 2], block = 32, shared = \"4 * block.x\"\n  \
                    //@ launch b_2: grid = \"multiprocessors\", block = [32, 8]\r\n// //@ launch c\nfn a() {} //@ launch d\n\
                    /* /* */\n//@ launch e\n*/\nconst A: &str = \"\n//@ launch f\n\";\n";
        let exercise = exercise().with_launches(text, 132).unwrap();
        let launches = &exercise.goals.launch;
        let names: Vec<_> = launches.iter().map(|it| (it.kernel.as_str(), it.line, it.arguments.len())).collect();
        assert_eq!(names, [("a", Some(2), 2), ("b_2", Some(3), 2)]);
        assert_eq!((launches[0].grid.0.len(), launches[1].block.0.len()), (2, 2));
        assert_eq!(exercise.goals.open.unwrap().multiprocessors, 132);
    }

    #[test]
    fn what_cannot_be_read_is_said_in_one_line_with_its_number() {
        let many = "//@ launch a: grid = 1, block = 1\n".repeat(3);
        let long = format!("//@ launch a: grid = {}, block = 1", "[".repeat(5000));
        for (text, expected) in [
            ("fn a() {}", "this file launches no kernel: write a line `//@ launch KERNEL: grid"),
            ("\n//@", "line 2: write it as `//@ launch KERNEL: grid"),
            ("//@ run a: grid = 1, block = 1", "line 1: write it as"),
            ("//@ launch a grid = 1, block = 1", "line 1: write it as"),
            ("//@ launch : grid = 1, block = 1", "line 1: '' is no kernel's name"),
            ("//@ launch a b: grid = 1, block = 1", "line 1: 'a b' is no kernel's name"),
            ("//@ launch a: grid = 1", "line 1: missing field `block`"),
            ("//@ launch a: grid = 1, block = 1, stream = 2", "line 1: unknown field `stream`"),
            ("//@ launch a: grid = [1, 1, 1, 1], block = 1", "line 1: a grid and a block have one to three extents"),
            ("/*\n*/ /* a\n */\n//@", "line 4: write it as"),
            ("/*\n//@ launch a: grid = 1, block = 1\n*/", "this file launches no kernel"),
            (
                "//@ launch a: grid = true, block = 1",
                "line 1: a grid or a block must be a number, an expression in quotes, or a list of up to three",
            ),
            ("//@ launch a: grid = [[1]], block = 1", "line 1: a grid or a block must be a number"),
            ("//@ launch a: grid = 1, block = []", "line 1: a grid and a block have one to three extents"),
            ("//@ launch a: grid = \"ceil(n\", block = 1", "line 1: 'ceil(n': "),
            ("//@ launch a: grid = [1, \"m +\"], block = 1", "line 1: 'm +': "),
            ("//@ launch a: grid = 1, block = 1 }, b = { ", "line 1: "),
            ("//@ launch a: grid = 1 block", "line 1: "),
            (many.as_str(), "line 3: this exercise has at most 2 launches"),
            (long.as_str(), "line 1: "),
        ] {
            let problem = exercise().with_launches(text, 1).unwrap_err();
            assert!(problem.starts_with(expected) && problem.lines().count() == 1, "{text}: {problem}");
        }
    }
}
