//! What a step of a warp is about to do to memory that other threads can reach, and when two such
//! steps depend on each other. Plain data; [`follow`](crate::machine::follow) notes one at a point.

use ptx::{AtomicOp, Kind, Type};

use crate::lanes::Update;
use crate::program::{Action, Atomic};

/// What a step does to its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Reads,
    Writes,
    /// An atomic operation.
    Updates,
    /// An atomic operation whose result nobody sees: two of a kind do not depend on each other.
    Combines(AtomicOp, Type),
}

/// Consecutive bytes, in one memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    /// 0: global memory; otherwise 1 + the number of the cluster whose shared memory it is.
    pub memory: u64,
    pub start: u64,
    pub end: u64,
}

/// What a step is about to do.
#[derive(Clone, Debug)]
pub(crate) struct Footprint {
    pub pc: u32,
    /// The lanes that go on with the step, including those that its guard leaves out.
    pub mask: u32,
    /// Whether it may wait for another thread.
    pub polls: bool,
    pub does: Does,
    /// Sorted and apart. `None`: the step may touch anything.
    pub spans: Option<Vec<Span>>,
}

impl Does {
    pub fn of(action: &Action) -> Self {
        match action {
            Action::Load(_) => Self::Reads,
            Action::Atomic(atomic) => Self::of_atomic(atomic),
            _ => Self::Writes,
        }
    }

    fn of_atomic(atomic: &Atomic) -> Self {
        let Update { op, ty, .. } = atomic.update;
        let is_seen = atomic.elements().any(|(d, _)| d.is_some());
        match op {
            _ if is_seen || ty.kind() == Kind::Float => Self::Updates,
            AtomicOp::Add | AtomicOp::Minimum | AtomicOp::Maximum => Self::Combines(op, ty),
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => Self::Combines(op, ty),
            AtomicOp::Increment | AtomicOp::Decrement => Self::Updates,
            AtomicOp::Exchange | AtomicOp::CompareAndSwap => Self::Updates,
        }
    }
}

impl Footprint {
    /// Whether the order of two steps of different threads may matter.
    pub fn depends(&self, other: &Self) -> bool {
        match (self.does, other.does) {
            (Does::Reads, Does::Reads) => false,
            (Does::Combines(..), Does::Combines(..)) if self.does == other.does => false,
            _ => self.meets(other),
        }
    }

    /// Whether they have a byte in common.
    pub fn meets(&self, other: &Self) -> bool {
        let (Some(own), Some(others)) = (&self.spans, &other.spans) else { return true };
        let (mut own, mut others) = (own.iter().peekable(), others.iter().peekable());
        while let (Some(a), Some(b)) = (own.peek(), others.peek()) {
            if a.memory == b.memory && a.start < b.end && b.start < a.end {
                return true;
            }
            if (a.memory, a.end) <= (b.memory, b.end) {
                own.next()
            } else {
                others.next()
            };
        }
        false
    }
}

/// Sorts spans and joins those that touch.
pub(crate) fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let touches = next.memory == last.memory && next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn footprint(does: Does, spans: &[(u64, u64, u64)]) -> Footprint {
        let span = |&(memory, start, end): &(u64, u64, u64)| Span { memory, start, end };
        let spans = Some(joined(spans.iter().map(span).collect()));
        Footprint { pc: 0, mask: 1, polls: false, does, spans }
    }

    #[test]
    fn steps_depend_on_each_other_if_they_meet_and_one_writes() {
        let reads = footprint(Does::Reads, &[(0, 8, 12), (0, 0, 4), (0, 4, 8), (1, 64, 68)]);
        assert_eq!(reads.spans.as_ref().map(Vec::len), Some(2));
        let writes = |memory, start| footprint(Does::Writes, &[(memory, start, start + 4)]);
        assert!(reads.depends(&writes(0, 8)) && writes(1, 66).depends(&reads));
        assert!(!reads.depends(&writes(0, 12)) && !reads.depends(&writes(2, 64)) && !reads.depends(&reads.clone()));
        let far = footprint(Does::Writes, &[(0, 100, 104), (0, 200, 204), (1, 0, 4)]);
        assert!(far.depends(&writes(0, 200)) && far.depends(&writes(1, 0)) && !far.depends(&writes(0, 104)));
        let adds = footprint(Does::Combines(AtomicOp::Add, Type::U32), &[(0, 0, 4)]);
        let least = footprint(Does::Combines(AtomicOp::Minimum, Type::U32), &[(0, 0, 4)]);
        assert!(!adds.depends(&adds.clone()) && adds.depends(&least) && adds.depends(&reads));
        let anything = Footprint { spans: None, ..adds.clone() };
        assert!(anything.depends(&writes(3, 0)));
    }
}
