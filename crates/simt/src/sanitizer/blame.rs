//! Makes findings of two accesses that race, or that may not see each other: which is blamed, and
//! at what address.

use ptx::Space;

use super::asynchronous::copies::Copies;
use super::finding::{Conflict, MapFence};
use super::finding::{FindingKind, RaceScope};
use super::findings::{Findings, Party};
use super::race::{MarkConflict, Races};
use super::touch::Accessed;
use crate::program::Path;
use crate::site::AccessAction;

/// Reports a race, unless a write does not change the value.
#[cold]
pub(super) fn report_race(
    findings: &mut Findings,
    races: &Races,
    copies: &Copies,
    access: &Accessed,
    conflict: &MarkConflict,
) {
    let &Accessed { touch, lanes, target, .. } = access;
    let &MarkConflict { lane, before, was_write, .. } = conflict;
    let (start, _) = races.block_of(before);
    let warp = races.in_cluster(touch.warp);
    let of_block = races.threads_of_block;
    let same_block = start == races.clocks.start && before.thread() / of_block == warp * 32 / of_block;
    let (address, width) = (target.address(lanes, lane), touch.operation.width);
    let is_plain = !was_write || !before.is_strong() || before.is_volatile();
    if touch.operation.action == AccessAction::Write && is_plain {
        let new = (touch.new)(lane);
        let same_instruction = was_write
            && same_block
            && before.place() == touch.operation.place
            && before.thread() / 32 == warp
            && before.time() == races.clocks.interval(warp);
        let by_lane = same_instruction && (touch.new)(before.thread() as usize % 32) == new;
        let old = || match touch.space {
            Space::Shared if copies.any() => {
                copies.value_then(races.first_shared + address, width, (touch.old)(address))
            }
            _ => (touch.old)(address),
        };
        if by_lane || old() == new {
            return;
        }
    }
    let scope = match same_block {
        false => RaceScope::Grid,
        true if before.thread() / 32 == warp => RaceScope::Warp,
        true => RaceScope::Block,
    };
    let (address, [first, second]) = parties(races, access, conflict);
    let (space, allocation) = (touch.space, target.span);
    let actions = [touch.operation.action, action_of(conflict)];
    let conflict = Conflict { space, address, width, actions, allocation };
    findings.add(FindingKind::Race { scope, conflict }, first, Some(second));
}

/// Reports an access that may not see an earlier write: through another path or proxy, or as
/// read-only data. Also reports a write to what was read as read-only data before, unless it does
/// not change the value.
#[cold]
pub(super) fn report_unseen(findings: &mut Findings, races: &Races, access: &Accessed, conflict: &MarkConflict) {
    let &Accessed { touch, lanes, target, .. } = access;
    let (action, width) = (touch.operation.action, touch.operation.width);
    if action == AccessAction::Write && (touch.new)(conflict.lane) == (touch.old)(target.address(lanes, conflict.lane))
    {
        return;
    }
    let (address, [first, second]) = parties(races, access, conflict);
    let (space, actions, allocation) = (touch.space, [action, action_of(conflict)], target.span);
    let conflict = Conflict { space, address, width, actions, allocation };
    let kind = match touch.operation.path {
        Path::Texture => FindingKind::WrittenTexture(conflict),
        Path::Async => FindingKind::MissingProxyFence(conflict),
        _ => FindingKind::WrittenReadOnly(conflict),
    };
    findings.add(kind, first, Some(second));
}

/// Reports a tensor map whose last write a copy may not see.
#[cold]
pub(super) fn report_map(
    findings: &mut Findings,
    races: &Races,
    access: &Accessed,
    conflict: &MarkConflict,
    missing: MapFence,
) {
    let &Accessed { touch, target, .. } = access;
    let (address, [first, second]) = parties(races, access, conflict);
    let (width, allocation) = (touch.operation.width, target.span);
    let actions = [touch.operation.action, action_of(conflict)];
    let conflict = Conflict { space: Space::Global, address, width, actions, allocation };
    let kind = FindingKind::MissingTensorMapFence { conflict, missing };
    findings.add(kind, first, Some(second));
}

/// The first address that both parties access.
fn parties(races: &Races, access: &Accessed, conflict: &MarkConflict) -> (u64, [Party; 2]) {
    let &Accessed { block, touch, lanes, target } = access;
    let &MarkConflict { lane, cell, before, .. } = conflict;
    let (_, first_block) = races.block_of(before);
    let of_block = races.threads_of_block;
    let party = |place, block, thread, action| Party { place, block, thread, action: Some(action) };
    let first = party(touch.operation.place, block, touch.warp * 32 + lane as u32, touch.operation.action);
    let other_block = first_block + u64::from(before.thread() / of_block);
    let second = party(before.place(), other_block, before.thread() % of_block, action_of(conflict));
    let is_shared = matches!(touch.space, Space::Shared | Space::ClusterShared);
    let start = if is_shared { 0_u64.wrapping_sub(races.first_shared) } else { target.base };
    let address = target.address(lanes, lane).max(start.wrapping_add((cell as u64) << races.cell_shift));
    (address, [first, second])
}

/// What the earlier access did.
fn action_of(conflict: &MarkConflict) -> AccessAction {
    match conflict.was_write {
        true if conflict.before.is_strong() && !conflict.before.is_volatile() => AccessAction::Atomic,
        true => AccessAction::Write,
        false => AccessAction::Read,
    }
}
