//! Which requests the hardware makes for a function's accesses. `ptxas` optimises memory
//! instructions, so machine code has fewer of them, and wider ones, than PTX; counters count
//! machine code.
//!
//! Only the counters use these requests: each access is still executed, checked and reported where
//! PTX has it. A request is counted at the first access that it serves.
//!
//! ```text
//! body      a function and its accesses, for the other files
//! live      which registers are live: loads of others are not made, and an atomic operation whose
//!           old value nobody needs is a reduction
//! values    which addresses are the same but for a constant, and what they are multiples of; forms
//!           has how values are kept, results what each instruction makes of them
//! versions  between which accesses memory cannot have changed
//! flow      which basic blocks come before which on every path
//! loads     loads that are left out, and loads that become one
//! stores    the same of stores
//! divergent branches at which a warp may diverge so that the number of requests changes
//! ```
//!
//! The rules were found by comparing PTX with the machine code that `ptxas` 13.0 makes of it for
//! sm_90 (`nvdisasm`), for some 350 small kernels with one question each. They are:
//!
//! - A load whose value is not needed is left out, and so are elements of a vector: a `ld.v4` of
//!   which two neighbours are needed is a load of 8 bytes. Volatile accesses stay as they are.
//! - A load of what an earlier load has read, or the last store has written, is left out, if the
//!   earlier one is on every path to it and memory has not changed: nothing has been stored to the
//!   same memory, whatever the address, and no barrier, fence or atomic operation was between.
//!   Loads that are declared read-only (`.nc`) never change. A loop changes global memory.
//! - Loads of 4-byte words in the same aligned 16 bytes become one: three or four of them a load of
//!   16 bytes, two aligned neighbours a load of 8. Two neighbours of 8 bytes become a load of 16.
//!   Bytes and halves stay alone. Constant memory has loads of 8 bytes at most.
//! - Stores become one if all of the window are next to each other, with no access to the same
//!   memory between, and exactly fill 8 or 16 bytes. A store to what the next store overwrites is
//!   left out.
//! - An address is known to be a multiple of 16 if it is computed so: shared and local variables
//!   have known addresses, products and shifts by constants count, and so does the width of a
//!   vector access at the same address before. Pointers passed to a kernel are multiples of
//!   nothing, not even with `.ptr .align`, nor are global variables.
//! - Accesses with a predicate of their own are left alone, which compilers do not emit.
//! - Relaxed atomic operations on global memory without result are `RED`, but for exchanges; those
//!   through generic addresses are `ATOM`. If all lanes of a warp are sure to have one address,
//!   sums, extremes and bit operations on 32-bit integers, and sums of a constant, are combined
//!   first, and one lane makes the access.
//!
//! Not modelled: loops that `ptxas` unrolls, where loads of several iterations become one, or one
//! becomes several if lanes diverge; conditions that it merges; and loads that both sides of a
//! branch have.

mod body;
mod divergent;
mod flow;
mod forms;
mod live;
mod loads;
mod results;
mod stores;
mod values;
mod versions;

use ptx::{AtomicOp, Instruction, Kind, Op, Operand, Ordering, Space};

use super::blocks::BasicBlocks;
pub(crate) use body::Combined;
pub(super) use body::{Body, Found, Part, Place};
use flow::Flow;
use live::Live;
use values::Values;
use versions::Versions;

/// Finds how a function's accesses are counted.
pub(super) fn find(body: &Body<'_>) -> Found {
    let mut found = Found::default();
    let accesses = |instruction: &Instruction| {
        matches!(instruction.op, Op::Load { .. } | Op::Store { .. } | Op::Atomic { .. } | Op::AtomicVector { .. })
    };
    if !body.instructions.iter().any(accesses) {
        return found;
    }
    let blocks = BasicBlocks::new(body.instructions.len(), body.successors);
    let flow = Flow::new(&blocks, body.successors);
    let live = Live::new(body);
    let values = Values::new(body, &blocks, &flow);
    let versions = Versions::new(body, &blocks, &flow);
    loads::find(body, &flow, &live, &values, &versions, &mut found);
    stores::find(body, &flow, &live, &values, &mut found);
    found.divergent = divergent::find(body, &blocks, &flow);
    for (position, instruction) in body.instructions.iter().enumerate() {
        if let Some(combined) = combined(&instruction.op, position, &live, &values) {
            found.atomics.insert(position, combined);
        }
    }
    found
}

/// How an atomic operation is made, if not as PTX has it.
fn combined(op: &Op, position: usize, live: &Live, values: &Values) -> Option<Combined> {
    let plain = |ordering: &Ordering| matches!(ordering, Ordering::Weak | Ordering::Relaxed);
    match op {
        Op::Atomic { space, op, ordering, ty, is_reduction, dst, a, .. } => {
            let unused = *is_reduction || !dst.is_some_and(|register| live.is_needed(register));
            let is_swap = matches!(op, AtomicOp::Exchange | AtomicOp::CompareAndSwap);
            let is_reduction = unused && plain(ordering) && *space != Space::Generic && !is_swap;
            let is_word = ty.bits() == 32 && ty.kind() != Kind::Float;
            let combines = match op {
                AtomicOp::Add if matches!(a, Operand::Integer(_)) && ty.kind() != Kind::Float => {
                    ty.bits() == 32 || *space == Space::Global
                }
                AtomicOp::Add => is_word,
                AtomicOp::Minimum | AtomicOp::Maximum | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => {
                    is_word && unused
                }
                _ => false,
            };
            let one_lane = combines && plain(ordering) && *space != Space::Generic && values.is_uniform(position);
            Some(Combined { is_reduction, one_lane })
        }
        Op::AtomicVector { space, ordering, is_reduction, dsts, .. } => {
            let unused = *is_reduction || !dsts.iter().flatten().any(|&register| live.is_needed(register));
            Some(Combined { is_reduction: unused && plain(ordering) && *space != Space::Generic, one_lane: false })
        }
        _ => None,
    }
}
