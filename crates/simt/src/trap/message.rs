//! The messages of traps and of their kinds: `Display` for [`Trap`] and what it holds. Users see
//! these texts, and tests pin them.

use std::fmt;

use super::{Absence, Trap, TrapKind};
use crate::address::{RefusedAccess, RefusedFree};
use crate::program::{CLUSTER_BARRIER, WARPGROUP_BARRIER};
use crate::site::Triple;

/// The name of a barrier.
struct BarrierName(u32);

impl fmt::Display for BarrierName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            CLUSTER_BARRIER => write!(formatter, "the cluster's barrier"),
            WARPGROUP_BARRIER.. => {
                write!(formatter, "the wait for the products of warpgroup {}", self.0 - WARPGROUP_BARRIER)
            }
            number => write!(formatter, "barrier {number}"),
        }
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Absence::Exited => write!(formatter, "has exited"),
            Absence::AtBarrier(barrier) => write!(formatter, "waits at {}", BarrierName(*barrier)),
            Absence::AtPhase => write!(formatter, "waits for a phase of an mbarrier"),
            Absence::NoThread => write!(formatter, "is not a thread of the block"),
            Absence::InWarp => write!(formatter, "waits for other lanes of its warp"),
            Absence::Diverged => write!(formatter, "is on another path"),
        }
    }
}

impl fmt::Display for TrapKind {
    #[expect(clippy::too_many_lines, reason = "one arm for each case")]
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            &TrapKind::Access { action, space, address, width, ref fault } => {
                RefusedAccess { action, space, address, width, fault }.fmt(formatter)
            }
            TrapKind::Free { address, fault } => RefusedFree { address: *address, fault }.fmt(formatter),
            TrapKind::BarrierDivergence { barrier, missing, absence } => write!(
                formatter,
                "{} is not executed by the whole warp: thread {} {absence}",
                BarrierName(*barrier),
                Triple(*missing)
            ),
            TrapKind::BarrierNeverReached { barrier, arrived, expected, missing } => {
                write!(
                    formatter,
                    "{} never completes: {arrived} of {expected} threads have arrived",
                    BarrierName(*barrier)
                )?;
                match missing {
                    Some((thread, absence)) => write!(formatter, ", thread {} {absence}", Triple(*thread)),
                    None => Ok(()),
                }
            }
            TrapKind::ClusterBarrierOrder { waits: true } => {
                write!(formatter, "a wait at the cluster's barrier without an arrival before it")
            }
            TrapKind::ClusterBarrierOrder { waits: false } => {
                write!(formatter, "a second arrival at the cluster's barrier without a wait after the first")
            }
            TrapKind::WarpNeverConverges { members, missing, absence } => write!(
                formatter,
                "lanes {members:#010x} of the warp never reconverge: lane {} {absence}",
                missing.trailing_zeros()
            ),
            TrapKind::InvalidBarrier { barrier, threads: None } => {
                write!(formatter, "there is no barrier {barrier}: a block has barriers 0 to 15")
            }
            TrapKind::InvalidBarrier { barrier, threads: Some(threads) } => write!(
                formatter,
                "barrier {barrier} cannot wait for {threads} threads: barriers are 0 to 15, threads a multiple of 32 and \
                 no more than the block has warps for"
            ),
            TrapKind::Texture(fault) => write!(formatter, "{fault}"),
            TrapKind::Tensor(fault) => write!(formatter, "{fault}"),
            TrapKind::TrapInstruction => write!(formatter, "trap instruction"),
            TrapKind::NotCooperative => {
                write!(formatter, "trap instruction: `grid.sync()` of cooperative groups needs a cooperative launch")
            }
            TrapKind::NoProgress { waiting, not_begun, steps } => {
                let blocks = if *waiting == 1 { "block waits" } else { "blocks wait" };
                write!(
                    formatter,
                    "{waiting} {blocks} for memory that nothing writes: {steps} warp instructions changed nothing, all in polling \
                     loops"
                )?;
                match not_begun {
                    0 => Ok(()),
                    1 => write!(formatter, "; 1 block has not begun"),
                    more => write!(formatter, "; {more} blocks have not begun"),
                }
            }
            TrapKind::EndlessLoop => write!(
                formatter,
                "a loop that never ends: it reads no memory and changes no register. If it waits for a variable, the compiler has \
                 moved the load out of the loop; a volatile or atomic load stays in it"
            ),
            TrapKind::Assertion { message, file, line, function } => {
                write!(formatter, "assertion `{message}` failed at {file}:{line} in `{function}`")
            }
            TrapKind::Breakpoint => write!(formatter, "breakpoint"),
            TrapKind::Cancelled => write!(formatter, "the launch was cancelled"),
            TrapKind::StepLimit { limit } => {
                write!(formatter, "the launch did not end within {limit} warp instructions")
            }
            TrapKind::FaultLimit { limit } => {
                write!(formatter, "the launch was stopped, because its threads had more than {limit} faults")
            }
            TrapKind::IncompleteWarp { missing, absence } => write!(
                formatter,
                "only a part of the warp executes an instruction for all its 32 lanes: lane {} {absence}",
                missing.trailing_zeros()
            ),
            TrapKind::BulkCopySize { bytes } => {
                write!(formatter, "a bulk copy of {bytes} bytes: a multiple of 16 up to 1048560 is allowed")
            }
            TrapKind::IncompleteWarpgroup { warps } => write!(
                formatter,
                "an instruction for the four warps of a warpgroup, in a warpgroup of {warps}: the block needs a multiple of 128 threads"
            ),
            TrapKind::NotUniform { what } => {
                write!(formatter, "{what} is not the same in all lanes of the warp, as it must be")
            }
            TrapKind::InvalidMbarrier { address, fault } => {
                write!(formatter, "mbarrier at shared address {address:#x}: {fault}")
            }
            TrapKind::PhaseNeverComplete { address, arrivals, bytes } => {
                let several = |count: u32, what: &str| match count {
                    1 => format!("1 {what}"),
                    count => format!("{count} {what}s"),
                };
                write!(formatter, "the phase of the mbarrier at shared address {address:#x} never completes: it ")?;
                if *arrivals > 0 || *bytes == 0 {
                    write!(formatter, "waits for {}", several(*arrivals, "more arrival"))?;
                }
                let and = if *arrivals > 0 { " and " } else { "" };
                match (bytes.unsigned_abs(), *bytes < 0) {
                    (0, _) => Ok(()),
                    (more, false) if *arrivals > 0 => write!(formatter, "{and}{}", several(more, "more byte")),
                    (more, false) => write!(formatter, "waits for {}", several(more, "more byte")),
                    (beyond, true) => {
                        write!(formatter, "{and}has received {} beyond those expected", several(beyond, "byte"))
                    }
                }
            }
            TrapKind::CallDepth { limit } => write!(formatter, "calls nested more than {limit} deep"),
            TrapKind::LocalMemory { needed, limit } => {
                write!(formatter, "{needed} bytes of local memory per thread, but the limit is {limit}")
            }
            TrapKind::InvalidCall { address } => {
                write!(formatter, "call of {address:#x}, which is not a function that this call may reach")
            }
            TrapKind::InvalidBranch { index, targets } => {
                write!(formatter, "branch index {index} of a table with {targets} targets")
            }
        }
    }
}

impl Trap {
    /// What happened, without where. What a trap instruction means depends on the language.
    pub fn what(&self) -> String {
        let file = self.position().map(|position| position.file.as_str()).unwrap_or_default();
        let meaning = match (&self.kind, file.rsplit('.').next()) {
            (TrapKind::TrapInstruction, Some("rs")) => " (a panic, usually)",
            (TrapKind::TrapInstruction, Some("cu" | "cuh" | "h" | "hpp" | "cpp" | "cc" | "c")) => {
                " (`__trap()`, usually)"
            }
            _ => "",
        };
        format!("{}{meaning}", self.kind)
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "kernel `{}`: {}", self.kernel, self.what())?;
        write!(formatter, "; thread {} of block {}", Triple(self.thread), Triple(self.block))?;
        if let Some(source) = self.position() {
            write!(formatter, ", {source}")?;
        }
        if self.function != self.kernel {
            write!(formatter, ", in `{}`", self.function)?;
        }
        write!(formatter, ", {}:{}: `{}`", self.module, self.ptx_line, self.instruction)
    }
}

impl std::error::Error for Trap {}
