//! Reads and changes mbarriers in shared memory, of the block or of another one in its cluster. All
//! instructions that change an mbarrier go through this.

use ptx::Space;

use crate::address::{AccessFault, AccessFaultKind};
use crate::lanes::{WideRow, lanes};
use crate::machine::state::{Refused, Split, Warp, Worker};
use crate::machine::{access, observe};
use crate::memory::{Mbarrier, MbarrierFault};
use crate::program::AddressOperand;
use crate::site::AccessAction;
use crate::trap::TrapKind;

/// The addresses of mbarriers in shared memory: the block's own or, if `others` is set, of any
/// block in its cluster.
pub(crate) fn barrier_addresses(
    worker: &Worker,
    warp: &Warp,
    reach: &AddressOperand,
    split: &Split,
    mask: u32,
    others: bool,
) -> Result<WideRow, Box<Refused>> {
    let rank = worker.block.rank;
    let mut addresses = access::addresses(warp, reach, split);
    for lane in lanes(mask) {
        let (space, address) = access::resolve(reach.space, addresses[lane], rank);
        if space != Space::Shared && !(others && space == Space::ClusterShared) {
            let kind = AccessFaultKind::WrongSpace { needed: if others { "shared" } else { "the block's own shared" } };
            let fault = AccessFault { lane: lane as u32, address, kind };
            return Err(Refused::new(AccessAction::Atomic, space, 8, fault));
        }
        addresses[lane] = address;
    }
    Ok(addresses)
}

/// Replaces the bits at an mbarrier's address, and returns the old ones.
pub(crate) fn exchange(
    worker: &Worker,
    address: u64,
    lane: usize,
    change: impl Fn(u64) -> u64,
) -> Result<u64, Box<Refused>> {
    let shared = worker.shared_at(address);
    shared.and_then(|shared| shared.atomic64(address, change)).map_err(|kind| {
        let fault = AccessFault { lane: lane as u32, address, kind };
        Refused::new(AccessAction::Atomic, Space::Shared, 8, fault)
    })
}

pub(crate) fn invalid(address: u64, lane: usize, fault: MbarrierFault) -> Box<Refused> {
    Refused::because(TrapKind::InvalidMbarrier { address, fault }, lane as u32)
}

/// Changes an mbarrier. Returns its old bits.
pub(crate) fn update(
    worker: &mut Worker,
    address: u64,
    lane: usize,
    change: impl FnOnce(&mut Mbarrier) -> Result<(), MbarrierFault>,
) -> Result<u64, Box<Refused>> {
    let before = exchange(worker, address, lane, |bits| bits)?;
    let mut barrier = Mbarrier::from_bits(before).map_err(|fault| invalid(address, lane, fault))?;
    let parity = barrier.parity;
    change(&mut barrier).map_err(|fault| invalid(address, lane, fault))?;
    if barrier.parity != parity {
        observe::completes_phase(worker, address);
    }
    exchange(worker, address, lane, |_| barrier.to_bits())?;
    Ok(before)
}
