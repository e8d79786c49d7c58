//! The rewrite itself: textual LLVM IR in, textual LLVM IR out.
//!
//! | in Rust | in rustc's IR | after the rewrite |
//! | --- | --- | --- |
//! | `#[link_section = ".shared"] static` | `global ..., section ".shared"` | `addrspace(3) externally_initialized global ... undef` |
//! | `#[link_section = ".constant"] static` | `global ..., section ".constant"` | `addrspace(4) constant ...` |
//! | `extern static __coalesce_dynamic_shared*` | `external global ...` | `external addrspace(3) global [0 x i8], align 16` |
//! | `static __coalesce_block__X_Y_Z_M__kernel` | `constant ..., section ".launch_bounds"` | attributes of `kernel` |
//! | `static __coalesce_launch_bounds__X_Y_Z_M__kernel` | the same | the same |
//! | `static __coalesce_divergent__warn__kernel`, `..allow..` | the same | none; the result says so |
//! | `static __coalesce_signature__kernel: [u8; N]` | `constant ..., section ".signature"` | none; in the result |
//! | `fn` | `define ...` | `define ... convergent`, as clang does for CUDA |
//!
//! Every use of such a variable is the token `@name` where LLVM takes a constant of type `ptr`, in
//! any instruction. It becomes the constant `addrspacecast (ptr addrspace(3) @name to ptr)`, which
//! is allowed wherever `@name` is. LLVM's own address space inference then follows the pointer to
//! the loads and stores.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

use super::called;
use super::definition::Definition;
use super::error::{CONSTANT_LIMIT, RewriteError, SHARED_LIMIT, THREAD_LIMIT};
use super::files::join_folder;
use super::lexer::{Kind, Token, tokens};
use super::names::{Names, demangle};
use super::signature::{SIGNATURE, signature};

/// The prefix of the symbol of dynamic shared memory.
const DYNAMIC_SHARED: &str = "__coalesce_dynamic_shared";

/// The prefix of the symbol of a marker for launch bounds.
const LAUNCH_BOUNDS: &str = "__coalesce_launch_bounds__";

/// The prefix of the symbol of a marker for the exact shape of the block.
const BLOCK: &str = "__coalesce_block__";

/// The prefix of the symbol of a marker for barriers in control flow that depends on the thread.
const DIVERGENT: &str = "__coalesce_divergent__";

/// The prefix of the macro that a crate has once for each kernel.
const ONLY_ONE: &str = "__coalesce_kernel__";

/// Messages of rustc about two kernels of one name, with that name in place of the marker's that
/// `#[kernel]` made.
pub fn with_kernels_name(messages: &str) -> Cow<'_, str> {
    let marker = messages.split('`').find_map(|word| Some((word, kernel_of_marker(word)?)));
    marker.map_or(messages.into(), |(marker, kernel)| messages.replace(marker, kernel).into())
}

/// The kernel to which a marker of `#[kernel]` belongs; `None` if the symbol is no marker.
fn kernel_of_marker(symbol: &str) -> Option<&str> {
    if let Some(kernel) = [SIGNATURE, ONLY_ONE].iter().find_map(|prefix| symbol.strip_prefix(prefix)) {
        return Some(kernel);
    }
    let rest = [LAUNCH_BOUNDS, BLOCK, DIVERGENT].iter().find_map(|prefix| symbol.strip_prefix(prefix))?;
    Some(rest.split_once("__")?.1)
}

/// The attribute of each function: it may contain a barrier, so no pass may make its calls depend
/// on additional conditions. LLVM removes the attribute from functions without a barrier.
const CONVERGENT: &str = "convergent";

/// Lists of symbols that must be kept although nothing refers to them.
const KEEP_LISTS: [&str; 2] = ["llvm.used", "llvm.compiler.used"];

/// An address space that Rust cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Memory that the threads of a block share, of a size known at compile time.
    Shared,
    /// Memory that the threads of a block share, of the size that the launch requests.
    DynamicShared,
    /// Memory that kernels only read, through the constant cache.
    Constant,
}

impl Space {
    /// LLVM's number for it (User Guide for NVPTX Back-end, "Address Spaces").
    const fn number(self) -> u32 {
        match self {
            Space::Shared | Space::DynamicShared => 3,
            Space::Constant => 4,
        }
    }
}

/// What to do about barriers of a kernel in control flow that depends on the thread. Without a
/// marker they are errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Divergent {
    /// Warn: the kernel is an `unsafe fn`, so its author promises what it needs.
    Warned,
    /// Nothing: the author allows them by name.
    Allowed,
}

/// A variable that the rewrite moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    /// Its name in the PTX.
    pub symbol: String,
    /// Its name in Rust.
    pub rust_name: String,
    /// Its new address space.
    pub space: Space,
}

/// The result of the rewrite.
#[derive(Debug)]
pub(crate) struct Rewritten {
    /// The module, ready for `opt`.
    pub ir: String,
    /// The kernels' names, in the order of the module.
    pub kernels: Vec<String>,
    /// The variables that were moved.
    pub variables: Vec<Variable>,
    /// What to do about the kernels' divergent barriers.
    pub divergent: HashMap<String, Divergent>,
    /// The signatures of kernels and exported statics, by their names.
    pub signatures: HashMap<String, String>,
}

/// Rewrites the module `ir`.
pub(crate) fn rewrite(ir: &str) -> Result<Rewritten, RewriteError> {
    let plan = Plan::of(ir)?;
    called::check(ir, &plan.signatures)?;
    let mut out = String::with_capacity(ir.len() + ir.len() / 8);
    for line in ir.lines() {
        match join_folder(line) {
            Some(joined) => {
                out.push_str(&joined);
                out.push('\n');
            }
            None => plan.line(line, &mut out),
        }
    }
    let Plan { kernels, variables, divergent, signatures, .. } = plan;
    Ok(Rewritten { ir: out, kernels, variables, divergent, signatures })
}

/// The changes to make, gathered in a first pass over the module.
#[derive(Default)]
struct Plan<'a> {
    /// The new definition of each variable that moves.
    definitions: HashMap<&'a str, String>,
    /// The constant that replaces each use of it.
    uses: HashMap<&'a str, String>,
    /// The symbols of the markers, which are removed.
    markers: Vec<&'a str>,
    /// The attributes that each kernel gets.
    attributes: HashMap<&'a str, String>,
    kernels: Vec<String>,
    variables: Vec<Variable>,
    divergent: HashMap<String, Divergent>,
    signatures: HashMap<String, String>,
}

impl<'a> Plan<'a> {
    fn of(ir: &'a str) -> Result<Self, RewriteError> {
        let mut plan = Plan::default();
        let mut moving = Vec::new();
        let mut names = Names::default();
        for (index, line) in ir.lines().enumerate() {
            if let Some(kernel) = kernel_name(line) {
                names.reserve(kernel);
                plan.kernels.push(kernel.to_owned());
            }
            if line.starts_with("module asm ") {
                return Err(RewriteError::GlobalAssembly);
            }
            if !line.starts_with('@') {
                continue;
            }
            let sectioned = tokens(line).any(|token| token.text == "section");
            match Definition::read(line) {
                Some(definition) => {
                    if let Some(space) = plan.classify(&definition)? {
                        moving.push((definition, space));
                    } else {
                        names.reserve(definition.name);
                    }
                }
                None if sectioned || line.contains(DYNAMIC_SHARED) => {
                    return Err(RewriteError::unexpected(index, line));
                }
                None => {}
            }
        }
        plan.check_constants(&moving)?;
        for (definition, _) in moving.iter().filter(|(definition, _)| keeps_name(definition)) {
            names.reserve(definition.name);
        }
        for (definition, space) in &moving {
            plan.place(definition, *space, &mut names);
        }
        plan.bound_kernels()?;
        Ok(plan)
    }

    /// Whether and where a variable moves. Also records markers.
    fn classify(&mut self, definition: &Definition<'a>) -> Result<Option<Space>, RewriteError> {
        let variable = || demangle(definition.name);
        match definition.section {
            Some(".shared") => {
                if !matches!(definition.initialiser, "undef" | "poison") {
                    return Err(RewriteError::SharedInitialised { variable: variable() });
                }
                if definition.bytes() > SHARED_LIMIT {
                    return Err(RewriteError::SharedTooLarge { variable: variable(), bytes: definition.bytes() });
                }
                Ok(Some(Space::Shared))
            }
            Some(".constant") => Ok(Some(Space::Constant)),
            Some(".launch_bounds") => {
                self.markers.push(definition.name);
                Ok(None)
            }
            Some(".signature") => {
                let (of, text) = signature(definition)
                    .ok_or_else(|| RewriteError::Signature { variable: definition.name.to_owned() })?;
                self.signatures.insert(of.to_owned(), text);
                self.markers.push(definition.name);
                Ok(None)
            }
            // rustc's and LLVM's own variables.
            Some("llvm.metadata" | ".debug_gdb_scripts") => Ok(None),
            Some(section) => Err(RewriteError::UnknownSection { variable: variable(), section: section.to_owned() }),
            None if definition.initialiser.is_empty() && definition.name.starts_with(DYNAMIC_SHARED) => {
                Ok(Some(Space::DynamicShared))
            }
            None => Ok(None),
        }
    }

    fn check_constants(&self, moving: &[(Definition<'_>, Space)]) -> Result<(), RewriteError> {
        let constants = moving.iter().filter(|(_, space)| *space == Space::Constant);
        let bytes = constants.map(|(definition, _)| definition.bytes()).sum();
        if bytes > CONSTANT_LIMIT { Err(RewriteError::ConstantTooLarge { bytes }) } else { Ok(()) }
    }

    /// Records the new definition and the new uses of a variable.
    fn place(&mut self, definition: &Definition<'a>, space: Space, names: &mut Names) {
        let symbol = if keeps_name(definition) { definition.name.to_owned() } else { names.give(definition.name) };
        let number = space.number();
        let value_type = definition.value_type;
        let mut line = match space {
            // Without this, LLVM drops a variable that is never written, and all that depends on
            // its value.
            Space::Shared => {
                format!("@{symbol} = internal addrspace({number}) externally_initialized global {value_type} undef")
            }
            Space::DynamicShared => format!("@{symbol} = external addrspace({number}) global [0 x i8], align 16"),
            // The host may write a visible constant before a launch, so its initial value must not
            // be relied on.
            Space::Constant if definition.visible => {
                let initialiser = definition.initialiser;
                format!("@{symbol} = addrspace({number}) externally_initialized constant {value_type} {initialiser}")
            }
            Space::Constant => {
                let initialiser = definition.initialiser;
                format!("@{symbol} = internal addrspace({number}) constant {value_type} {initialiser}")
            }
        };
        if let (Some(align), false) = (definition.align, space == Space::DynamicShared) {
            let _ = write!(line, ", align {align}");
        }
        self.definitions.insert(definition.name, line);
        let constant = format!("addrspacecast (ptr addrspace({number}) @{symbol} to ptr)");
        self.uses.insert(definition.name, constant);
        self.variables.push(Variable { symbol, rust_name: demangle(definition.name), space });
    }

    /// Turns markers into attributes of kernels (User Guide for NVPTX Back-end, "Kernel Function
    /// Attributes").
    fn bound_kernels(&mut self) -> Result<(), RewriteError> {
        for &marker in self.markers.iter().filter(|marker| !marker.starts_with(SIGNATURE)) {
            let wrong = || RewriteError::LaunchBounds { marker: marker.to_owned() };
            if let Some(rest) = marker.strip_prefix(DIVERGENT) {
                let (what, kernel) = rest.split_once("__").ok_or_else(wrong)?;
                let what = if what == "allow" { Divergent::Allowed } else { Divergent::Warned };
                self.divergent.insert(kernel.to_owned(), what);
                continue;
            }
            let exact = marker.strip_prefix(BLOCK);
            let rest = exact.or_else(|| marker.strip_prefix(LAUNCH_BOUNDS)).ok_or_else(wrong)?;
            let (numbers, kernel) = rest.split_once("__").ok_or_else(wrong)?;
            let numbers: Vec<u64> =
                numbers.split('_').map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
            let [x, y, z, blocks] = *numbers.as_slice() else { return Err(wrong()) };
            let product = [x, y, z].iter().try_fold(1_u64, |all, &extent| all.checked_mul(extent));
            if !product.is_some_and(|threads| (1..=THREAD_LIMIT).contains(&threads)) {
                return Err(wrong());
            }
            if !self.kernels.iter().any(|name| name == kernel) {
                return Err(RewriteError::LaunchBoundsWithoutKernel { kernel: kernel.to_owned() });
            }
            let name = if exact.is_some() { "nvvm.reqntid" } else { "nvvm.maxntid" };
            let mut attributes = format!("\"{name}\"=\"{x},{y},{z}\"");
            if blocks > 0 {
                let _ = write!(attributes, " \"nvvm.minctasm\"=\"{blocks}\"");
            }
            self.attributes.insert(kernel, attributes);
        }
        Ok(())
    }

    /// Rewrites one line.
    fn line(&self, line: &str, out: &mut String) {
        if line.starts_with('@')
            && let Some(name) = tokens(line).next().and_then(|token| token.name())
        {
            if self.markers.contains(&name) {
                return;
            }
            if let Some(definition) = self.definitions.get(name) {
                // A constant's initial value may contain the address of another variable that
                // moves.
                self.replace_uses(definition, out, name);
                out.push('\n');
                return;
            }
            if KEEP_LISTS.contains(&name) && !self.markers.is_empty() {
                self.keep_list(line, name, out);
                return;
            }
        }
        if line.starts_with("define ") {
            let bounds = kernel_name(line).and_then(|kernel| self.attributes.get(kernel));
            let attributes = bounds.map_or(CONVERGENT.to_owned(), |bounds| format!("{CONVERGENT} {bounds}"));
            with_attributes(line, &attributes, out);
        } else {
            self.replace_uses(line, out, "");
        }
        out.push('\n');
    }

    /// Writes `line` with each use of a moved variable replaced, except the one that the line
    /// defines.
    fn replace_uses(&self, line: &str, out: &mut String, defined: &str) {
        for token in tokens(line) {
            match token.name().filter(|name| *name != defined).and_then(|name| self.uses.get(name)) {
                Some(constant) => out.push_str(constant),
                None => out.push_str(token.text),
            }
        }
    }

    /// Writes a list of symbols that must be kept, without the markers.
    fn keep_list(&self, line: &str, list: &str, out: &mut String) {
        let kept: Vec<String> = tokens(line)
            .skip(1)
            .filter_map(|token| token.name())
            .filter(|name| !self.markers.contains(name))
            .map(|name| format!("ptr {}", self.uses.get(name).cloned().unwrap_or_else(|| format!("@\"{name}\""))))
            .collect();
        if !kept.is_empty() {
            let (count, items) = (kept.len(), kept.join(", "));
            let _ = writeln!(out, "@{list} = appending global [{count} x ptr] [{items}], section \"llvm.metadata\"");
        }
    }
}

/// Whether the host must find the variable by its name in the source.
fn keeps_name(definition: &Definition<'_>) -> bool {
    definition.initialiser.is_empty() || (definition.visible && definition.section == Some(".constant"))
}

/// The name of the kernel whose body begins on this line.
fn kernel_name(line: &str) -> Option<&str> {
    let is_kernel = line.starts_with("define ") && tokens(line).any(|token| token.text == "ptx_kernel");
    if is_kernel { tokens(line).find_map(|token| token.name()) } else { None }
}

/// Writes a function's first line with `attributes` inserted where function attributes begin: after
/// the parameters and `unnamed_addr`.
pub(crate) fn with_attributes(line: &str, attributes: &str, out: &mut String) {
    let (mut depth, mut seen_name, mut behind_parameters, mut written) = (0_usize, false, false, false);
    for Token { kind, text } in tokens(line) {
        if behind_parameters && !written && kind != Kind::Space && !text.ends_with("unnamed_addr") {
            out.push_str(attributes);
            out.push(' ');
            written = true;
        }
        out.push_str(text);
        seen_name |= kind == Kind::Global;
        match text {
            "(" => depth += 1,
            ")" => {
                depth = depth.saturating_sub(1);
                behind_parameters |= depth == 0 && seen_name;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "rewrite_tests.rs"]
mod tests;
