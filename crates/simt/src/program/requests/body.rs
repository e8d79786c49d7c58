//! A function and its accesses, as the passes of this folder see them, and what they find.

use std::collections::HashMap;

use ptx::{CacheOperator, Destination, Handle, Instruction, Kind, Op, Ordering, Register, Space, Type, Variable};

use crate::CountsDiffer;

/// A function, for these passes.
pub(crate) struct Body<'f> {
    pub instructions: &'f [Instruction],
    /// The successors of each position.
    pub successors: &'f [Vec<u32>],
    /// Where the paths from each position first meet again.
    pub joins: &'f [Option<u32>],
    /// The registers that each position reads, its guard included, and those that it writes.
    pub reads: Vec<Vec<Handle<Register>>>,
    pub writes: Vec<&'f [Handle<Register>]>,
    /// The number of registers, and whether each has 64 bits.
    pub registers: usize,
    pub wide: Vec<bool>,
    /// Where a variable is.
    pub place: &'f dyn Fn(Handle<Variable>) -> Place,
}

impl Body<'_> {
    /// Whether a register has 64 bits.
    pub fn writes_wide(&self, register: usize) -> bool {
        self.wide[register]
    }
}

/// Where a variable is, as far as `ptxas` knows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// At this address of local memory.
    At(u64),
    /// So many bytes after the start of the block's shared memory.
    Shared(u64),
    /// At a multiple of this.
    MultipleOf(u32),
}

/// A request, relative to the address of the access that it is counted at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub offset: i64,
    pub width: u32,
}

/// How accesses are counted that are not counted as PTX has them.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The requests of a load or a store, by position; none: others serve it.
    pub requests: HashMap<usize, Vec<Part>>,
    /// The position that serves an access which has no request.
    pub served: HashMap<usize, usize>,
    /// Atomic operations, by position.
    pub atomics: HashMap<usize, Combined>,
    /// Branches after which the requests of lanes that part there can be others, and how.
    pub divergent: Vec<(usize, CountsDiffer)>,
}

/// How an atomic operation is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Combined {
    /// Whether the old value is not returned.
    pub is_reduction: bool,
    /// Whether one lane makes the access for all.
    pub one_lane: bool,
}

/// A memory whose accesses are optimised by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Class {
    Shared,
    Local,
    Global,
    /// Memory that does not change.
    ReadOnly,
    Constant,
}

/// A load or a store that may be counted with others.
pub(super) struct Candidate<'f> {
    pub class: Class,
    /// Only accesses of one kind become one: of this cache operator.
    pub cache: CacheOperator,
    /// The size of its units, and the unit that each element is in.
    pub unit: u32,
    pub units: u32,
    elements: &'f [Destination],
    element: u32,
}

impl<'f> Candidate<'f> {
    /// The load or store at a position.
    pub fn of(instruction: &'f Instruction) -> Option<Self> {
        let (space, ordering, cache, read_only, ty, elements, count) = match &instruction.op {
            Op::Load { uniform: true, .. } => return None,
            Op::Load { space, ordering, cache, non_coherent, ty, dsts, .. } => {
                (space, ordering, cache, *non_coherent, ty, &dsts[..], dsts.len())
            }
            Op::Store { space, ordering, cache, ty, srcs, .. } => {
                (space, ordering, cache, false, ty, &[][..], srcs.len())
            }
            _ => return None,
        };
        let weak = *ordering == Ordering::Weak && *cache != CacheOperator::Volatile;
        let class = class(*space, read_only)?;
        if instruction.guard.is_some() || !weak || ty.bits() == 128 {
            return None;
        }
        let (element, width) = (ty.bytes(), ty.bytes() * count as u32);
        // A vector of bytes or halves is made of words.
        let unit = if element < 4 { width.min(4) } else { element };
        Some(Self { class, cache: *cache, unit, units: width / unit, elements, element })
    }

    pub fn width(&self) -> u32 {
        self.unit * self.units
    }

    /// Whether a load needs one of its units.
    pub fn needs(&self, unit: u32, is_needed: impl Fn(Handle<Register>) -> bool) -> bool {
        self.elements.iter().enumerate().any(|(index, register)| {
            let here = index as u32 * self.element / self.unit == unit;
            here && register.is_some_and(&is_needed)
        })
    }
}

/// The memory of a state space; `None`: any.
fn class(space: Space, read_only: bool) -> Option<Class> {
    match space {
        Space::Shared => Some(Class::Shared),
        Space::Local => Some(Class::Local),
        Space::Global if read_only => Some(Class::ReadOnly),
        Space::Global => Some(Class::Global),
        Space::Constant => Some(Class::Constant),
        Space::Generic | Space::ClusterShared | Space::Parameter => None,
    }
}

/// Whether a type is an integer of a register's width.
pub(super) fn is_integer(ty: Type) -> bool {
    matches!(ty.bits(), 32 | 64) && !matches!(ty.kind(), Kind::Float | Kind::Opaque | Kind::Predicate)
}
