//! Checks the finished PTX: shared variables are only reached by `.shared` accesses, none is read
//! that no kernel writes, and every called function is defined.
//!
//! LLVM's address space inference can fail: a pointer that sometimes points to a shared variable
//! and sometimes to global memory, or that is stored in memory, stays generic. The program would be
//! right but slow, which is not acceptable in coursework about memory. So the check follows each
//! function's registers from `cvta.shared`, which converts a shared address to a generic one (PTX
//! ISA, "cvta"), to the uses of such addresses.
//!
//! A shared variable that is read and never written is a mistake for certain: every value in it is
//! left over from another block. The rewrite declares shared memory as initialised by others, so
//! LLVM keeps such loads instead of dropping all that follows from them. Whatever is not plainly a
//! load or arithmetic on the address counts as a write, so that no correct kernel is refused; and a
//! variable that is only declared is not there any more.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::ir::{Space, Variable, demangle};

/// Functions that the driver provides (CUDA C++ Programming Guide, "Formatted Output", "Dynamic
/// Global Memory Allocation", "Assertion").
const PROVIDED: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// The state spaces of accesses (PTX ISA, "State Spaces").
const SPACES: [&str; 6] = ["shared", "global", "local", "const", "param", "tex"];

/// Operations that only compute, with addresses, too: no memory changes.
const VALUE_OPERATIONS: [&str; 26] = [
    "abs", "add", "and", "bfe", "bfi", "cvt", "cvta", "isspacep", "lop3", "mad", "max", "min", "mov", "mul", "neg",
    "not", "or", "prmt", "rem", "selp", "set", "setp", "shf", "shl", "shr", "sub",
];

/// Why the PTX fails the check.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// An access to a shared variable goes through a generic address.
    #[error(
        "{place}: kernel `{kernel}` reaches shared variable `{variable}` through a generic address (`{instruction}`), which \
         is slow: index the variable itself here, with no pointer that could also point elsewhere"
    )]
    GenericAccess {
        /// The Rust file and line.
        place: String,
        /// The kernel or function.
        kernel: String,
        /// The variable's Rust name.
        variable: String,
        /// The instruction.
        instruction: String,
    },
    /// The address of a shared variable leaves the function that knows what it points to.
    #[error(
        "{place}: kernel `{kernel}` lets the address of shared variable `{variable}` out as a generic one (`{instruction}`), and \
         accesses through it are slow: mark the function that takes it `#[inline(always)]`, and keep no pointer to it in \
         memory"
    )]
    AddressEscapes {
        /// The Rust file and line.
        place: String,
        /// The kernel or function.
        kernel: String,
        /// The variable's Rust name.
        variable: String,
        /// The instruction.
        instruction: String,
    },
    /// A static holds the address of a shared variable.
    #[error(
        "static `{holder}` holds the address of shared variable `{variable}`, and each block has its own: take the address in \
         the kernel"
    )]
    AddressInStatic {
        /// The static that holds it, as the PTX names it.
        holder: String,
        /// The variable's Rust name.
        variable: String,
    },
    /// A shared variable is read, and no kernel writes it.
    #[error(
        "{place}: kernel `{kernel}` reads shared variable `{variable}`, which no kernel writes: its contents are undefined; write \
         each element first, with a barrier before another thread reads it"
    )]
    NeverWritten {
        /// The Rust file and line.
        place: String,
        /// The kernel or function.
        kernel: String,
        /// The variable's Rust name.
        variable: String,
    },
    /// A called function is not defined.
    #[error(
        "kernels call `{function}`, which no GPU code defines: use another function, or one of `cuda_std` or `libm`"
    )]
    Unresolved {
        /// The function's name.
        function: String,
    },
}

/// Checks `ptx`, in which `variables` were moved to their address spaces.
pub(crate) fn check(ptx: &str, variables: &[Variable]) -> Result<(), CheckError> {
    let shared: Vec<&Variable> = variables.iter().filter(|variable| variable.space != Space::Constant).collect();
    let mut files = HashMap::new();
    let mut function: Option<Function<'_>> = None;
    let mut depth = 0_usize;
    let mut place = None;
    let mut uses = Uses::default();
    for line in ptx.lines() {
        let code = line.split("//").next().unwrap_or("").trim();
        let directive = code.split_whitespace().next().unwrap_or("");
        if directive == ".file" {
            let mut words = code.split_whitespace().skip(1);
            if let (Some(number), Some(path)) = (words.next(), words.next()) {
                files.insert(number, path.trim_matches('"'));
            }
        } else if directive == ".loc" {
            place = read_place(code, &files);
        } else if code.starts_with(".extern .func") {
            unresolved(code)?;
        } else if depth == 0
            && let Some(name) = function_name(code)
        {
            function = Some(Function { name, statements: Vec::new() });
            place = None;
        } else if let Some(body) = &mut function {
            // The parameters, then the body, which may contain the blocks of inline assembly.
            depth = (depth + code.matches('{').count()).saturating_sub(code.matches('}').count());
            let statements = code.split(';').map(without_block).filter(|text| !text.is_empty());
            body.statements.extend(statements.filter_map(|text| Statement::read(text, place.clone())));
            if depth == 0 && code.ends_with('}') {
                body.check(&shared, &mut uses)?;
            }
            if depth == 0 && code.ends_with(['}', ';']) {
                function = None;
            }
        } else if let Some((declared, value)) = code.split_once('=') {
            static_with_address(declared, value, &shared)?;
        }
    }
    uses.check(&shared)
}

/// How the functions use the shared variables, by their indices.
#[derive(Default)]
struct Uses {
    /// The first load of each: the place and the kernel.
    loads: BTreeMap<usize, (String, String)>,
    /// Those that may be written.
    written: BTreeSet<usize>,
}

impl Uses {
    /// Fails if a variable is read and never written.
    fn check(&self, shared: &[&Variable]) -> Result<(), CheckError> {
        // Dynamic shared memory is one variable for all kernels, and has no name in Rust.
        let is_static = |index: &usize| shared[*index].space == Space::Shared;
        let unwritten = |index: &usize| is_static(index) && !self.written.contains(index);
        let found = self.loads.iter().find(|(index, _)| unwritten(index));
        found.map_or(Ok(()), |(&index, (place, kernel))| {
            let (place, kernel, variable) = (place.clone(), kernel.clone(), shared[index].rust_name.clone());
            Err(CheckError::NeverWritten { place, kernel, variable })
        })
    }
}

/// The name of the function whose first line this is.
fn function_name(code: &str) -> Option<&str> {
    let rest = code.split_once(".entry ").or_else(|| code.split_once(".func "))?.1.trim();
    // A function that returns a value names it first, in brackets.
    let rest = if rest.starts_with('(') { rest.split_once(')')?.1.trim() } else { rest };
    rest.split('(').next().map(str::trim).filter(|name| !name.is_empty())
}

fn unresolved(code: &str) -> Result<(), CheckError> {
    match function_name(code) {
        Some(name) if !PROVIDED.contains(&name) => Err(CheckError::Unresolved { function: demangle(name) }),
        _ => Ok(()),
    }
}

fn static_with_address(declared: &str, value: &str, shared: &[&Variable]) -> Result<(), CheckError> {
    let held = shared.iter().find(|variable| identifiers(value).any(|word| word == variable.symbol));
    held.map_or(Ok(()), |variable| {
        let holder = declared.split_whitespace().next_back().unwrap_or(declared);
        let holder = holder.split('[').next().unwrap_or(holder).to_owned();
        Err(CheckError::AddressInStatic { holder, variable: variable.rust_name.clone() })
    })
}

fn read_place(location: &str, files: &HashMap<&str, &str>) -> Option<String> {
    let mut words = location.split_whitespace().skip(1);
    let file = files.get(words.next()?)?;
    Some(format!("{file}:{}", words.next()?))
}

/// The statement without the braces of a block that begins before it or ends after it, as in inline
/// assembly.
fn without_block(text: &str) -> &str {
    let mut text = text.trim_start_matches(['{', '}', ' ', '\t']).trim_end();
    let unmatched = text.matches('}').count().saturating_sub(text.matches('{').count());
    for _ in 0..unmatched {
        text = text.strip_suffix('}').unwrap_or(text).trim_end();
    }
    text
}

/// The identifiers in a text, registers included.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%'))).filter(|word| !word.is_empty())
}

/// One instruction.
struct Statement<'a> {
    text: &'a str,
    /// `ld.global.b32`, split at the dots.
    opcode: Vec<&'a str>,
    /// The parts between commas.
    operands: Vec<&'a str>,
    place: Option<String>,
}

impl<'a> Statement<'a> {
    fn read(text: &'a str, place: Option<String>) -> Option<Self> {
        let unguarded = if text.starts_with('@') { text.split_once(char::is_whitespace)?.1.trim() } else { text };
        let (opcode, operands) = unguarded.split_once(char::is_whitespace).unwrap_or((unguarded, ""));
        let opcode: Vec<_> = opcode.split('.').collect();
        let is_instruction = opcode[0].starts_with(|c: char| c.is_ascii_lowercase());
        is_instruction.then(|| Statement { text, opcode, operands: split_operands(operands), place })
    }

    /// Whether it accesses memory.
    fn is_access(&self) -> bool {
        matches!(self.opcode[0], "ld" | "ldu" | "st" | "atom" | "red" | "prefetch")
    }

    fn has(&self, modifier: &str) -> bool {
        self.opcode[1..].iter().any(|part| part.split("::").next() == Some(modifier))
    }

    fn is_generic(&self) -> bool {
        !SPACES.iter().any(|space| self.has(space))
    }

    /// The operand in brackets.
    fn address(&self) -> Option<&'a str> {
        self.operands.iter().copied().find(|operand| operand.starts_with('['))
    }
}

/// Splits at commas outside brackets.
fn split_operands(text: &str) -> Vec<&str> {
    let (mut operands, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (index, c) in text.char_indices() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                operands.push(text[start..index].trim());
                start = index + 1;
            }
            _ => {}
        }
    }
    operands.push(text[start..].trim());
    operands.retain(|operand| !operand.is_empty());
    operands
}

/// A function's body.
struct Function<'a> {
    name: &'a str,
    statements: Vec<Statement<'a>>,
}

/// The addresses of variables (by index) that a register may hold, as shared addresses and as
/// generic ones.
#[derive(Default, Clone, PartialEq)]
struct Addresses {
    shared: BTreeSet<usize>,
    generic: BTreeSet<usize>,
}

impl Function<'_> {
    fn check(&self, shared: &[&Variable], uses: &mut Uses) -> Result<(), CheckError> {
        if shared.is_empty() {
            return Ok(());
        }
        let registers = self.follow(shared);
        self.note_uses(shared, &registers, uses);
        let generic = |operand: &str| {
            identifiers(operand).filter_map(|word| registers.get(word)).find_map(|held| held.generic.first().copied())
        };
        let named =
            |operand: &str| shared.iter().position(|variable| identifiers(operand).any(|word| word == variable.symbol));
        for statement in self.statements.iter().filter(|statement| statement.is_access()) {
            let address = statement.address();
            if statement.is_generic()
                && let Some(index) = address.and_then(|address| generic(address).or_else(|| named(address)))
            {
                let (place, kernel, variable, instruction) = self.blame(statement, shared[index]);
                return Err(CheckError::GenericAccess { place, kernel, variable, instruction });
            }
            let values = statement.operands.iter().filter(|operand| Some(**operand) != address);
            if statement.opcode[0] == "st"
                && let Some(index) = values.into_iter().find_map(|value| generic(value))
            {
                let (place, kernel, variable, instruction) = self.blame(statement, shared[index]);
                return Err(CheckError::AddressEscapes { place, kernel, variable, instruction });
            }
        }
        Ok(())
    }

    /// Adds this function's loads and writes of the variables.
    fn note_uses(&self, shared: &[&Variable], registers: &HashMap<&str, Addresses>, uses: &mut Uses) {
        for statement in &self.statements {
            if VALUE_OPERATIONS.contains(&statement.opcode[0]) {
                continue;
            }
            let held = statement.operands.iter().flat_map(|operand| identifiers(operand)).flat_map(|word| {
                let named = shared.iter().position(|variable| variable.symbol == word);
                let held = registers.get(word).into_iter().flat_map(|held| held.shared.iter().chain(&held.generic));
                held.copied().chain(named)
            });
            for index in held {
                if matches!(statement.opcode[0], "ld" | "ldu") {
                    let (place, kernel, ..) = self.blame(statement, shared[index]);
                    uses.loads.entry(index).or_insert((place, kernel));
                } else {
                    uses.written.insert(index);
                }
            }
        }
    }

    fn blame(&self, statement: &Statement<'_>, variable: &Variable) -> (String, String, String, String) {
        let instruction = statement.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let place = statement.place.clone().unwrap_or_else(|| "unknown line".to_owned());
        (place, demangle(self.name), variable.rust_name.clone(), instruction)
    }

    /// What each register may hold: the union over all its assignments in the function.
    fn follow(&self, shared: &[&Variable]) -> HashMap<&str, Addresses> {
        let symbols: HashMap<&str, usize> =
            shared.iter().enumerate().map(|(index, variable)| (variable.symbol.as_str(), index)).collect();
        let mut registers: HashMap<&str, Addresses> = HashMap::new();
        loop {
            let mut changed = false;
            for statement in self.statements.iter().filter(|statement| !statement.is_access()) {
                let Some((destination, sources)) = statement.operands.split_first() else { continue };
                let mut held = Addresses::default();
                for word in sources.iter().flat_map(|source| identifiers(source)) {
                    if let Some(&index) = symbols.get(word) {
                        held.shared.insert(index);
                    }
                    if let Some(known) = registers.get(word) {
                        held.shared.extend(&known.shared);
                        held.generic.extend(&known.generic);
                    }
                }
                match statement.opcode.as_slice() {
                    ["cvta", "to", "shared", ..] => held.shared.append(&mut held.generic),
                    ["cvta", "shared", ..] => held.generic.append(&mut held.shared),
                    // A comparison's result is not an address.
                    ["setp" | "set" | "isspacep", ..] => continue,
                    _ => {}
                }
                // Registers of inline assembly have no `%`.
                let is_register =
                    |word: &&str| !word.starts_with(|c: char| c.is_ascii_digit()) && !symbols.contains_key(*word);
                for register in identifiers(destination).filter(is_register) {
                    let known = registers.entry(register).or_default();
                    let before = known.clone();
                    known.shared.extend(&held.shared);
                    known.generic.extend(&held.generic);
                    changed |= *known != before;
                }
            }
            if !changed {
                return registers;
            }
        }
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
