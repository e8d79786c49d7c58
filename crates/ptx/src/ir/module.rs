//! The module and what it declares: variables, functions, registers, source locations. The parser
//! fills it in through `environment`; afterwards nothing changes it. `simt` and `host` read it.

use std::sync::Arc;

use super::instruction::{ControlOp, Instruction, Op};
use super::lines::{LineTable, Span};
use super::texture::SamplerState;
use super::types::{Space, Type};
use crate::ir::operand::Symbol;
use crate::{Arena, Handle};

/// One PTX file.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// The name under which the text was given (a path, usually), for messages.
    pub name: String,
    /// The text itself, for messages and for listings by line.
    pub text: Arc<str>,
    /// `.version`: major and minor.
    pub version: (u32, u32),
    /// `.target`: the number of `sm_NN`.
    pub target: u32,
    /// The letter after the number, if the module is for that architecture only (`sm_90a`) or its
    /// family (`sm_100f`).
    pub target_suffix: Option<char>,
    /// `.target ..., debug`: compiled for a debugger, without optimisation.
    pub debug: bool,
    /// All variables: the module's own and those of its functions.
    pub variables: Arena<Variable>,
    /// All functions, in the order of their first mention.
    pub functions: Arena<Function>,
    /// The source files that `.file` names.
    pub files: Arena<SourceFile>,
    /// The source locations that `.loc` names.
    pub locations: Arena<Location>,
    /// The lines of the text.
    pub(crate) lines: Arc<LineTable>,
}

/// A variable of any state space, a kernel's or function's parameter among them.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its state space.
    pub space: Space,
    /// Element type.
    pub ty: Type,
    /// Vector length of the element: 1, 2 or 4.
    pub vector: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// `.ptr`: a parameter that is an address, and the alignment of what it points to.
    pub points_to: Option<Pointee>,
    /// Size in bytes, all dimensions taken together; `None` for `[]`, an extern array of unknown
    /// size.
    pub size: Option<u64>,
    /// What it holds at the start.
    pub initializer: Initializer,
    /// Its linkage.
    pub linkage: Linkage,
    /// Where it is declared.
    pub span: Span,
}

/// What a parameter with `.ptr` points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointee {
    /// Its alignment in bytes; 1 if the compiler knew none, 4 if the text does not say.
    pub align: u32,
}

/// The initial bytes of a variable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Initializer {
    /// The first bytes, at most the variable's size; the rest is zero. Empty without an
    /// initialiser.
    pub bytes: Vec<u8>,
    /// Addresses to write over `bytes` once variables have addresses.
    pub addresses: Vec<InitialAddress>,
    /// The state of a `.samplerref`.
    pub sampler: Option<SamplerState>,
}

/// An address in an initialiser: `symbol + addend`, `generic(symbol) + addend`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InitialAddress {
    /// Offset in the variable, in bytes.
    pub offset: u64,
    /// Size of the address in bytes.
    pub width: u32,
    /// Whose address.
    pub symbol: Symbol,
    /// Whether it is the generic address.
    pub generic: bool,
    /// Added to it.
    pub addend: i64,
    /// Bits by which the sum is shifted right before its lowest `width` bytes are stored: the masks
    /// `0xFF(symbol)`, `0xFF00(symbol)`, ... store an address byte by byte.
    pub shift: u32,
}

/// Linking directive of a symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Linkage {
    #[default]
    Internal,
    Visible,
    Extern,
    Weak,
    Common,
}

/// A kernel (`.entry`) or a device function (`.func`).
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Whether it is a kernel.
    pub is_kernel: bool,
    /// Its linkage.
    pub linkage: Linkage,
    /// `.noreturn`.
    pub no_return: bool,
    /// Parameters, in order: variables of [`Space::Parameter`]. (A `.func` with `.reg` parameters
    /// becomes one that loads them at entry.)
    pub parameters: Vec<Handle<Variable>>,
    /// Return parameters, in order.
    pub results: Vec<Handle<Variable>>,
    /// `.maxntid`: the most threads a block may have, per dimension.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`: the threads that a block must have, per dimension.
    pub required_threads: Option<[u32; 3]>,
    /// `.maxnreg`: the most registers that a thread may have.
    pub max_registers: Option<u32>,
    /// `.minnctapersm`.
    pub min_blocks_per_multiprocessor: Option<u32>,
    /// `.reqnctapercluster`: the blocks that a cluster must have.
    pub required_cluster: Option<[u32; 3]>,
    /// `.explicitcluster`: a launch must name a cluster size.
    pub explicit_cluster: bool,
    /// `.maxclusterrank`: the most blocks that a cluster may have.
    pub max_cluster_blocks: Option<u32>,
    /// `.blocksareclusters`: the grid of a launch is in clusters, not blocks.
    pub grid_in_clusters: bool,
    /// All registers of the body, including those of inner scopes.
    pub registers: Arena<Register>,
    /// Variables declared in the body: `.local`, `.shared`, and the `.param` of calls.
    pub variables: Vec<Handle<Variable>>,
    /// The body; `None` for a declaration. Branches name positions in it.
    pub body: Option<Vec<Instruction>>,
    /// Where its name is declared.
    pub span: Span,
}

/// A virtual register.
#[derive(Clone, Debug, PartialEq)]
pub struct Register {
    /// Its name, `%` included.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// A source file of a `.file` directive.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceFile {
    /// The number that `.loc` uses.
    pub number: u32,
    /// The path as written.
    pub path: String,
}

/// A source location of a `.loc` directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// Which file.
    pub file: Handle<SourceFile>,
    /// Line, from 1 (0: the compiler had none).
    pub line: u32,
    /// Column, from 1 (0: the compiler had none).
    pub column: u32,
    /// The call that this location was inlined into, if any.
    pub inlined_at: Option<Handle<Location>>,
}

impl Function {
    /// Whether it waits for the grids before it (`griddepcontrol.wait`) before it accesses memory,
    /// whatever path a thread takes: then it may begin before they end. `false` also if that takes
    /// more than a look at its instructions before the wait.
    ///
    /// A kernel that reads what nobody writes during the launch (`ld.global.nc`, `ldu`, textures)
    /// may not: there the compiler and the caches need not respect the wait. Nor may one that calls
    /// a function, which might.
    pub fn may_begin_early(&self) -> bool {
        let body = self.body.as_deref().unwrap_or_default();
        let takes_constant = |op: &Op| matches!(op, Op::Control(ControlOp::Call { .. })) || op.takes_constant();
        !body.iter().any(|instruction| takes_constant(&instruction.op)) && waits_on_every_path(body)
    }
}

/// Whether each path through these instructions comes to a wait for earlier grids, with only work
/// in registers before it.
fn waits_on_every_path(body: &[Instruction]) -> bool {
    let mut seen = vec![false; body.len()];
    let mut open = vec![0];
    while let Some(place) = open.pop() {
        // The end, or the end of a thread, before a wait.
        let Some(instruction) = body.get(place) else { return false };
        if std::mem::replace(&mut seen[place], true) {
            continue;
        }
        match instruction.op {
            Op::WaitForEarlierGrids if instruction.guard.is_none() => {}
            Op::Control(ControlOp::Branch { target, .. }) => {
                open.push(target as usize);
                if instruction.guard.is_some() {
                    open.push(place + 1);
                }
            }
            Op::Compute(_) | Op::Load { space: Space::Parameter, .. } => open.push(place + 1),
            _ => return false,
        }
    }
    true
}

impl Module {
    /// The line, from 1, of a byte of the text.
    pub fn line(&self, offset: u32) -> u32 {
        self.lines.line(offset)
    }

    /// The line and column, both from 1, of a byte of the text.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        self.lines.line_column(offset)
    }

    /// The location and those that it was inlined into, innermost first.
    pub fn inline_chain(&self, location: Handle<Location>) -> impl Iterator<Item = Location> + '_ {
        std::iter::successors(Some(self.locations[location]), |location| {
            location.inlined_at.map(|outer| self.locations[outer])
        })
    }

    /// Bytes of all parameters of one of this module's functions, one after the other, each at its
    /// alignment. A last parameter `[]` counts as none: the caller sets its size.
    pub fn parameter_bytes(&self, function: &Function) -> u64 {
        function.parameters.iter().map(|&parameter| &self.variables[parameter]).fold(0u64, |end, variable| {
            let offset = end.checked_next_multiple_of(variable.align.max(1).into()).unwrap_or(u64::MAX);
            offset.saturating_add(variable.size.unwrap_or(0))
        })
    }

    /// The function of that name.
    pub fn function(&self, name: &str) -> Option<Handle<Function>> {
        self.functions.iter().find(|(_, function)| function.name == name).map(|(handle, _)| handle)
    }

    /// All kernels that have a body.
    pub fn kernels(&self) -> impl Iterator<Item = (Handle<Function>, &Function)> {
        self.functions.iter().filter(|(_, function)| function.is_kernel && function.body.is_some())
    }
}
