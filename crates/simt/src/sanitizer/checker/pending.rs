//! Operations that run beside the threads: `cp.async`, bulk copies, products. The hooks of
//! `machine/observe` begin and end them here, and `Checker::reach` compares each access with those
//! under way. Changes the findings and what is under way; a settled copy's accesses go to the race
//! detector.

use ptx::Space;

use super::Checker;
use crate::memory::Lanes;
use crate::sanitizer::asynchronous::copies::{Met, TrackedCopy};
use crate::sanitizer::asynchronous::underway::{Ahead, Operation, Run, Underway};
use crate::sanitizer::finding::{Conflict, FindingKind};
use crate::sanitizer::findings::Party;
use crate::sanitizer::touch::{Intent, Target, Touch};
use crate::site::AccessAction;

impl Checker<'_> {
    /// Reports lanes whose access conflicts with a `cp.async` under way.
    #[cold]
    #[inline(never)]
    pub(super) fn meet_copies(&mut self, touch: &Touch, mask: u32, lanes: &Lanes, target: &Target) {
        let Touch { intent, space, warp, .. } = *touch;
        let &Intent { action, place, width, .. } = intent;
        for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
            let address = target.address(lanes, lane);
            let old = || (touch.old)(address);
            let (met, does) = match (space, action) {
                (Space::Shared, _) => (self.copies.writing(address, width), AccessAction::Write),
                (_, AccessAction::Read) => (None, AccessAction::Read),
                _ => (self.copies.reading(address, width), AccessAction::Read),
            };
            let Some(Met { copy, lane: copied_by, address: meeting }) = met else { continue };
            // A write that does not change the value, or writes what the copy will write, is
            // harmless.
            let then = if space == Space::Shared { self.copies.value_then(address, width, old()) } else { old() };
            if action == AccessAction::Write && (touch.new)(lane) == then {
                continue;
            }
            let party =
                |place, warp, lane, action| Party { place, block: self.block, thread: warp * 32 + lane, action };
            let first = party(place, warp, lane as u32, Some(action));
            let second = party(copy.place, copy.warp, copied_by as u32, Some(does));
            let actions = [action, does];
            let kind =
                FindingKind::PendingCopy(Conflict { space, address: meeting, width, actions, allocation: target.span });
            self.findings.add(kind, first, Some(second));
        }
    }

    /// Reports lanes whose access conflicts with a bulk copy or product under way.
    #[cold]
    #[inline(never)]
    pub(super) fn meet_underway(&mut self, touch: &Touch, mask: u32, lanes: &Lanes, target: &Target) {
        let Touch { intent, space, warp, .. } = *touch;
        let &Intent { action, place, width, .. } = intent;
        for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
            let accessed = target.address(lanes, lane);
            let run = Run { shared: target.allocation.is_none(), start: accessed, bytes: width.into() };
            let Some(Ahead { operation, does, address }) = self.underway.ahead_of(action, run) else { continue };
            // A write that does not change the value does not change what is read.
            let changes = || (touch.new)(lane) != (touch.old)(accessed);
            if does == AccessAction::Read && action == AccessAction::Write && !changes() {
                continue;
            }
            let thread = warp * 32 + lane as u32;
            let first = Party { place, block: self.block, thread, action: Some(action) };
            let &Operation { place, block, thread, is_product, .. } = operation;
            let second = Party { place, block, thread, action: Some(does) };
            let (actions, allocation) = ([action, does], target.span);
            let kind = match is_product {
                true => {
                    FindingKind::PendingProduct(Conflict { space: Space::Shared, address, width, actions, allocation })
                }
                false => FindingKind::PendingCopy(Conflict { space, address, width, actions, allocation }),
            };
            self.findings.add(kind, first, Some(second));
        }
    }

    /// The operations under way beside the threads, if they are tracked.
    pub fn underway(&mut self) -> Option<&mut Underway> {
        self.races.is_some().then_some(&mut self.underway)
    }

    /// Starts tracking a copy whose accesses have been reported. Returns its number, or 0 if it is
    /// not tracked.
    pub fn begin_copy(&mut self, copy: TrackedCopy) -> u32 {
        if self.races.is_some() { self.copies.begin(copy) } else { 0 }
    }

    /// From now on, threads other than those that began a copy wait for it.
    pub fn settle_copy(&mut self, number: u32, mask: u32) {
        if let Some(races) = &mut self.races {
            self.copies.settle(number, mask, races, self.memory);
        }
    }

    /// The copies of some lanes are complete, and were waited for.
    pub fn end_copy(&mut self, number: u32, mask: u32) {
        self.copies.end(number, mask);
    }
}
