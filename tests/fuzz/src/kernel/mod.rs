//! Random kernels that do nothing PTX leaves open, as a tree: `generate` makes them, `text` writes
//! them as PTX, and [`crate::scalar`] says what they must give.
//!
//! A thread has four predicates, four halves, eight words and six doubles. They start with values
//! that differ from thread to thread, and at the end go to the thread's own record in the output.
//! In between: every operation of [`operations`], nested divergent branches, loops with bounded
//! trip counts, jumps by index, calls, guarded loads, stores and atomic operations in every state
//! space; and, where all threads of the block come by, barriers, shuffles, votes and an exchange
//! through shared memory.
//!
//! A *wild* kernel has the last ones anywhere, and accesses at arbitrary addresses. Then only the
//! trap is known to come out the same each time. A *loose* kernel behaves as a valid one, and has
//! operations whose results PTX leaves to the device.

mod bank;
mod generate;
pub mod operations;
mod reduce;
mod text;

use operations::Operation;

pub use bank::Bank;
pub use text::{DOUBLE_STEP, HEADER, THREAD_STEP, WORD_STEP};

/// What a kernel may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing whose result PTX leaves open.
    Exact,
    /// Operations whose results depend on the device, but are the same each time.
    Loose,
    /// Anything.
    Wild,
}

/// A predicate register, and whether it must be true or false.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    /// Its number.
    pub predicate: u8,
    /// What it must be.
    pub wanted: bool,
}

/// Memory that a thread has for itself, or may only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Global memory that is never written.
    Input,
    /// The thread's part of global memory.
    Own,
    /// Local memory.
    Local,
    /// The thread's part of shared memory.
    Tile,
}

/// Bytes of [`Region::Input`].
pub const INPUT_BYTES: u32 = 512;
/// Bytes of a thread's [`Region::Own`], at the start of its record in the output.
pub const OWN_BYTES: u32 = 64;
/// Bytes of a thread's [`Region::Local`].
pub const LOCAL_BYTES: u32 = 32;
/// Bytes of a thread's [`Region::Tile`].
pub const TILE_BYTES: u32 = 16;
/// Bytes of a thread's record: its own memory, and its registers at the end.
pub const RECORD_BYTES: u32 = 160;
/// Bytes of the memory in which all threads count together.
pub const COMMON_BYTES: u32 = 32 * REDUCTIONS.len() as u32;

impl Region {
    /// Its bytes.
    pub fn bytes(self) -> u32 {
        match self {
            Self::Input => INPUT_BYTES,
            Self::Own => OWN_BYTES,
            Self::Local => LOCAL_BYTES,
            Self::Tile => TILE_BYTES,
        }
    }
}

/// What an access moves: the type's name, its bytes, the bank of its registers, and whether a load
/// extends the sign.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    /// The name in PTX.
    pub name: &'static str,
    /// Bytes in memory.
    pub bytes: u32,
    /// Where it is loaded to and stored from.
    pub bank: Bank,
    /// Whether the sign is extended.
    pub signed: bool,
}

const fn element(name: &'static str, bytes: u32, bank: Bank, signed: bool) -> Element {
    Element { name, bytes, bank, signed }
}

/// Every type that an access can move.
pub const ELEMENTS: [Element; 12] = [
    element("b32", 4, Bank::Word, false),
    element("b64", 8, Bank::Double, false),
    element("b16", 2, Bank::Half, false),
    element("u8", 1, Bank::Half, false),
    element("s8", 1, Bank::Half, true),
    element("u8", 1, Bank::Word, false),
    element("s8", 1, Bank::Word, true),
    element("u16", 2, Bank::Word, false),
    element("s16", 2, Bank::Word, true),
    element("s16", 2, Bank::Double, true),
    element("u32", 4, Bank::Double, false),
    element("s32", 4, Bank::Double, true),
];

/// An access within a [`Region`].
#[derive(Clone, Debug)]
pub struct Access {
    /// Where.
    pub region: Region,
    /// What.
    pub element: Element,
    /// The number of elements: 1, 2 or 4.
    pub vector: u32,
    /// The first register; the others follow, wrapping around.
    pub register: u8,
    /// The word that says where in the region, cut to its bytes and to the access's alignment.
    pub index: u8,
    /// Whether the upper half of the region is accessed, by a constant offset.
    pub upper: bool,
    /// Whether the access is generic: the instruction names no state space.
    pub generic: bool,
    /// The guard.
    pub guard: Option<Guard>,
}

/// An atomic operation: its name, and its PTX type with 32 and with 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    /// The name in PTX.
    pub name: &'static str,
    /// The name of the type.
    pub ty: &'static str,
    /// Whether it has 64 bits.
    pub wide: bool,
}

const fn atomic(name: &'static str, ty: &'static str, wide: bool) -> Atomic {
    Atomic { name, ty, wide }
}

impl Atomic {
    /// The bank of its values.
    pub fn bank(self) -> Bank {
        if self.wide { Bank::Double } else { Bank::Word }
    }
}

/// Atomic operations whose result does not depend on the order.
pub const REDUCTIONS: [Atomic; 13] = [
    atomic("add", "u32", false),
    atomic("add", "u64", true),
    atomic("min", "u32", false),
    atomic("max", "s32", false),
    atomic("min", "s64", true),
    atomic("max", "u64", true),
    atomic("and", "b32", false),
    atomic("or", "b32", false),
    atomic("xor", "b32", false),
    atomic("and", "b64", true),
    atomic("or", "b64", true),
    atomic("xor", "b64", true),
    atomic("add", "s32", false),
];

/// Atomic operations whose old value a thread may use if no other thread accesses the memory.
pub const ATOMICS: [Atomic; 16] = [
    atomic("add", "u32", false),
    atomic("add", "u64", true),
    atomic("min", "s32", false),
    atomic("max", "u32", false),
    atomic("min", "u64", true),
    atomic("max", "s64", true),
    atomic("and", "b32", false),
    atomic("or", "b64", true),
    atomic("xor", "b32", false),
    atomic("exch", "b32", false),
    atomic("exch", "b64", true),
    atomic("cas", "b32", false),
    atomic("cas", "b64", true),
    atomic("inc", "u32", false),
    atomic("dec", "u32", false),
    atomic("and", "b64", true),
];

/// How a shuffle selects the lane that it reads.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

/// A vote of a warp, or of a block (then `bar.red`).
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
    BlockAnd,
    BlockOr,
    BlockCount,
}

/// What the threads of a warp or a block do together.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the numbers are those of registers
pub enum Together {
    /// Each thread stores a word in shared memory, and reads that of the thread that `from`
    /// selects.
    Exchange { value: u8, from: u8, result: u8 },
    /// `shfl.sync`; the predicate says whether the lane was in range.
    Shuffle { mode: ShuffleMode, value: u8, lane: u8, segment: u8, result: u8, predicate: u8 },
    /// `vote.sync` or `barrier.red`: a predicate, or a word for a ballot and a count.
    Vote { vote: Vote, guard: Guard, result: u8 },
    /// `match.any.sync`, of the low bits, so that some match.
    Match { value: u8, result: u8 },
    /// `match.all.sync`, of the low bits.
    MatchAll { value: u8, result: u8, predicate: u8 },
    /// `redux.sync`: one of [`REDUX`].
    Redux { operation: u8, value: u8, result: u8 },
    /// `mma.sync` of 8 x 8 x 16 bytes, each factor signed or not. Two words are added, and two are
    /// the result.
    Product { signed: [bool; 2], saturates: bool, factors: [u8; 2], added: u8, result: u8 },
    /// `ldmatrix`: this many matrices of 8 rows, each row the tile of a thread.
    Rows { matrices: u8, transposed: bool, result: u8 },
    /// `mma.sync` of floats: one of [`FLOAT_PRODUCTS`]. Only loose kernels have it.
    FloatProduct { product: u8, factors: [u8; 2], added: u8, result: u8 },
}

/// Products of float matrices: shape and types, and the words of both factors and of the sum.
pub const FLOAT_PRODUCTS: [(&str, [u8; 3]); 5] = [
    ("m16n8k8.row.col.f32.f16.f16.f32", [2, 1, 4]),
    ("m16n8k16.row.col.f32.bf16.bf16.f32", [4, 2, 4]),
    ("m16n8k16.row.col.f16.f16.f16.f16", [4, 2, 2]),
    ("m16n8k16.row.col.f32.f16.f16.f32", [4, 2, 4]),
    ("m16n8k4.row.col.f32.tf32.tf32.f32", [2, 1, 4]),
];

/// The operations of `redux.sync`.
pub const REDUX: [&str; 9] =
    ["add.u32", "add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32"];

/// The condition of a branch.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    /// One predicate.
    One(Guard),
    /// Both of two; the second is tested only if the first holds.
    Both(Guard, Guard),
    /// One of two; the second is tested only if the first does not hold.
    Either(Guard, Guard),
}

/// A statement of a thread.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the numbers are those of registers
pub enum Statement {
    /// An operation on registers.
    Operate { operation: &'static Operation, result: u8, operands: Vec<u8>, guard: Option<Guard> },
    /// A constant.
    Constant { bank: Bank, result: u8, value: u64 },
    /// From memory to registers.
    Load(Access),
    /// From registers to memory.
    Store(Access),
    /// An atomic operation on the thread's own memory; the old value goes to a register.
    Atomic { atomic: Atomic, region: Region, index: u8, values: [u8; 2], result: u8, guard: Option<Guard> },
    /// An atomic operation (one of [`REDUCTIONS`]) on the common memory.
    Reduce { reduction: u8, index: u8, value: u8, guard: Option<Guard> },
    /// A branch with two arms.
    If { condition: Condition, then: Vec<Statement>, otherwise: Vec<Statement> },
    /// A loop with as many iterations as the low bits of a word say; one more if the test is at the
    /// end.
    Loop { id: u8, count: u8, most: u32, test_at_end: bool, body: Vec<Statement> },
    /// Leaves the innermost loop.
    Break(Guard),
    /// Continues with the next iteration of the innermost loop.
    Continue(Guard),
    /// `brx.idx`: the arm that the word selects, modulo their number.
    Switch { index: u8, arms: Vec<Vec<Statement>> },
    /// Calls the function, or through a pointer the second one if the guard does not hold. Passes a
    /// word and a double, and gets them back.
    Call { functions: [u8; 2], choice: Option<Guard>, word: u8, double: u8 },
    /// Returns from the function early, or ends the thread.
    Leave(Guard),
    /// What all threads do together.
    Together(Together),
    /// A load or store of 4 bytes in the region, possibly misaligned or far outside; never where
    /// another block may access.
    Wild { region: Region, store: bool, far: bool, offset: u8, register: u8, guard: Option<Guard> },
}

/// A kernel and how it is launched.
#[derive(Clone)]
pub struct Kernel {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// What is known of it.
    pub kind: Kind,
    /// The seed of the input.
    pub seed: u64,
    /// Bodies of the functions; each calls only those after it.
    pub functions: Vec<Vec<Statement>>,
    /// The kernel's own body.
    pub body: Vec<Statement>,
}

impl Kernel {
    /// Threads of a block.
    pub fn block_threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// The number of threads of all blocks.
    pub fn threads(&self) -> u32 {
        self.grid.iter().product::<u32>() * self.block_threads()
    }

    /// The module with this kernel alone, named `k`.
    pub fn module(&self) -> String {
        let objects = if self.kind == Kind::Loose { operations::OBJECTS } else { "" };
        format!("{HEADER}{objects}{}", self.text("k"))
    }
}

impl std::fmt::Debug for Kernel {
    /// As PTX, which can be run.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { grid, block, kind, seed, .. } = self;
        write!(formatter, "// {kind:?}: grid {grid:?}, block {block:?}, seed {seed}\n{}", self.module())
    }
}
