//! What the machine tells the sanitizer, and what it keeps of it.

use ptx::Space;

use super::{Checks, FindingKind, Findings, Party};
use crate::memory::{Access, AccessFaultKind, AllocationSpan, Memory};
use crate::trap::AccessAction;

/// An access, as the machine is about to make it.
pub(crate) struct Touch<'a> {
    pub space: Space,
    pub action: AccessAction,
    pub access: Access<'a>,
    /// Index of the instruction in `Code::places`.
    pub place: u32,
    /// The warp in its block.
    pub warp: u32,
}

/// The sanitizer of one worker.
pub(crate) struct Checker<'l> {
    checks: Checks,
    memory: &'l Memory,
    findings: Findings,
    /// The block that runs.
    block: u64,
}

impl<'l> Checker<'l> {
    pub fn new(checks: Checks, memory: &'l Memory) -> Self {
        Self { checks, memory, findings: Findings::default(), block: 0 }
    }

    /// A block starts.
    pub fn start(&mut self, block: u64) {
        self.block = block;
    }

    /// An access that is about to be made. `refuse` says why an address of a space that is not device memory cannot be
    /// accessed. Returns the lanes that can make it.
    pub fn access(&mut self, touch: &Touch, refuse: &dyn Fn(u64) -> Option<AccessFaultKind>) -> u32 {
        if self.checks.memory { self.possible(touch, refuse) } else { touch.access.mask }
    }

    /// Tells of the lanes whose access is not possible, and returns the others.
    fn possible(&mut self, touch: &Touch, refuse: &dyn Fn(u64) -> Option<AccessFaultKind>) -> u32 {
        let Touch { space, action, ref access, place, warp } = *touch;
        let write = action != AccessAction::Read;
        if matches!(space, Space::Global | Space::Constant) {
            let first = access.addresses[(access.mask.trailing_zeros() & 31) as usize];
            if self.memory.locate(first, write).is_some_and(|(_, span)| fits(access, span)) {
                return access.mask;
            }
        }
        let mut mask = access.mask;
        for lane in (0..32).filter(|lane| access.mask >> lane & 1 == 1) {
            let (address, width) = (access.addresses[lane], access.width);
            let fault = match space {
                Space::Global | Space::Constant => self.memory.check(address, width, write).err(),
                _ => refuse(address),
            };
            if let Some(fault) = fault {
                mask &= !(1 << lane);
                let party = Party { place, block: self.block, thread: warp * 32 + lane as u32, action: Some(action) };
                self.findings.add(FindingKind::Access { action, space, address, width, fault }, party, None);
            }
        }
        mask
    }

    /// What was found.
    pub fn finish(self) -> Findings {
        self.findings
    }
}

/// Whether all active lanes access aligned bytes of one allocation.
#[inline(always)]
fn fits(access: &Access, span: AllocationSpan) -> bool {
    let Some(last) = span.bytes.checked_sub(u64::from(access.width)) else { return false };
    let (mut beyond, mut low) = (false, 0);
    for (lane, address) in access.addresses.iter().enumerate() {
        let active = access.mask >> lane & 1 == 1;
        beyond |= active & (address.wrapping_sub(span.address) > last);
        low |= if active { *address } else { 0 };
    }
    !beyond && low & u64::from(access.width - 1) == 0
}
