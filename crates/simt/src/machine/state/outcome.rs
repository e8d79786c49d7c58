//! How an instruction, a warp's turn or a cluster ends: what comes next, a fault, or the end of the
//! launch.

use ptx::Space;

use crate::address::AccessFault;
use crate::site::AccessAction;
use crate::trap::{Trap, TrapKind};

/// What happens to a split after an instruction.
pub(crate) enum Next {
    /// It continues at its program counter.
    On,
    /// It has ended, or waits.
    Gone,
    /// The block has to handle its barriers first.
    Pause,
    /// It has not been executed: other splits of the warp go first.
    Later,
}

/// A fault, not yet resolved to the program's text.
#[derive(Debug)]
pub(crate) struct Fault {
    pub kind: TrapKind,
    pub lane: u32,
    pub pc: u32,
}

/// A fault of a lane, not yet attributed to an instruction.
pub(crate) struct Refused(TrapKind, u32);

impl Refused {
    pub fn new(action: AccessAction, space: Space, width: u32, fault: AccessFault) -> Box<Self> {
        let AccessFault { lane, address, kind } = fault;
        Self::because(TrapKind::Access { action, space, address, width, fault: kind }, lane)
    }

    /// A fault of a lane.
    pub fn because(kind: TrapKind, lane: u32) -> Box<Self> {
        Box::new(Self(kind, lane))
    }

    pub fn at(self, pc: u32) -> Fault {
        Fault { kind: self.0, lane: self.1, pc }
    }
}

/// Boxed, since it is rare.
pub(crate) type Attempt<T = ()> = Result<T, Box<Refused>>;

/// Why a worker stops before the last block.
pub(crate) enum Stop {
    Trap(Box<Trap>),
    /// A cluster with a lower number has faulted: this one no longer matters.
    Abandoned,
}
