//! The messages of findings and of their kinds: `Display` for [`Finding`] and what it holds. Users
//! see these texts, and tests pin them.

use std::fmt;

use super::finding::MapFence;
use super::finding::{Conflict, Finding, FindingKind, ProductPart, RaceScope};
use crate::address::{Bytes, RefusedAccess, RefusedFree, space_name};
use crate::program::RegisterUse;
use crate::site::AccessAction;
use crate::site::{Site, Triple};

impl fmt::Display for FindingKind {
    #[expect(clippy::too_many_lines, reason = "one arm for each case")]
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            &Self::Access { action, space, address, width, ref fault } => {
                RefusedAccess { action, space, address, width, fault }.fmt(formatter)
            }
            Self::Leak { allocation } => {
                write!(formatter, "malloc without free: the {allocation} is still allocated at the end")
            }
            Self::Free { address, fault } => RefusedFree { address: *address, fault }.fmt(formatter),
            Self::Unwritten { space, address, width, .. } => write!(
                formatter,
                "uninitialised read of {} from {} memory, at address {address:#x}",
                Bytes((*width).into()),
                space_name(*space)
            ),
            Self::UnwrittenRegister { register, origin, to } => {
                let used = match to {
                    RegisterUse::Condition => "is a condition",
                    RegisterUse::Address => "is an address",
                    RegisterUse::Stored => "is stored",
                    RegisterUse::Operand => "is used",
                };
                match origin == register {
                    true => write!(formatter, "register {register} {used}, and nothing wrote it"),
                    false => {
                        write!(
                            formatter,
                            "register {register} {used}, and is computed from {origin}, which nothing wrote"
                        )
                    }
                }
            }
            Self::Race { scope, conflict: Conflict { space, address, width, actions, .. } } => {
                let (place, missing) = match scope {
                    RaceScope::Warp => ("in a warp", "no warp barrier between them"),
                    RaceScope::Block => ("in a block", "no barrier between them"),
                    RaceScope::Grid => ("between blocks", "nothing that orders them"),
                };
                let [now, before] = actions;
                let (bytes, space) = (Bytes((*width).into()), space_name(*space));
                write!(
                    formatter,
                    "race {place}: {now} of {bytes} at {space} address {address:#x} after another thread's \
                     {before}, with {missing}"
                )
            }
            Self::PendingCopy(Conflict { space, address, width, actions: [action, copy], .. }) => {
                let (bytes, space) = (Bytes((*width).into()), space_name(*space));
                let verb = if *copy == AccessAction::Read { "read" } else { "write" };
                write!(
                    formatter,
                    "{action} of {bytes} at {space} address {address:#x}, which an asynchronous copy is still to {verb}: \
                     its thread has not waited for it"
                )
            }
            Self::PendingProduct(Conflict { address, width, actions: [action, _], .. }) => write!(
                formatter,
                "{action} of {} at shared address {address:#x}, which a product is still to read: its warp has not waited for it",
                Bytes((*width).into())
            ),
            Self::WrittenTexture(Conflict { space, address, width, actions: [_, before], .. }) => {
                let (bytes, space) = (Bytes((*width).into()), space_name(*space));
                write!(
                    formatter,
                    "read of {bytes} at {space} address {address:#x} through a texture or surface, after a thread's {before} in \
                     the same launch, which such reads may not see"
                )
            }
            Self::WrittenReadOnly(Conflict { space, address, width, actions: [action, before], .. }) => {
                let (bytes, space) = (Bytes((*width).into()), space_name(*space));
                write!(formatter, "{action} of {bytes} at {space} address {address:#x}")?;
                match action {
                    AccessAction::Read => write!(
                        formatter,
                        " as read-only data, after a thread's {before} in the same launch, which such reads may not see"
                    ),
                    _ => write!(formatter, ", which a thread has read as read-only data in the same launch"),
                }
            }
            Self::MissingProxyFence(Conflict { space, address, width, actions: [action, before], .. }) => {
                let (bytes, space) = (Bytes((*width).into()), space_name(*space));
                write!(
                    formatter,
                    "{action} of {bytes} at {space} address {address:#x} by the async proxy after a thread's {before} by the generic \
                     one, with no proxy fence (fence.proxy.async) between them"
                )
            }
            Self::MissingTensorMapFence {
                conflict: Conflict { address, width, actions: [action, before], .. },
                missing,
            } => {
                let bytes = Bytes((*width).into());
                let missing = match missing {
                    MapFence::Release => {
                        "that releases it to copies (fence.proxy.tensormap::generic.release, tensormap.cp_fenceproxy)"
                    }
                    MapFence::Acquire => "that acquires it for copies (fence.proxy.tensormap::generic.acquire)",
                };
                write!(
                    formatter,
                    "{action} of {bytes} at global address {address:#x} of the tensor map of a copy, after a thread's {before}, with no \
                     fence {missing} between them"
                )
            }
            Self::PendingRegister { register, unpacked: true, .. } => write!(
                formatter,
                "register {register} is unpacked, which a product is still to write: its warp has not waited for it; ptxas adds the wait, \
                 but the PTX manual forbids the access"
            ),
            Self::PendingRegister { register, action, part, unpacked: false } => {
                let done = if *action == AccessAction::Read { "read" } else { "written" };
                let verb = if *part == ProductPart::Sum { "write" } else { "read" };
                write!(
                    formatter,
                    "register {register} is {done}, which a product is still to {verb}: its warp has not waited for it"
                )
            }
            Self::MissingProductFence { register } => {
                write!(formatter, "a product of register {register}, which was written with no wgmma.fence in between")
            }
            Self::BarrierLeft { barrier, thread, in_warp } => {
                let thread = Triple(*thread);
                match in_warp {
                    true => write!(
                        formatter,
                        "barrier {barrier} is not executed by the whole warp: thread {thread} exits instead"
                    ),
                    false => write!(formatter, "barrier {barrier} goes on without thread {thread}, which has exited"),
                }
            }
            Self::DifferentBarriers { barrier } => write!(
                formatter,
                "barrier {barrier} is completed by different instructions: the whole block should reach the same one"
            ),
            Self::ExitedLanes { members, exited } => {
                let verb = if exited.count_ones() == 1 { "has" } else { "have" };
                write!(formatter, "the mask {members:#010x} names {}, which {verb} exited", Lanes(*exited))
            }
            Self::AbsentLanes { members, absent } => {
                let verb = if absent.count_ones() == 1 { "is" } else { "are" };
                write!(formatter, "the mask {members:#010x} names {}, which {verb} on another path", Lanes(*absent))
            }
            Self::NotMember { members, lane } => {
                write!(formatter, "the mask {members:#010x} leaves out lane {lane}, which executes the instruction")
            }
            Self::InactiveSource { lane, source } => {
                write!(
                    formatter,
                    "an undefined value is used: lane {lane} got it from lane {source}, which does not take part in the shuffle"
                )
            }
            Self::DifferentMasks { lanes: [a, b], members: [of_a, of_b] } => write!(
                formatter,
                "lanes that wait for each other name different masks: lane {a} {of_a:#010x}, lane {b} {of_b:#010x}"
            ),
            Self::DivisionByZero => write!(formatter, "an integer is divided by zero: the result is unspecified"),
            Self::UnsetCarry => write!(
                formatter,
                "the carry flag is read, but nothing has set it since the function began or made a call"
            ),
            Self::OperandBeyondLimit { operand, value, limit } => {
                write!(formatter, "{operand} is {value}, but only values up to {limit} are defined")
            }
            Self::DivergentUniform { lanes: [a, b] } => {
                write!(formatter, "lanes {a} and {b} diverge at a branch that is marked as uniform (.uni)")
            }
            Self::DifferentAddresses { lanes: [a, b] } => {
                write!(
                    formatter,
                    "lanes {a} and {b} have different addresses in a load that needs one address for all lanes (ldu)"
                )
            }
            Self::MixedBarrier { barrier } => {
                write!(formatter, "some threads reduce a predicate over barrier {barrier}, and others only wait there")
            }
            Self::TiledReplacement { space, address } => write!(
                formatter,
                "a field of the tensor map at {} address {address:#x} is replaced as in a tiled map (.tile), but it is an im2col \
                 map",
                space_name(*space)
            ),
            Self::RepeatedInitialization { address } => write!(
                formatter,
                "the mbarrier at shared address {address:#x} is initialised again, with no mbarrier.inval in between"
            ),
        }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "thread {} of block {}", Triple(self.thread), Triple(self.block))?;
        if let Some(source) = self.position() {
            write!(formatter, ", {source}")?;
        }
        write!(formatter, ", line {} of the PTX: `{}`", self.ptx_line, self.instruction)
    }
}

/// On one line.
impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "kernel `{}`: {}; {}", self.kernel, self.kind, self.first)?;
        if let Some(second) = &self.second {
            write!(formatter, "; before: {second}")?;
        }
        if self.count > 1 {
            write!(formatter, "; {} times", self.count)?;
        }
        Ok(())
    }
}

/// The lanes of a mask: `lane 3`, `lanes 1 and 3`, `lanes 0, 4 and 8 to 15`.
struct Lanes(u32);

impl fmt::Display for Lanes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.count_ones() == 1 { "lane " } else { "lanes " })?;
        let mut rest = self.0;
        while rest != 0 {
            let first = rest.trailing_zeros();
            let count = (!(rest >> first)).trailing_zeros();
            let last = first + count - 1;
            // The lanes after this run.
            let behind = rest & u32::MAX.checked_shl(last + 1).unwrap_or(0);
            if rest != self.0 {
                formatter.write_str(if behind == 0 { " and " } else { ", " })?;
            }
            match count {
                1 => write!(formatter, "{first}")?,
                _ => write!(formatter, "{first} to {last}")?,
            }
            rest = behind;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_named_in_runs() {
        for (mask, text) in [
            (1, "lane 0"),
            (0x8000_0000, "lane 31"),
            (0xa, "lanes 1 and 3"),
            (0xff, "lanes 0 to 7"),
            (0xff11, "lanes 0, 4 and 8 to 15"),
            (u32::MAX, "lanes 0 to 31"),
            (0xffff_0001, "lanes 0 and 16 to 31"),
        ] {
            assert_eq!(Lanes(mask).to_string(), text);
        }
    }
}
