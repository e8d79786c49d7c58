//! Our kernels' times over nvcc's, by kernel: what `page` and `labs` both show. Pure.

use super::measurements::{Results, Twin};
use super::plan;
use crate::program::lab;
use crate::tables::{extremes, geometric_mean, median};

/// The variants of a command that launch one kernel.
pub(super) struct Kernel<'a> {
    pub name: &'a str,
    pub variants: Vec<&'a Twin>,
}

/// The kernels of a command, by name; none if it was not measured.
pub(super) fn kernels<'a>(results: &'a Results, arguments: &str) -> Vec<Kernel<'a>> {
    let twins = results.twins.get(arguments).map_or(&[][..], Vec::as_slice);
    let mut names: Vec<&str> = twins.iter().map(|twin| twin.kernel.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let of = |name| Kernel { name, variants: twins.iter().filter(|twin| twin.kernel == name).collect() };
    names.into_iter().map(of).collect()
}

/// The kernels of each lab that was measured.
pub(super) fn by_lab(results: &Results) -> Vec<(&'static str, Vec<Kernel<'_>>)> {
    let mut by_lab: Vec<(&str, Vec<Kernel<'_>>)> = Vec::new();
    for arguments in plan::TWINS {
        let (lab, kernels) = (lab(arguments), kernels(results, arguments));
        match by_lab.last_mut() {
            Some((last, found)) if *last == lab => found.extend(kernels),
            _ if kernels.is_empty() => {}
            _ => by_lab.push((lab, kernels)),
        }
    }
    by_lab
}

/// The ratios of some kernels.
pub(super) fn ratios(kernels: &[Kernel<'_>]) -> Vec<f64> {
    kernels.iter().map(Kernel::ratio).collect()
}

impl Kernel<'_> {
    /// Our time over nvcc's: the geometric mean of the variants.
    pub fn ratio(&self) -> f64 {
        geometric_mean(&self.ratios())
    }

    /// The least and the greatest ratio of a variant.
    pub fn extremes(&self) -> [f64; 2] {
        extremes(&self.ratios())
    }

    /// The first variant's times in milliseconds: ours and nvcc's.
    pub fn times(&self) -> [f64; 2] {
        [median(&self.variants[0].rust_ms), median(&self.variants[0].nvcc_ms)]
    }

    fn ratios(&self) -> Vec<f64> {
        self.variants.iter().map(|twin| twin.ratio()).collect()
    }
}

impl Twin {
    /// Our time over nvcc's.
    pub(super) fn ratio(&self) -> f64 {
        median(&self.rust_ms) / median(&self.nvcc_ms)
    }
}
