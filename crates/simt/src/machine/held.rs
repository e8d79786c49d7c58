//! Sanitizer checks before steps that access registers of a `wgmma` product under way.

use crate::machine::state::held::Wrong;
use crate::machine::state::{Split, Warp, Worker};
use crate::program::Held;
use crate::sanitizer::FindingKind;

/// A warp is about to execute an instruction on such registers.
pub(crate) fn follow(worker: &mut Worker, warp: &mut Warp, split: &Split, held: &Held, mask: u32) {
    let code = worker.launched.code;
    let (Some(&place), Some(kernel)) = (code.origins.get(split.pc as usize), code.functions.first()) else { return };
    let wrong = warp.held.follow(held, place);
    let Some(checker) = &mut worker.checker else { return };
    let strict = checker.checks().strict;
    for wrong in wrong.into_iter().filter(|wrong| strict || !matches!(wrong, Wrong::Held { unpacked: true, .. })) {
        let (register, before) = match wrong {
            Wrong::Held { register, before, .. } | Wrong::Unfenced { register, before } => (register, before),
        };
        let register = kernel.held.get(register as usize).map_or_else(String::new, |name| name.to_string());
        let kind = match wrong {
            Wrong::Held { action, part, unpacked, .. } => {
                FindingKind::PendingRegister { register, action, part, unpacked }
            }
            Wrong::Unfenced { .. } => FindingKind::MissingProductFence { register },
        };
        let thread = warp.index * 32 + (mask.trailing_zeros() & 31);
        checker.report_both(kind, (place, thread), (before, thread));
    }
}
