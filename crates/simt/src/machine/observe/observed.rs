//! An access of a warp, as its observers see it, and the requests that the hardware makes for it.

use ptx::Space;

use crate::address::Access;
use crate::lanes::{Row, WideRow};
use crate::machine::access::{addresses, by_space};
use crate::machine::state::{At, Warp, Worker};
use crate::program::{MemoryOperation, Requests};

/// An access that lanes of a warp are about to make, as its observers see it.
pub(in crate::machine) struct Observed<'a> {
    pub operation: &'a MemoryOperation,
    /// The state space that the instruction names.
    pub space: Space,
    pub addresses: &'a WideRow,
    /// Where the shape of the instruction's last access is kept, if it is.
    pub slot: Option<u32>,
    pub stored: Stored<'a>,
}

/// What is about to be stored.
#[derive(Clone, Copy)]
pub(in crate::machine) enum Stored<'a> {
    /// Nothing, or a value that depends on the old one.
    Unknown,
    /// The values of these rows of registers.
    Registers(&'a [u32]),
    Words(&'a [Row; 4]),
}

impl<'a> Observed<'a> {
    /// An access that stores nothing that is known, with addresses that were computed for it alone.
    pub fn new(operation: &'a MemoryOperation, space: Space, addresses: &'a WideRow) -> Self {
        Self { operation, space, addresses, slot: None, stored: Stored::Unknown }
    }

    /// The same, storing these words.
    pub fn storing(self, words: &'a [Row; 4]) -> Self {
        Self { stored: Stored::Words(words), ..self }
    }
}

/// Calls `each` with the requests that the hardware makes for an access, each in one state space.
pub(super) fn each_request(
    worker: &mut Worker,
    warp: &Warp,
    access: &Observed,
    at: At,
    each: &mut dyn FnMut(&mut Worker, Space, &Access),
) {
    let mut in_spaces = |mask: u32, width: u32, addresses: &WideRow| {
        // No access is rejected here.
        let _ = by_space(access.space, worker.block.rank, mask, addresses, &mut |space, mask, addresses| {
            each(worker, space, &Access::new(mask, addresses, width));
            Ok(())
        });
    };
    let width = access.operation.width;
    match &access.operation.requests {
        Requests::Own => in_spaces(at.mask, width, access.addresses),
        Requests::OneLane => in_spaces(at.mask & at.mask.wrapping_neg(), width, access.addresses),
        Requests::Others(others) => {
            others.iter().for_each(|other| in_spaces(at.mask, other.width, &addresses(warp, &other.reach, at.split)));
        }
    }
}
