//! What the sanitizer inspects before some steps: registers that may be uninitialised, and operands
//! for which the PTX manual leaves the result undefined.
//!
//! Decoding finds the steps to inspect, and the loop that executes steps is compiled twice, with
//! and without inspections. So a launch without checks pays nothing, and one with checks pays only
//! for the steps that need it.
//!
//! Uninitialised values are tracked, not rejected, because compilers compute with such values and
//! drop the results. It is a bug only if the value reaches an address, a condition, or memory. This
//! is known once all functions of a kernel have been decoded.

/// The inspections of a kernel's steps. Most steps have none.
#[derive(Default)]
pub(crate) struct Inspections {
    /// For each step, its index in `list` plus one, or 0. Ends after the last step with an
    /// inspection.
    steps: Vec<u32>,
    list: Vec<Inspection>,
}

impl Inspections {
    /// Whether there are no inspections.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The inspection of a step.
    #[inline(always)]
    pub fn of(&self, pc: u32) -> Option<&Inspection> {
        match self.steps.get(pc as usize) {
            None | Some(0) => None,
            Some(index) => self.list.get(*index as usize - 1),
        }
    }

    /// The inspection of a step, created if there is none.
    pub fn entry(&mut self, pc: u32) -> &mut Inspection {
        let step = pc as usize;
        if self.steps.len() <= step {
            self.steps.resize(step + 1, 0);
        }
        if self.steps[step] == 0 {
            self.list.push(Inspection::default());
            self.steps[step] = self.list.len() as u32;
        }
        &mut self.list[self.steps[step] as usize - 1]
    }
}

/// What to inspect before a step.
#[derive(Debug, Default)]
pub(crate) struct Inspection {
    /// Registers that may be uninitialised.
    pub registers: Option<Box<RegisterFlow>>,
    /// For a load, the register that each element goes to, if it matters whether the memory was
    /// written.
    pub loaded: Option<Box<[Option<Tracked>]>>,
    /// The possibly unwritten values that a call passes and returns.
    pub call: Option<Box<CallFlow>>,
    /// Registers that a product of a warpgroup may hold.
    pub held: Option<Box<Held>>,
    /// An operand that may make the result undefined.
    pub rule: Option<Rule>,
}

impl Inspection {
    /// Whether this matters only after the warp has loaded unwritten memory, or shuffled a value
    /// from a lane that does not take part.
    #[inline(always)]
    pub fn is_of_loaded(&self) -> bool {
        let Self { registers, loaded: _, call: _, held, rule } = self;
        held.is_none() && rule.is_none() && registers.as_ref().is_none_or(|flow| flow.of_loaded)
    }
}

/// A tracked register of a function, or a tracked word of a `.param` variable: its index in
/// [`FunctionCode::tracked`](super::FunctionCode::tracked).
pub(crate) type Tracked = u32;

/// What an instruction does with tracked registers.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct RegisterFlow {
    /// The guard.
    pub guard: Option<Tracked>,
    /// Registers whose values matter here.
    pub uses: Vec<(Tracked, RegisterUse)>,
    /// The elements of a store. It is a use only if none of them was written.
    pub stored: Vec<Tracked>,
    /// For a store that may go to local memory: its step and its elements. Unwritten elements count
    /// as unwritten in memory.
    pub kept: Option<(u32, Vec<Option<Tracked>>)>,
    /// Registers computed from others.
    pub moves: Vec<Move>,
    /// Registers that are written.
    pub writes: Vec<Tracked>,
    /// A register that takes another one's value from other lanes, once these have arrived. `None`:
    /// a value that is always written.
    pub exchanges: Option<(Tracked, Option<Tracked>)>,
    /// A register whose value is lost: the carry flag, at a call.
    pub forgets: Option<Tracked>,
    /// Whether all of these registers are written, apart from values loaded from memory or
    /// shuffled.
    pub of_loaded: bool,
}

impl RegisterFlow {
    /// Whether there is nothing to inspect.
    pub fn is_empty(&self) -> bool {
        let Self { guard, uses, stored, kept, moves, writes, exchanges, forgets, of_loaded: _ } = self;
        let lists = [uses.is_empty(), stored.is_empty(), moves.is_empty(), writes.is_empty()];
        lists == [true; 4] && kept.is_none() && guard.is_none() && exchanges.is_none() && forgets.is_none()
    }
}

/// What a call does with tracked values: for each word of each argument, and of each result, the
/// caller's.
#[derive(Debug)]
pub(crate) struct CallFlow {
    pub arguments: Vec<Vec<Option<Tracked>>>,
    pub results: Vec<Vec<Option<Tracked>>>,
}

/// What an instruction does with registers that products of a warpgroup (`wgmma`) hold while the
/// threads continue: their indices in [`FunctionCode::held`](super::FunctionCode::held).
#[derive(Debug)]
pub(crate) enum Held {
    Touches {
        reads: Vec<u32>,
        writes: Vec<u32>,
        /// Whether it only unpacks a value (`mov.b32 {h0, h1}, r0`).
        unpacks: bool,
    },
    /// Sets one to a constant.
    Sets {
        to: u32,
    },
    Moves {
        to: u32,
        from: u32,
    },
    Multiplies(HeldRegisters),
    /// `wgmma.fence`.
    Fence,
    /// `wgmma.commit_group`.
    Commit,
    /// `wgmma.wait_group`.
    Await {
        groups_left: u32,
    },
}

/// The registers of a product.
#[derive(Debug)]
pub(crate) struct HeldRegisters {
    pub sums: Vec<u32>,
    /// The fragment of A, if in registers.
    pub factors: Vec<u32>,
    /// n and k.
    pub shape: [u32; 2],
}

/// A use of a register that must be initialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegisterUse {
    /// As a condition: it decides whether an instruction is executed, or where a branch goes.
    Condition,
    /// As an address, or a part of one.
    Address,
    /// As a stored value.
    Stored,
    /// As an operand of an instruction with effects beyond the thread's registers.
    Operand,
}

/// A register gets a value computed from other registers.
#[derive(Debug, PartialEq)]
pub(crate) struct Move {
    pub to: Tracked,
    pub merge: Merge,
}

/// When a computed value counts as written. `None` is a value that is always written.
#[derive(Debug, PartialEq)]
pub(crate) enum Merge {
    /// If all of these are written: arithmetic.
    All(Vec<Tracked>),
    /// If any of these is written: parts of a value, some of which may be padding.
    Any(Vec<Tracked>),
    /// If the chosen value is written, and so is the predicate that chooses.
    Choice { predicate: u32, chooser: Option<Tracked>, yes: Option<Tracked>, no: Option<Tracked> },
    /// For logic on predicates: if both are written, or one that determines the result. Each with
    /// its operand.
    Logic { and: bool, operands: [(u32, Option<Tracked>); 2] },
}

/// A rule about operands that make an instruction's result undefined by the PTX manual. Rows are
/// those of the step's operands.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    /// The value in this row, of this many bits, is an integer divisor.
    Divisor { row: u32, bits: u32 },
    /// The value in this row of words must not exceed a limit.
    AtMost { row: u32, limit: u32, operand: &'static str },
    /// `bra.uni`: all lanes must take the same branch.
    UniformBranch,
    /// `brx.idx.uni`: all lanes must have the same value in this row.
    UniformIndex { row: u32 },
    /// `ldu`: all lanes must have the same address.
    UniformAddress { reach: super::access::AddressOperand },
    /// A barrier with the number in this row: either all or none of its threads must reduce a
    /// predicate.
    Barrier { row: u32, reduces: bool },
    /// `mbarrier.init` or, if it `ends`, `mbarrier.inval`.
    Mbarrier { reach: super::access::AddressOperand, ends: bool },
}
