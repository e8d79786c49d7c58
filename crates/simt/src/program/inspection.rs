//! What the sanitizer inspects before some steps: registers that nothing may have written, and operands for which the
//! PTX manual leaves the result open.
//!
//! Decoding finds the steps to look at, and the loop that executes steps exists twice, with and
//! without that look. So a launch without checks pays nothing, and one with checks pays only where
//! there is something to see.
//!
//! A value that nothing wrote is followed, not forbidden, because compilers compute with such
//! values and drop the results. What makes it a bug is where it goes: to an address, a condition,
//! or memory. That is known once all functions of a kernel have been decoded.

/// The inspections of a kernel's steps. Most steps have none.
#[derive(Default)]
pub(crate) struct Inspections {
    /// For each step, one more than the index in `list`, or 0; steps after the last one that has any are left out.
    steps: Vec<u32>,
    list: Vec<Inspection>,
}

impl Inspections {
    /// Whether there are none at all.
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
    /// Registers that nothing may have written.
    pub registers: Option<Box<RegisterFlow>>,
    /// Of a load, the register that each element goes to, where it matters whether anything wrote what is loaded.
    pub loaded: Option<Box<[Option<Tracked>]>>,
    /// The possibly unwritten values that a call passes and returns.
    pub call: Option<Box<CallFlow>>,
    /// Registers that a product of a warpgroup may hold.
    pub held: Option<Box<Held>>,
    /// An operand that may make the result undefined.
    pub rule: Option<Rule>,
}

impl Inspection {
    /// Whether this matters only once a warp has loaded unwritten memory.
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
    /// The elements of a store, which matters if nothing wrote any of them.
    pub stored: Vec<Tracked>,
    /// Of a store that may go to local memory, its step, and each of its elements: what nothing wrote counts as unwritten there.
    pub kept: Option<(u32, Vec<Option<Tracked>>)>,
    /// Registers computed from others.
    pub moves: Vec<Move>,
    /// Registers that are written.
    pub writes: Vec<Tracked>,
    /// A register that gets this one's value from other lanes, once these have arrived.
    pub exchanges: Option<(Tracked, Tracked)>,
    /// A register whose value is lost: the carry flag, at a call.
    pub forgets: Option<Tracked>,
    /// Whether all of these registers are written, but for what is loaded from memory.
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

/// What a call does with tracked values: for each word of each argument, and of each result, the caller's.
#[derive(Debug)]
pub(crate) struct CallFlow {
    pub arguments: Vec<Vec<Option<Tracked>>>,
    pub results: Vec<Vec<Option<Tracked>>>,
}

/// What an instruction does with registers that products of a warpgroup (`wgmma`) hold while the threads go on: their indices in
/// [`FunctionCode::held`](super::FunctionCode::held).
#[derive(Debug)]
pub(crate) enum Held {
    Touches {
        reads: Vec<u32>,
        writes: Vec<u32>,
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
    /// The fragment of A, where that is in registers.
    pub factors: Vec<u32>,
    /// n and k.
    pub shape: [u32; 2],
}

/// A use of a register for which it matters whether anything wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegisterUse {
    /// As a condition: it decides whether an instruction is executed, or where a branch goes.
    Condition,
    /// As an address, or a part of one.
    Address,
    /// As a value that is stored.
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
    /// For logic on predicates: if both are written, or one that decides alone. Each with its operand.
    Logic { and: bool, operands: [(u32, Option<Tracked>); 2] },
}

/// Operands that may make an instruction's result undefined by the PTX manual. Rows are those of the step's operands.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    /// The value in this row, of this many bits, is an integer divisor.
    Divisor { row: u32, bits: u32 },
    /// The value in this row of words must not exceed a limit.
    AtMost { row: u32, limit: u32, operand: &'static str },
    /// `bra.uni`: all lanes go the same way.
    UniformBranch,
    /// `brx.idx.uni`: all lanes have the same value in this row.
    UniformIndex { row: u32 },
    /// `ldu`: all lanes have the same address.
    UniformAddress { reach: super::Reach },
    /// A barrier with the number in this row: either all or none of its threads must reduce a predicate.
    Barrier { row: u32, reduces: bool },
    /// `mbarrier.init` or, if it `ends`, `mbarrier.inval`.
    Mbarrier { reach: super::Reach, ends: bool },
}
