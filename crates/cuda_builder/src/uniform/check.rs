//! The check: barriers and phases must not be in control flow that depends on the thread, and
//! operations of a whole warp not in control flow that depends on the lane.

use std::cell::OnceCell;
use std::collections::HashSet;

use super::analysis::Divergence;
use super::ends::leavings;
use super::function::{Function, bodies, is_kernel};
use super::instruction::Instruction;
use super::part::may_wait;
use super::places::{Place, Places};
use super::values::{Origin, Scope, constants};
use crate::ir::{PHASE, demangle, tokens};

/// Not all threads of a block would go through the same barriers or phases.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UniformityError {
    /// A barrier depends on the thread.
    #[error(
        "{place}: kernel `{kernel}` has a barrier that not all threads of a block may reach: {cause}; move the barrier out of \
         what depends on the thread, and guard the loads and stores alone"
    )]
    Barrier {
        /// The Rust file and line.
        place: String,
        /// The kernel.
        kernel: String,
        /// The branch, and what its condition comes from.
        cause: String,
    },
    /// A phase depends on the thread.
    #[error(
        "{place}: kernel `{kernel}` has a phase that not all threads of a block may go through: {cause}; decide by what is the \
         same in all threads (parameters, `block_idx_x()`), and branch on the thread within the phase"
    )]
    Phase {
        /// The Rust file and line.
        place: String,
        /// The kernel.
        kernel: String,
        /// The branch, and what its condition comes from.
        cause: String,
    },
    /// Threads of one block may use different tiles in one phase, or another operand of it.
    #[error(
        "{place}: the threads of kernel `{kernel}` may give this phase different operands (a tile, a distance): they depend on \
         {cause}; choose them by what is the same in all threads"
    )]
    Operand {
        /// The Rust file and line.
        place: String,
        /// The kernel.
        kernel: String,
        /// What the operand comes from.
        cause: String,
    },
    /// An operation of a whole warp depends on the lane.
    #[error(
        "{place}: kernel `{kernel}` has an operation of all lanes of a warp that not all of them may reach: {cause}; move it out of \
         what depends on the lane, or name the lanes that are there in its mask"
    )]
    Warp {
        /// The Rust file and line.
        place: String,
        /// The kernel.
        kernel: String,
        /// The branch, and what its condition comes from.
        cause: String,
    },
    /// A thread may end while others of its warp wait for it.
    #[error(
        "{place}: kernel `{kernel}` may end a thread here, while others of its warp go on to combine their values: {cause}; let it \
         go on with a value that changes nothing"
    )]
    End {
        /// The Rust file and line.
        place: String,
        /// The kernel.
        kernel: String,
        /// The branch, and what its condition comes from.
        cause: String,
    },
    /// A function with a barrier cannot be inlined.
    #[error(
        "{place}: kernel `{kernel}` calls `{function}`, which may reach a barrier, a phase or the thread's end, and cannot be \
         inlined: have no recursion and no function pointer on the way to it"
    )]
    Hidden {
        /// The Rust file and line.
        place: String,
        /// The kernel.
        kernel: String,
        /// The function.
        function: String,
    },
}

impl UniformityError {
    /// The Rust file and line.
    pub fn place(&self) -> &str {
        match self {
            Self::Barrier { place, .. }
            | Self::Phase { place, .. }
            | Self::Operand { place, .. }
            | Self::Hidden { place, .. }
            | Self::End { place, .. }
            | Self::Warp { place, .. } => place,
        }
    }
}

/// What is wrong in a kernel.
#[derive(Debug)]
pub(crate) struct Finding {
    /// The kernel's symbol.
    pub kernel: String,
    pub error: UniformityError,
}

/// Checks the kernels of a module in which functions are inlined.
pub(crate) fn check(ir: &str, crate_prefix: &str) -> Vec<Finding> {
    let others: Vec<_> = bodies(ir).filter(|body| !is_kernel(body)).filter_map(Function::read).collect();
    let hidden = hidden(&others);
    let calls_hidden = |body: &str| !hidden.is_empty() && (body.contains("call "));
    let kernels = bodies(ir).filter(|body| is_kernel(body) && (may_wait(body) || calls_hidden(body)));
    let rows_of_warps = rows_of_warps(ir);
    let kernels = kernels.filter_map(|body| {
        let mut kernel = Function::read(body)?;
        kernel.has_rows_of_warps = tokens(body.lines().next()?).any(|token| rows_of_warps.contains(token.text));
        Some(kernel)
    });
    let kernels: Vec<_> = kernels.collect();
    let declared = ir.lines().filter(|line| line.starts_with("declare "));
    let declared = declared.filter_map(|line| tokens(line).find_map(|token| token.name()));
    let known = others.iter().map(|other| other.name).chain(declared).collect();
    let module = Module { places: Places::of(ir, crate_prefix), constants: constants(ir), hidden, known };
    let mut findings = Vec::new();
    for kernel in kernels {
        let has_phases = kernel.instructions.iter().any(|instruction| instruction.callee() == Some(PHASE));
        let divergence = Divergence::of(&kernel, &module.constants, Scope::Block);
        let mut errors = module.check(&kernel, &divergence);
        if has_phases {
            // A phase's warps are whole, unless a thread has ended.
            errors.retain(|error| !matches!(error, UniformityError::Warp { .. }));
            errors.extend(module.ends(&kernel, &divergence));
        }
        // A phase has a barrier, and functions with one may be inlined more than once. All of them
        // count alike.
        let mut places = HashSet::new();
        errors.retain(|error| places.insert(error.place().to_owned()));
        findings.extend(errors.into_iter().map(|error| Finding { kernel: kernel.name.to_owned(), error }));
    }
    findings
}

/// The groups of attributes of kernels whose blocks have rows of whole warps.
fn rows_of_warps(ir: &str) -> HashSet<&str> {
    let groups = ir.lines().filter_map(|line| line.strip_prefix("attributes ")?.split_once(" = "));
    let has_rows = |attributes: &str| {
        let shape = attributes.split_once("\"nvvm.reqntid\"=\"").map(|(_, shape)| shape);
        let x = shape.and_then(|shape| shape.split(',').next()?.parse::<u32>().ok());
        x.is_some_and(|x| x % 32 == 0)
    };
    groups.filter(|(_, attributes)| has_rows(attributes)).map(|(group, _)| group).collect()
}

struct Module<'a> {
    places: Places<'a>,
    constants: HashSet<&'a str>,
    /// Functions that are not inlined, from which a barrier may be reached.
    hidden: HashSet<&'a str>,
    /// All functions that are not inlined, and those that are declared.
    known: HashSet<&'a str>,
}

/// What the threads of a block do together.
enum Together<'a> {
    /// Not a block's, but a warp's.
    Warp,
    Barrier,
    Phase,
    /// A call of a function that may do one of these.
    Hidden(&'a str),
}

impl<'a> Module<'a> {
    fn check(&self, kernel: &Function<'a>, divergence: &Divergence) -> Vec<UniformityError> {
        let in_warp = OnceCell::new();
        let mut findings = Vec::new();
        for (index, instruction) in kernel.instructions.iter().enumerate() {
            let Some(together) = self.together(instruction) else { continue };
            let divergence = match together {
                Together::Warp => in_warp.get_or_init(|| Divergence::of(kernel, &self.constants, Scope::Warp)),
                _ => divergence,
            };
            let place = self.places.find(instruction.location);
            let shown = place.as_ref().map_or_else(|| "unknown line".to_owned(), Place::full);
            let name = demangle(kernel.name);
            let branch = divergence.branch_of(instruction.block);
            let branch = branch.map(|branch| self.cause(kernel, divergence, branch, place.as_ref()));
            let operand = || {
                let depends = divergence.origin(index).is_some();
                depends.then(|| self.origin(kernel, divergence, index, place.as_ref()))
            };
            findings.extend(match (together, branch) {
                (Together::Barrier, Some(cause)) => {
                    Some(UniformityError::Barrier { place: shown, kernel: name, cause })
                }
                (Together::Warp, cause) => {
                    cause.map(|cause| UniformityError::Warp { place: shown, kernel: name, cause })
                }
                (Together::Barrier, None) if instruction.result.is_none() => operand().map(|operand| {
                    let cause = format!("its number depends on {operand}");
                    UniformityError::Barrier { place: shown, kernel: name, cause }
                }),
                (Together::Barrier, None) => None,
                (Together::Phase, Some(cause)) => Some(UniformityError::Phase { place: shown, kernel: name, cause }),
                (Together::Phase, None) => {
                    operand().map(|cause| UniformityError::Operand { place: shown, kernel: name, cause })
                }
                (Together::Hidden(function), _) => {
                    let function = demangle(function);
                    Some(UniformityError::Hidden { place: shown, kernel: name, function })
                }
            });
        }
        findings
    }

    /// The ends of threads for which others of their warp wait.
    fn ends(&self, kernel: &Function<'a>, divergence: &Divergence) -> Vec<UniformityError> {
        let of_warp = |instruction: &Instruction<'a>| matches!(self.together(instruction), Some(Together::Warp));
        let leavings = leavings(kernel, divergence, of_warp).into_iter();
        let errors = leavings.map(|leaving| {
            let place = self.places.find(kernel.instructions[leaving.end].location);
            UniformityError::End {
                place: place.as_ref().map_or_else(|| "unknown line".to_owned(), Place::full),
                kernel: demangle(kernel.name),
                cause: self.cause(kernel, divergence, leaving.branch, place.as_ref()),
            }
        });
        errors.collect()
    }

    /// A branch, and what its condition comes from.
    fn cause(&self, kernel: &Function<'_>, divergence: &Divergence, branch: usize, near: Option<&Place<'_>>) -> String {
        let at = self.places.find(kernel.instructions[branch].location);
        let at = at.map_or_else(|| "a branch".to_owned(), |at| format!("the branch in {}", at.beside(near)));
        format!("{at} depends on {}", self.origin(kernel, divergence, branch, near))
    }

    fn together(&self, instruction: &Instruction<'a>) -> Option<Together<'a>> {
        if instruction.operation != "call" {
            return None;
        }
        match instruction.callee() {
            Some(PHASE) => Some(Together::Phase),
            Some(callee) if is_barrier(callee) => Some(Together::Barrier),
            Some(callee) if is_of_whole_warp(callee, instruction) => Some(Together::Warp),
            // What has no definition may be another name of something.
            Some(callee) => {
                let is_known = callee.starts_with("llvm.") || self.known.contains(callee);
                (self.hidden.contains(callee) || !is_known).then_some(Together::Hidden(callee))
            }
            None if instruction.assembles("bar.") || instruction.assembles("barrier.") => Some(Together::Barrier),
            None if instruction.assembly().is_some() => None,
            // A function pointer: it may point to any of them.
            None => self.hidden.iter().min().map(|function| Together::Hidden(function)),
        }
    }

    /// What a divergent value comes from: "`thread_idx_x()` in line 12".
    fn origin(&self, kernel: &Function<'_>, divergence: &Divergence, value: usize, near: Option<&Place<'_>>) -> String {
        let Some((begin, origin)) = divergence.origin(value) else { return "the thread".to_owned() };
        let place = self.places.find(kernel.instructions[begin].location);
        let callee = kernel.instructions[begin].callee().unwrap_or("a function");
        let called = place.as_ref().and_then(|place| place.calls);
        let called = called.filter(|call| !call.name.starts_with('{'));
        let what = match (origin, called) {
            (Origin::Load, _) => "a value in memory that threads may write, read".to_owned(),
            // A phase gives its closure a thread.
            (Origin::Call, Some(call)) if call.file.contains("/phases/") && callee.contains(".tid.") => {
                "the thread of a phase".to_owned()
            }
            (_, Some(call)) => format!("`{}()`", call.name),
            (Origin::Call, None) => format!("`{}()`", demangle(callee)),
            (Origin::Atomic, None) => "an atomic operation".to_owned(),
            (Origin::Assembly, None) => "inline assembly".to_owned(),
            (Origin::Local, None) => "a local variable".to_owned(),
        };
        place.map_or(what.clone(), |place| format!("{what} in {}", place.beside(near)))
    }
}

/// Whether this intrinsic waits for the threads of the block.
fn is_barrier(callee: &str) -> bool {
    let name = callee.strip_prefix("llvm.nvvm.").unwrap_or("");
    name.starts_with("barrier") || (name.starts_with("bar.") && !name.starts_with("bar.warp."))
}

/// Whether this intrinsic needs all lanes of the warp at once: it has a mask of 32 ones. Lanes may
/// wait at different barriers of their warp, so these are left to the simulator.
fn is_of_whole_warp(callee: &str, instruction: &Instruction<'_>) -> bool {
    let name = callee.strip_prefix("llvm.nvvm.").unwrap_or("");
    let of_warp = ["shfl.sync.", "vote.", "match.", "redux.sync."].iter().any(|prefix| name.starts_with(prefix));
    of_warp && instruction.text.contains("i32 -1")
}

/// The functions besides kernels from which a barrier, a phase or the thread's end may be reached.
fn hidden<'a>(others: &[Function<'a>]) -> HashSet<&'a str> {
    let mut hidden = HashSet::new();
    loop {
        let before = hidden.len();
        for function in others {
            let module = |instruction: &Instruction<'a>| match instruction.callee() {
                Some(callee) => callee == PHASE || is_barrier(callee) || hidden.contains(callee),
                None if instruction.assembly().is_some() => {
                    instruction.assembles("bar.") || instruction.assembles("barrier.")
                }
                None => instruction.operation == "call" && !hidden.is_empty(),
            };
            if function.instructions.iter().any(|instruction| instruction.ends_thread() || module(instruction)) {
                hidden.insert(function.name);
            }
        }
        if hidden.len() == before {
            return hidden;
        }
    }
}
