//! Options for opening a device.

use std::sync::atomic::AtomicBool;

use cuda_std::launch::PtxImage;
use simt::Model;

use crate::advice::Advice;
use crate::limits::Limits;
use crate::ptx_file::PtxFile;

/// Options for opening a device. More fields may come: begin with [`Options::default`] or
/// [`Options::of`], and end a literal with `..`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The PTX that is part of the program, of each crate of kernels. No two kernels have the same
    /// name. A device loads the newest PTX of each crate that it runs.
    pub kernels: Vec<&'static [PtxImage]>,
    /// Load the kernels from these PTX files instead. Typed handles launch those that
    /// `cuda_builder` made, and those of files that are [trusted](PtxFile::trusted).
    pub ptx: Vec<PtxFile>,
    /// The limits of a run.
    pub limits: Limits,
    /// On the simulator without a model: the GPU whose times it predicts. An H200 if none is given.
    pub predicted: Option<&'static Model>,
    /// On the simulator: nobody reads what kernels compute, only how long they take. Memory is not
    /// filled with patterns.
    pub predict_only: bool,
    /// What errors advise users to do.
    pub advice: Advice,
    /// Set it from another thread to stop the simulator's launches with [`crate::Error::Fault`].
    pub cancel: Option<&'static AtomicBool>,
}

impl Options {
    /// The options for these kernels, such as `my_kernels::PTX`, and no limits.
    pub fn of(kernels: &'static [PtxImage]) -> Self {
        Self { kernels: vec![kernels], ..Self::default() }
    }
}
