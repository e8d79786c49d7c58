//! Operations that run beside the threads: `cp.async`, bulk copies, products. The checker begins
//! and ends them, and compares each access with those under way.

use ptx::Space;

use crate::program::MemoryOperation;
use crate::sanitizer::asynchronous::copies::{Copies, Overlap};
use crate::sanitizer::asynchronous::underway::{Ahead, Operation, Run, Underway};
use crate::sanitizer::finding::{Conflict, FindingKind};
use crate::sanitizer::findings::{Findings, Party};
use crate::sanitizer::touch::{Accessed, Touch};
use crate::site::AccessAction;

/// The operations that are under way.
#[derive(Default)]
pub(super) struct Operations {
    /// Copies of lanes.
    pub copies: Copies,
    /// Bulk copies and products.
    pub underway: Underway,
}

impl Operations {
    pub fn clear(&mut self) {
        self.copies.clear();
        self.underway.clear();
    }

    /// Reports lanes of `mask` whose access conflicts with an operation under way. `first_shared`:
    /// where the shared memory of the running cluster begins among those of all blocks.
    #[inline(always)]
    pub fn report<'a>(&self, findings: &mut Findings, access: impl Fn() -> Accessed<'a>, mask: u32, first_shared: u64) {
        let base = |access: &Accessed| if access.target.allocation.is_none() { first_shared } else { 0 };
        if self.copies.any() {
            let access = access();
            self.report_copies(findings, &access, mask, base(&access));
        }
        if self.underway.any(false) {
            let access = access();
            if self.underway.any(access.target.allocation.is_none()) {
                self.report_underway(findings, &access, mask, base(&access));
            }
        }
    }

    /// Reports lanes whose access conflicts with a `cp.async` under way.
    #[cold]
    #[inline(never)]
    fn report_copies(&self, findings: &mut Findings, access: &Accessed, mask: u32, base: u64) {
        let &Accessed { block, touch, lanes, target } = access;
        let Touch { operation, space, warp, .. } = *touch;
        let &MemoryOperation { place, width, .. } = operation;
        let action = operation.action;
        for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
            let accessed = target.address(lanes, lane);
            let old = || (touch.old)(accessed);
            let is_shared = target.allocation.is_none();
            let (overlap, does) = match action {
                _ if is_shared => (self.copies.writing(accessed + base, width), AccessAction::Write),
                AccessAction::Read => (None, AccessAction::Read),
                _ => (self.copies.reading(accessed, width), AccessAction::Read),
            };
            let Some(Overlap { copy, lane: copied_by, address }) = overlap else { continue };
            // A write that does not change the value, or writes what the copy will write, is
            // harmless.
            let then = if is_shared { self.copies.value_then(accessed + base, width, old()) } else { old() };
            if action == AccessAction::Write && (touch.new)(lane) == then {
                continue;
            }
            let party = |place, block, warp, lane, action| Party { place, block, thread: warp * 32 + lane, action };
            let first = party(place, block, warp, lane as u32, Some(action));
            let second = party(copy.place, copy.block, copy.warp, copied_by as u32, Some(does));
            let (address, actions) = (address - base, [action, does]);
            let kind = FindingKind::PendingCopy(Conflict { space, address, width, actions, allocation: target.span });
            findings.add(kind, first, Some(second));
        }
    }

    /// Reports lanes whose access conflicts with a bulk copy or product under way.
    #[cold]
    #[inline(never)]
    fn report_underway(&self, findings: &mut Findings, access: &Accessed, mask: u32, base: u64) {
        let &Accessed { block, touch, lanes, target } = access;
        let Touch { operation, space, warp, .. } = *touch;
        let &MemoryOperation { place, width, .. } = operation;
        let action = operation.action;
        for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
            let accessed = target.address(lanes, lane);
            let run = Run { shared: target.allocation.is_none(), start: accessed + base, bytes: width.into() };
            let Some(Ahead { operation, does, address }) = self.underway.ahead_of(action, run) else { continue };
            let address = address - base;
            // A write that does not change the value does not change what is read, or written.
            let changes = || (touch.new)(lane) != (touch.old)(accessed);
            let is_harmless = does == AccessAction::Read || operation.left;
            if is_harmless && action == AccessAction::Write && !changes() {
                continue;
            }
            let thread = warp * 32 + lane as u32;
            let first = Party { place, block, thread, action: Some(action) };
            let &Operation { place, block, thread, is_product, .. } = operation;
            let second = Party { place, block, thread, action: Some(does) };
            let (actions, allocation) = ([action, does], target.span);
            let kind = match is_product {
                true => {
                    FindingKind::PendingProduct(Conflict { space: Space::Shared, address, width, actions, allocation })
                }
                false => FindingKind::PendingCopy(Conflict { space, address, width, actions, allocation }),
            };
            findings.add(kind, first, Some(second));
        }
    }
}
