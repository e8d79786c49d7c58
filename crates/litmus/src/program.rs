//! A litmus test as data: threads and where they run, what they access, and what is asked.

use std::collections::BTreeMap;

/// A small program of several threads.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// The variables, each with its value at the beginning.
    pub variables: Vec<(String, u32)>,
    /// The threads.
    pub threads: Vec<Thread>,
    /// What is asked of its outcomes.
    pub questions: Vec<Question>,
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Where it runs.
    pub place: Place,
    /// What it does, in program order.
    pub steps: Vec<Step>,
    /// Its instructions as they stand in the file, without comments.
    pub body: String,
    /// Its registers that hold a loaded value at the end: the name, and the value.
    pub registers: BTreeMap<String, Value>,
}

/// The numbers of a thread's block, cluster and GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The block, unique among all.
    pub block: u32,
    /// The cluster, unique among all.
    pub cluster: u32,
    /// The GPU.
    pub gpu: u32,
}

/// The threads that an operation is ordered for, the narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// `.cta`.
    Block,
    /// `.cluster`.
    Cluster,
    /// `.gpu`.
    Gpu,
    /// `.sys`.
    System,
}

/// Clusters that no line of the file names are numbered from here: one for each block.
pub(crate) const OWN_CLUSTERS: u32 = 1 << 16;

impl Place {
    /// Whether the cluster is the block's own, which the file does not name.
    pub fn has_own_cluster(self) -> bool {
        self.cluster >= OWN_CLUSTERS
    }

    /// Whether a thread here reaches one there by an operation of this scope.
    pub fn reaches(self, other: Self, scope: Scope) -> bool {
        match scope {
            Scope::Block => self.block == other.block,
            Scope::Cluster => self.cluster == other.cluster,
            Scope::Gpu => self.gpu == other.gpu,
            Scope::System => true,
        }
    }
}

/// What a thread does in a step, and what is read in the file.
#[derive(Clone, Debug)]
pub struct Step {
    /// The instruction, for people.
    pub text: String,
    /// Its line in the file, from 1.
    pub line: u32,
    /// The condition on which it is done, if it has one: a value, and whether that must be 0.
    pub condition: Option<(Value, bool)>,
    /// What it does.
    pub action: Action,
}

/// What a step does.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // each variant says what its fields are
pub enum Action {
    /// A load of a variable; `result` is the number of the loaded value in its thread.
    Load { variable: usize, access: Access, result: usize },
    /// A store of a value to a variable.
    Store { variable: usize, access: Access, value: Value },
    /// An atomic operation: a load and a store, with no other store between them. The new value
    /// depends on the old one, which has the number `result`; without a value nothing is stored.
    Atomic { variable: usize, access: Access, result: usize, update: Update },
    /// A fence for a scope: `fence.sc` if it is `sequential`, else `fence.acq_rel`.
    Fence { scope: Scope, sequential: bool },
    /// A barrier of the block: the threads of a block meet at their first, their second, and so on.
    Barrier,
}

/// How an access is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The scope of a strong access; a weak one has none.
    pub scope: Option<Scope>,
    /// Whether it acquires.
    pub acquires: bool,
    /// Whether it releases.
    pub releases: bool,
}

/// What an atomic operation makes of the old value.
#[derive(Clone, Debug)]
pub enum Update {
    /// An operation with a value.
    Operation(Operation, Value),
    /// The second value, if the first is there.
    Swap(Value, Value),
}

/// An operation of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `add`.
    Add,
    /// `sub`.
    Subtract,
    /// `and`.
    And,
    /// `or`.
    Or,
    /// `xor`.
    Xor,
    /// `exch`: the second.
    Exchange,
    /// The smaller.
    Min,
    /// The greater.
    Max,
    /// `setp.eq`: 1 if they are equal, otherwise 0.
    Equal,
}

impl Operation {
    /// Its result.
    pub fn of(self, a: u32, b: u32) -> u32 {
        match self {
            Self::Add => a.wrapping_add(b),
            Self::Subtract => a.wrapping_sub(b),
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
            Self::Exchange => b,
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::Equal => u32::from(a == b),
        }
    }
}

/// A value of a thread, as what was loaded makes it.
#[derive(Clone, Debug)]
pub enum Value {
    /// A constant.
    Constant(u32),
    /// What the load of this number found.
    Loaded(usize),
    /// An operation.
    Operation(Operation, Box<Value>, Box<Value>),
}

impl Value {
    /// The loads that it depends on, even where no result does (`x xor x`).
    pub fn loads(&self, all: &mut Vec<usize>) {
        match self {
            Self::Constant(_) => {}
            Self::Loaded(load) => all.push(*load),
            Self::Operation(_, a, b) => {
                a.loads(all);
                b.loads(all);
            }
        }
    }

    /// The value, once its loads have theirs.
    pub fn known(&self, loaded: &impl Fn(usize) -> Option<u32>) -> Option<u32> {
        match self {
            Self::Constant(value) => Some(*value),
            Self::Loaded(load) => loaded(*load),
            Self::Operation(operation, a, b) => Some(operation.of(a.known(loaded)?, b.known(loaded)?)),
        }
    }
}

/// Whether an outcome is possible.
#[derive(Clone, Debug)]
pub struct Question {
    /// Its text.
    pub text: String,
    /// What must hold together.
    pub parts: Vec<Part>,
}

/// A part of a question.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // each variant says what its fields are
pub enum Part {
    /// A register of a thread has this value at the end.
    Register { thread: usize, register: String, value: u32 },
    /// A variable has.
    Variable { variable: usize, value: u32 },
}
