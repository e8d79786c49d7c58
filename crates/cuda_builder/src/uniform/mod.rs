//! Checks that all threads of a block go through the same barriers and the same phases.
//!
//! A barrier in control flow that depends on the thread is undefined on a GPU. And the phases of
//! `cuda_std::phases`, which make shared memory safe, are sound only if all threads of a block go
//! through the same ones in the same order. Rust cannot see either: `thread_idx_x()` is a safe
//! function. So the builder proves it, on the LLVM IR of the kernels:
//!
//! 1. [`part`] makes a module of what the check needs: some kernels, whose functions are all to be
//!    inlined. `opt` inlines them and keeps local variables in values. This copy is for the check
//!    alone; the PTX is compiled from the original.
//! 2. [`function`] and [`instruction`] parse it.
//! 3. [`analysis`] finds what depends on the thread, with [`flow`] and [`values`].
//! 4. [`check()`] compares that with the barriers and phases, [`ends`] finds threads that end while
//!    their warp shuffles, and [`places`] names the lines.
//!
//! Kernels with phases are always checked in this way. The others are checked in what the optimiser
//! makes of them, which costs no second run of it: only a kernel that has something suspicious
//! there is checked in a copy, where nothing has lost its line.
//!
//! LLVM has a uniformity analysis, too. It takes `%ctaid` for divergent, which is the same in a
//! block, and it knows no read-only parameters.
//!
//! # Why the proof is right
//!
//! A value is *divergent* if it may differ between threads of a block. A block of the control-flow
//! graph is divergent if some threads may execute it while others do not, or not as often.
//!
//! 1. Thread indices, lanes, clocks, atomic operations, inline assembly and calls that are not
//!    inlined give divergent values. So do loads, except from memory that nobody writes while the
//!    kernel runs: constants, and parameters that Rust declares read-only and without alias
//!    (`&[T]`, `Matrix<T>`). Parameters, the block's index and the extents of block and grid are
//!    *uniform*, and so is a vote of the whole block (`sync_threads_or`).
//! 2. What is computed from a divergent value is divergent.
//! 3. A branch on a divergent value separates the threads until its immediate post-dominator, the
//!    first block that all ways to the kernel's end go through. The blocks between are divergent.
//!    After an early `return` or `exit()` of some threads, all that follow are.
//! 4. All that a divergent block computes is divergent. This covers loops that threads leave at
//!    different times: what such a loop has counted differs behind it.
//! 5. Where ways meet, a `phi` is divergent if it takes different values from separated ways.
//!
//! A barrier in a divergent block is refused, as is a phase there, or one whose tile is divergent.
//!
//! Take the sequence of blocks that a thread executes, and leave out everything between a divergent
//! branch and the point where its ways meet. *Claim:* all threads of a block have the same
//! sequence, and uniform values are equal at equal points in it. The proof is by induction along
//! the sequence. A uniform value that is computed has operands that are uniform, and were computed
//! at equal points: by 4, not in a divergent block. A `phi` that is uniform comes from the same
//! block in all threads, or, behind separated ways, takes the same value by 5. A uniform branch
//! goes the same way. A divergent one leads to the same meeting point. What is left out has no
//! barrier and no phase, so all threads go through the same ones, in the same order, with the same
//! operands.
//!
//! A thread may also stop on its way. If it traps, the launch ends. If it loops forever, it waits
//! at no further barrier, and the other threads never pass the next one. In neither case does a
//! thread run ahead into another phase.
//!
//! The premises:
//!
//! * *Nothing is hidden.* Each function on the way to a barrier, a phase or `exit()` is inlined,
//!   whatever it says about inlining. One that cannot be (recursion, a function pointer that stays
//!   one) is refused. So is any use of the marker of phases but a plain call.
//! * *The optimiser keeps barriers where they are.* They are `convergent` for LLVM: no pass may
//!   make them depend on another condition. Phases, and all barriers of a kernel that has some, are
//!   proven in a copy of the module before optimisation, in which functions are inlined and values
//!   simplified. Other barriers are looked for in the optimised module, which is what runs. If it
//!   passes, that is the proof. If not, the optimiser may have hidden what is uniform: then the
//!   copy decides, and the proof rests on `convergent`, as for phases.
//! * *Rust's promise of `&[T]`.* Nobody writes the elements while the kernel runs. Safe launches
//!   borrow the buffer. Types with interior mutability do not have LLVM's `readonly`, so loads from
//!   them are divergent.
//! * *`unsafe` code keeps its promises.* Inline assembly that ends some threads, for example, needs
//!   `unsafe`.
//!
//! `fuzz.rs` executes random control flow with several threads, and compares: where the check finds
//! nothing, they wait at the same barriers. `crates/cuda_builder/tests/uniformity` has a kernel for
//! each known way of deceiving the check.

mod analysis;
mod check;
mod ends;
mod flow;
mod function;
#[cfg(test)]
mod fuzz;
mod instruction;
mod part;
mod places;
#[cfg(test)]
mod tests;
mod values;

pub use check::UniformityError;
pub(crate) use check::{Finding, check};
pub(crate) use part::{Kernels, part};
