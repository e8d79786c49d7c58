//! Reports each access of a warp to the sanitizer before it is made. What comes back is the lanes
//! whose access is possible, and only those may then access memory. Reads registers and memory, for
//! the values that are about to change; changes only the sanitizer's state, the memo of shapes,
//! and, in [`atomic`], the destinations of refused lanes.

use ptx::Space;
use pulp::{Simd, WithSimd};

use crate::address::{AccessFaultKind, AllocationSpan, rank_of};
use crate::coalesce::Shape;
use crate::lanes::{Registers, Row, Update, WideRow};
use crate::machine::state::{At, Block, Split, Warp, Worker};
use crate::machine::{access, written};
use crate::memory::{Memory, SharedMemory};
use crate::program::{AddressOperand, Atomic, Copied, Order, SyncScope};
use crate::sanitizer::{Checker, Intent, Path, Stored, Touch};
use crate::site::AccessAction;

const PLAIN: Order = Order { strong: false, volatile: false, read_only: false, scope: SyncScope::All, releases: None };
const STRONG: Order = Order { strong: true, ..PLAIN };
/// An arrival at an mbarrier releases to the whole cluster: threads of other blocks may wait for
/// it.
const RELEASES: Order = Order { releases: Some(SyncScope::Cluster), ..STRONG };

/// What an instruction does to memory other than a plain load or store.
#[derive(Clone, Copy)]
pub(in crate::machine) enum SideAccess<'a> {
    /// Reads this many bytes in each lane.
    Read(u32),
    /// Writes this many bytes of these words in each lane.
    Write(u32, &'a [Row; 4]),
    /// Atomically combines this many bytes in each lane with memory.
    Combine(u32),
    /// Reads this many bytes in each lane through a texture or surface.
    Fetch(u32),
    /// Reads this many bytes of the tensor map that describes a copy.
    UseMap(u32),
    /// One of the first three, through the async proxy.
    Async(&'a SideAccess<'a>),
    /// An operation on an mbarrier, which releases and acquires.
    Mbarrier,
}

fn other(what: SideAccess<'_>, place: u32) -> Intent<'_> {
    let (what, path) = match what {
        SideAccess::Async(what) => (*what, Path::Async),
        SideAccess::Fetch(_) => (what, Path::Texture),
        SideAccess::UseMap(_) => (what, Path::TensorMap),
        SideAccess::Mbarrier => (what, Path::Mbarrier),
        _ => (what, Path::Generic),
    };
    let (action, width, stored, order) = match what {
        SideAccess::Read(width) | SideAccess::Fetch(width) | SideAccess::UseMap(width) => {
            (AccessAction::Read, width, Stored::Unknown, &PLAIN)
        }
        SideAccess::Write(width, words) => (AccessAction::Write, width, Stored::Words(words), &PLAIN),
        SideAccess::Combine(width) => (AccessAction::Atomic, width, Stored::Unknown, &STRONG),
        SideAccess::Mbarrier | SideAccess::Async(_) => (AccessAction::Atomic, 8, Stored::Unknown, &RELEASES),
    };
    Intent {
        action,
        width,
        element: width,
        place,
        order,
        copied: Copied::default(),
        overwrites: path == Path::Mbarrier,
        path,
        stored,
    }
}

/// An atomic operation. Returns the lanes whose access is possible; the others get zeros.
#[inline(always)]
pub(in crate::machine) fn atomic(worker: &mut Worker, warp: &mut Warp, atomic: &Atomic, at: At) -> u32 {
    let At { split, mask, counter } = at;
    if worker.checker.is_none() {
        return mask;
    }
    let &Atomic { ref reach, update: Update { ty, .. }, ref order, overwrites, .. } = atomic;
    let (action, width, element) = (AccessAction::Atomic, atomic.width(), ty.bytes());
    let intent = Intent {
        action,
        width,
        element,
        place: counter,
        order,
        copied: Copied::default(),
        overwrites,
        path: Path::Generic,
        stored: Stored::Unknown,
    };
    let possible = watch(worker, warp, reach, split, mask, &intent);
    let refused = mask & !possible;
    if refused != 0 {
        for d in atomic.elements().filter_map(|(d, _)| d) {
            match element {
                8.. => (0..element / 8).for_each(|row| warp.registers.set_wide(d + row, refused, &[0; 32])),
                _ => warp.registers.set_word(d, refused, &[0; 32]),
            }
        }
    }
    possible
}

/// An access by any other instruction. Returns the lanes whose access is possible.
pub(in crate::machine) fn touch(
    worker: &mut Worker,
    warp: &mut Warp,
    reach: &AddressOperand,
    what: SideAccess,
    at: At,
) -> u32 {
    let At { split, mask, counter } = at;
    if worker.checker.is_none() || mask == 0 {
        return mask;
    }
    watch(worker, warp, reach, split, mask, &other(what, counter))
}

/// [`touch`] for known addresses.
pub(in crate::machine) fn touch_at(
    worker: &mut Worker,
    warp: &mut Warp,
    space: Space,
    what: SideAccess,
    mask: u32,
    addresses: &WideRow,
    counter: u32,
) -> u32 {
    if worker.checker.is_none() || mask == 0 {
        return mask;
    }
    watch_at(worker, warp, space, mask, addresses, &other(what, counter))
}

/// Reports an access to the sanitizer, for each state space that its lanes reach.
#[inline(never)]
fn watch(
    worker: &mut Worker,
    warp: &mut Warp,
    reach: &AddressOperand,
    split: &Split,
    mask: u32,
    intent: &Intent,
) -> u32 {
    warp.registers.arch().dispatch(Watch { worker, warp, reach, split, mask, intent })
}

/// What [`watch`] does, for the host's instruction set.
struct Watch<'a, 'l, 'w> {
    worker: &'a mut Worker<'l>,
    warp: &'a mut Warp<'w>,
    reach: &'a AddressOperand,
    split: &'a Split,
    mask: u32,
    intent: &'a Intent<'a>,
}

impl WithSimd for Watch<'_, '_, '_> {
    type Output = u32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u32 {
        let Self { worker, warp, reach, split, mask, intent } = self;
        // The shape of the instruction's last access; the access itself is about to update it in
        // the same way.
        let mut found = access::follow_shape(&mut worker.shapes, &warp.registers, reach, mask, intent.width);
        if report_fast(&mut worker.checker, &worker.block, worker.launched.memory, warp, intent, &mut found) {
            return mask;
        }
        report_per_lane(worker, warp, reach, split, mask, intent)
    }
}

/// Reports an access whose lanes all reach one allocation or the block's shared memory. Returns
/// whether it is such an access and possible in all lanes; if not, call [`report_per_lane`].
#[inline(always)]
pub(in crate::machine) fn report_fast(
    checker: &mut Option<Box<Checker<'_>>>,
    block: &Block,
    memory: &Memory,
    warp: &Warp,
    intent: &Intent,
    found: &mut Option<access::Shaped>,
) -> bool {
    let (Some(access::Shaped { shape, space, lowest }), Some(checker)) = (found, checker) else { return false };
    let (space, lowest) = (*space, *lowest);
    if space == Space::Shared && rank_of(lowest) != u64::from(block.rank) {
        return false;
    }
    let (new, old) = values(&warp.registers, memory, &block.shared, intent, space);
    checker.access(&Touch { intent, space, warp: warp.index, new: &new, old: &old }, shape, lowest)
}

/// Reports any other access to the sanitizer. Returns the lanes whose access is possible.
#[cold]
#[inline(never)]
pub(in crate::machine) fn report_per_lane(
    worker: &mut Worker,
    warp: &mut Warp,
    reach: &AddressOperand,
    split: &Split,
    mask: u32,
    intent: &Intent,
) -> u32 {
    watch_at(worker, warp, reach.space, mask, &access::addresses(warp, reach, split), intent)
}

#[inline(never)]
fn watch_at(
    worker: &mut Worker,
    warp: &mut Warp,
    space: Space,
    mask: u32,
    addresses: &WideRow,
    intent: &Intent,
) -> u32 {
    let mut possible = 0;
    let rank = worker.block.rank;
    // No access is rejected here.
    let _ = access::by_space(space, rank, mask, addresses, &mut |space, mask, addresses| {
        possible |= report(worker, warp, intent, space, mask, addresses);
        Ok(())
    });
    possible
}

/// [`watch_at`] for one state space.
fn report(worker: &mut Worker, warp: &mut Warp, intent: &Intent, space: Space, mask: u32, addresses: &WideRow) -> u32 {
    let Some(mut checker) = worker.checker.take() else { return mask };
    let &Intent { action, width, .. } = intent;
    let (memory, shared, parameters) =
        (worker.launched.memory, &worker.block.shared, worker.launched.parameters.len() as u64);
    let refuse = |address: u64| match space {
        Space::Shared => shared.check(address, width).err(),
        Space::ClusterShared => worker.shared_at(address).and_then(|shared| shared.check(address, width)).err(),
        Space::Local if action == AccessAction::Atomic => Some(AccessFaultKind::OutOfBounds { nearest: None }),
        Space::Local => warp.local.refuses(address, width),
        _ if action != AccessAction::Read => {
            Some(AccessFaultKind::ReadOnly { allocation: AllocationSpan { address: 0, bytes: parameters } })
        }
        _ => access::check_parameter(address, width, parameters),
    };
    let possible = {
        let (new, old) = values(&warp.registers, memory, shared, intent, space);
        let touch = Touch { intent, space, warp: warp.index, new: &new, old: &old };
        let in_one_memory = match space {
            Space::Shared | Space::Global | Space::Constant => true,
            Space::ClusterShared => refuse(addresses[mask.trailing_zeros() as usize & 31]).is_none(),
            _ => false,
        };
        let mut shape = Shape::new();
        let done = in_one_memory && {
            let lowest = shape.follow(mask, addresses, width);
            checker.access(&touch, &mut shape, lowest)
        };
        if done { mask } else { checker.access_per_lane(&touch, mask, addresses, &refuse) }
    };
    if space == Space::Local && checker.checks().init {
        written::access(&mut checker, warp, intent, possible, addresses);
    }
    worker.checker = Some(checker);
    possible
}

/// What a lane is about to store, and what is in memory at an address.
#[inline(always)]
fn values<'a>(
    registers: &'a Registers<'_>,
    memory: &'a Memory,
    shared: &'a SharedMemory,
    intent: &'a Intent<'a>,
    space: Space,
) -> (impl Fn(usize) -> u128 + 'a, impl Fn(u64) -> u128 + 'a) {
    let width = intent.width;
    let old = move |address: u64| match space {
        Space::Shared => shared.value(address, width),
        _ => memory.value(address, width),
    };
    (move |lane: usize| stored(registers, intent, lane), old)
}

/// What a lane is about to store.
fn stored(registers: &Registers<'_>, intent: &Intent, lane: usize) -> u128 {
    let rows = match intent.stored {
        Stored::Unknown => return 0,
        Stored::Words(words) => {
            let value = words.iter().rev().fold(0, |value, row| value << 32 | u128::from(row[lane]));
            return value & u128::MAX >> (128 - 8 * intent.width.clamp(1, 16));
        }
        Stored::Registers(rows) => rows,
    };
    let bits = intent.element * 8;
    rows.iter().rev().fold(0, |value, &row| match intent.element {
        8 => value.unbounded_shl(bits) | u128::from(registers.wide(row)[lane]),
        _ => value.unbounded_shl(bits) | u128::from(registers.word(row)[lane] & (u32::MAX >> (32 - bits))),
    })
}
