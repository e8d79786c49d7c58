//! Counts the requests of each access, as the hardware counts them. Every launch does; with a model
//! of a GPU, by the banks of that GPU.

use ptx::Space;

use crate::address::Access;
use crate::coalesce::{self, SECTOR_BYTES, Sectors, Wavefronts};
use crate::counters::{InstructionCounters, MemoryCounters};
use crate::instruction::AccessKind;
use crate::machine::access::{Shaped, addresses, follow_shape};
use crate::machine::observe::observed::{Observed, each_request};
use crate::machine::state::{At, Modelled, Warp, Worker};
use crate::model::{self, BankRule};
use crate::program::{AddressOperand, MemoryOperation, Requests};

/// The banks of shared memory, by which its wavefronts are counted.
#[inline(always)]
pub(in crate::machine) fn banks(modelled: &Option<Box<Modelled>>) -> BankRule {
    modelled.as_ref().map_or(BankRule::Words, |modelled| modelled.banks)
}

/// Counts any access.
pub(in crate::machine) fn access(worker: &mut Worker, warp: &Warp, access: &Observed, at: At) {
    let banks = banks(&worker.modelled);
    each_request(worker, warp, access, at, &mut |worker, space, request| {
        count(&mut worker.counters[at.place as usize], warp, banks, access.operation.kind, space, request);
    });
}

/// Counts a load or a store that does not have its own request in one state space.
#[inline(never)]
pub(in crate::machine) fn requests(
    worker: &mut Worker,
    warp: &Warp,
    operation: &MemoryOperation,
    reach: &AddressOperand,
    at: At,
) {
    let Requests::Others(others) = &operation.requests else {
        let addresses = addresses(warp, reach, at.split);
        return access(worker, warp, &Observed::new(operation, reach.space, &addresses), at);
    };
    let (banks, rank) = (banks(&worker.modelled), worker.block.rank);
    for other in others {
        let counters = &mut worker.counters[at.place as usize];
        let found = follow_shape(&mut worker.shapes, &warp.registers, &other.reach, at.mask, (other.width, rank));
        if let Some(mut found) = found {
            shape(counters, banks, operation.kind, &mut found);
        } else {
            let own = MemoryOperation::new(operation.place, operation.kind, other.width);
            requests(worker, warp, &own, &other.reach, at);
        }
    }
}

/// Counts a load or a store whose shape is known, of shared, global or constant memory.
#[inline(always)]
pub(in crate::machine) fn shape(
    counters: &mut InstructionCounters,
    banks: BankRule,
    kind: AccessKind,
    found: &mut Shaped,
) {
    let Shaped { shape, space, lowest } = found;
    match (space, banks) {
        (Space::Shared, BankRule::Words) => count_shared(
            counters,
            match kind {
                AccessKind::Load => shape.wavefronts(*lowest, coalesce::load_wavefronts),
                _ => shape.wavefronts(*lowest, coalesce::store_wavefronts),
            },
        ),
        (Space::Shared, banks) => {
            count_shared(counters, shape.with_access(*lowest, |access| wavefronts(banks, kind, access)));
        }
        (Space::Global, _) => count_sectors(&mut counters.global, shape.sectors(*lowest)),
        _ => count_constant(counters, shape.addresses()),
    }
}

/// Counts an access whose lanes are all in one state space.
fn count(
    counters: &mut InstructionCounters,
    warp: &Warp,
    banks: BankRule,
    kind: AccessKind,
    space: Space,
    access: &Access,
) {
    match space {
        Space::Shared => count_shared(counters, wavefronts(banks, kind, access)),
        Space::ClusterShared => {
            counters.distributed.requests += 1;
            counters.distributed.bytes += u64::from(access.mask.count_ones() * access.width);
        }
        Space::Local => {
            count_sectors(&mut counters.local, warp.local.sectors(access));
            // Each word of a lane is elsewhere, and a request.
            counters.local.requests += u64::from(access.width.div_ceil(4).saturating_sub(1));
        }
        Space::Constant => count_constant(counters, coalesce::addresses(access)),
        Space::Global if matches!(kind, AccessKind::Atomic | AccessKind::Reduction) => {
            count_sectors(&mut counters.global, coalesce::atomic_sectors(access));
        }
        Space::Global => count_sectors(&mut counters.global, coalesce::sectors(access)),
        _ => {}
    }
}

/// The passes over banks of shared memory.
pub(in crate::machine) fn wavefronts(banks: BankRule, kind: AccessKind, access: &Access) -> Wavefronts {
    model::wavefronts(banks, access, kind == AccessKind::Load)
}

/// Counts a request to global or local memory.
#[inline(always)]
pub(in crate::machine) fn count_sectors(counters: &mut MemoryCounters, found: Sectors) {
    counters.requests += 1;
    counters.sectors += u64::from(found.sectors);
    counters.ideal_sectors += u64::from(found.bytes.div_ceil(SECTOR_BYTES));
    counters.bytes += u64::from(found.bytes);
}

#[inline(always)]
fn count_constant(counters: &mut InstructionCounters, addresses: u32) {
    counters.constant.requests += 1;
    counters.constant.addresses += u64::from(addresses);
}

#[inline(always)]
pub(in crate::machine) fn count_shared(counters: &mut InstructionCounters, found: Wavefronts) {
    counters.shared.requests += 1;
    counters.shared.wavefronts += u64::from(found.wavefronts);
    counters.shared.bank_conflicts += u64::from(found.conflicts);
}
