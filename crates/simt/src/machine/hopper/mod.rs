//! Tensor cores, asynchronous copies, mbarriers and clusters: what GPUs gained from Volta to Hopper. No lab of the memory course
//! needs it. `step` and the schedule call in; like all instructions, this changes a worker and its warps. Values that do not
//! depend on the machine are in [`crate::hopper`].
//!
//! - Tensor cores: `matrix` (`ldmatrix`, `stmatrix`, `wmma`), `multiply` (`mma`), `warpgroup` (`wgmma`), `products` for
//!   the arithmetic, `descriptor` for matrices in shared memory. `held` and `inspection`: registers that a product holds,
//!   for the sanitizer.
//! - Copies: `asynchronous` dispatches. `copy` is `cp.async`, and `copies` what it has under way; `bulk` and `tensor` begin
//!   bulk copies, `transit` moves what they have `underway`. `reports` reports them to the sanitizer.
//! - `mbarrier`: the value; `mbarrier_access`: reading and changing one in shared memory; `phases`: the instructions.
//! - `cluster`: the barrier of a cluster.

pub(crate) mod asynchronous;
pub(crate) mod bulk;
pub(crate) mod cluster;
pub(crate) mod copies;
pub(crate) mod copy;
pub(crate) mod descriptor;
pub(crate) mod held;
pub(crate) mod inspection;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod mbarrier_access;
pub(crate) mod multiply;
pub(crate) mod phases;
pub(crate) mod products;
pub(crate) mod reports;
pub(crate) mod tensor;
pub(crate) mod transit;
pub(crate) mod underway;
pub(crate) mod warpgroup;
