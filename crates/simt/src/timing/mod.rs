//! How long a launch would take on a model's GPU, and what limits it.
//!
//! ```text
//! trace       what a launch on a model records: some blocks of one multiprocessor, warp by warp
//! record      the traces, with what L2 and DRAM did
//! step        an instruction, and what it costs
//! halves      which halves of 64-bit values cost no instruction
//! plan        what each instruction costs; order: where the compiler puts it; predicates: which
//!             branches it leaves out; unroll: which loops it unrolls
//! kinds       how an instruction accesses memory
//! replay      one multiprocessor, cycle by cycle: machine has its warps and blocks, servers its
//!             path to memory, delay the random part of that
//! pressure    which values are in registers while a run is put in order
//! registers   how many registers ptxas would give a thread
//! prediction  the time of the whole launch, and what the numbers say; queue: of several launches
//! ```
//!
//! A launch that asks for its time ([`Launch::predicts`](crate::Launch::predicts)) runs on the
//! model as usual, with the same counters; then what it recorded is replayed once with a cold L2,
//! and once more with a warm one if its data fits. The rest of the grid is extrapolated: the steady
//! time between the ends of blocks. All of it is a pure function of the launch and the model's
//! table (`model/timing.rs`): host threads, clocks and platforms do not matter.
//!
//! Not modelled: tensor cores, clusters of blocks, reductions by the copy engine and surfaces, for
//! which a report says "not predicted"; instruction caches and page tables. `docs/TIME.md` compares
//! predictions with measurements.

mod delay;
mod halves;
mod kinds;
mod machine;
mod order;
mod plan;
mod predicates;
mod prediction;
mod pressure;
mod queue;
mod record;
mod registers;
mod replay;
mod servers;
mod step;
mod trace;
mod unroll;

pub use machine::Why;
pub(crate) use prediction::fills_half;
pub use prediction::{Bound, Predicted, Prediction};
pub use queue::Queue;
pub(crate) use record::{Ran, Recording, Timed};
pub(crate) use registers::estimate as estimate_registers;
pub(crate) use trace::{Event, Meets, Target, Tracer};

use ptx::Module;

use crate::program::{Code, facts};
use kinds::Kind;
use plan::Plan;

/// The time of a launch that left this recording.
pub(crate) fn predict(recording: &Recording, code: &Code, module: &Module) -> Predicted {
    let op = |place: usize| {
        let (handle, index) = code.positions[place];
        module.functions[handle].body.as_deref().map(|body| &body[index as usize].op)
    };
    let ran = (0..code.positions.len()).filter(|&place| recording.counted[place].executed > 0);
    if let Some(what) = ran.filter_map(op).find_map(|op| facts(op).not_timed) {
        return Predicted::Not(what);
    }
    if recording.blocks.is_empty() {
        return Predicted::Not("launches that record nothing");
    }
    if recording.ran == Ran::None {
        return Predicted::Not("blocks that are too long to sample");
    }
    let plan = Plan::new(code, module, recording.timing);
    Predicted::Time(Box::new(prediction::of(recording, &plan, &Kind::of_all(code, module))))
}
