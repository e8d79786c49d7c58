//! The rows of libraries in a lab's table, which [`Lab::peers`](super::Lab::peers) makes with these
//! functions.
//!
//! They are compared and timed like the lab's own, on a GPU. The simulator does not run them, so
//! with `--counters` only the lab's own rows have counters.

use device::{Device, Result};

use crate::labs::{Outcome, Variant};

/// A row of a library, such as `cuBLAS 13.1.0`.
pub(crate) fn row<'a, D>(
    name: impl Into<String>,
    library: &str,
    launch: impl Fn(&mut D) -> Result<()> + 'a,
    outcome: impl Fn(&mut D) -> Result<Outcome> + 'a,
) -> Variant<'a, D> {
    Variant::new(name, move |data, _| launch(data), outcome).fact("library", library)
}

/// The library's name in the driver's rows.
pub(crate) fn driver(device: &Device) -> String {
    device.properties().driver.as_ref().map_or_else(|| "driver".to_owned(), |version| format!("driver {version}"))
}

/// How many roundings to allow a library that adds this many terms in an unknown order. A GPU adds
/// in thousands of threads and then in trees, and the errors of n successive roundings add up to
/// about the root of n of them (N. Higham and T. Mary, A new approach to probabilistic rounding
/// error analysis, 2019).
pub(crate) fn roundings(terms: usize) -> u64 {
    let one_after_the_other = terms as f64 / f64::from(1 << 15) + 64.0;
    (8.0 * one_after_the_other.sqrt()).ceil() as u64
}
