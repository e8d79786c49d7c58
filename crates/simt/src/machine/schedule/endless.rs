//! Loops that never end: they touch no memory, and after an iteration all registers are as before.
//! Compilers make them of `while (!*flag);` without `volatile`: they load the flag once, before the
//! loop.
//!
//! From time to time, the next instructions of a warp are executed on a copy of its registers. If
//! that leads back to the same instruction with the same values, by arithmetic and branches alone,
//! these lanes do the same forever, whatever others do, and wait for nothing. The launch stops once
//! nothing else can proceed. Loops in which lanes diverge are not found; they reach the launch's
//! limit.

use crate::machine::state::{Split, Wait, Warp};
use crate::program::{Action, Code};

/// The longest search, in instructions.
const LONGEST: u32 = 1 << 8;
/// The most comparisons with the first values.
const COMPARISONS: u32 = 1 << 4;

/// Makes the lanes of a warp wait forever that are in such a loop. Call it when the warp has
/// reached [`Warp::look_at`].
pub(crate) fn look(code: &Code, warp: &mut Warp) {
    if warp.executed < warp.look_for_loop_at {
        return;
    }
    // Half as often each time.
    warp.look_for_loop_at = warp.executed * 2;
    let mut ready = std::mem::take(&mut warp.ready);
    ready.retain(|split| {
        warp.enter(split);
        let is_endless = returns(code, warp, split);
        if is_endless {
            warp.waiting.push((*split, Wait::Forever));
        }
        !is_endless
    });
    warp.ready = ready;
}

/// Whether a split, whose registers are the current ones, comes back to where it is with all values
/// as they are, without any effect.
fn returns(code: &Code, warp: &Warp, split: &Split) -> bool {
    let (mask, mut pc) = (split.mask, split.pc);
    let mut registers = warp.registers.clone();
    let mut comparisons = 0;
    for _ in 0..LONGEST {
        if pc == split.join_at {
            return false;
        }
        let Some(instruction) = code.instructions.get(pc as usize) else { return false };
        let active = mask & registers.predicate(instruction.guard);
        match &instruction.action {
            Action::Lanes(handler, operands) => {
                if active != 0 {
                    handler(&mut registers, operands, active);
                }
                pc += 1;
            }
            Action::Branch { target, .. } if active == mask => pc = *target,
            Action::Nothing => pc += 1,
            _ if active == 0 => pc += 1,
            _ => return false,
        }
        if pc == split.pc {
            if registers.has_values_of(&warp.registers) {
                return true;
            }
            comparisons += 1;
            if comparisons == COMPARISONS {
                return false;
            }
        }
    }
    false
}
