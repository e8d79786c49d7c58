//! Options for opening a device.

use std::sync::atomic::AtomicBool;

use simt::Model;

use crate::limits::Limits;
use crate::ptx_file::PtxFile;

/// Options for opening a device.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Load the kernels from these PTX files instead of the built-in PTX. Typed handles launch those
    /// that `cuda_builder` made, and those of files that are [trusted](PtxFile::trusted).
    pub ptx: Vec<PtxFile>,
    /// The limits of a run.
    pub limits: Limits,
    /// On the simulator without a model: the GPU whose times it predicts. An H200 if none is given.
    pub predicted: Option<&'static Model>,
    /// Set it from another thread to stop the simulator's launches with [`crate::Error::Fault`].
    pub cancel: Option<&'static AtomicBool>,
}

/// The environment variable that names PTX files to load instead of the built-in PTX, separated as
/// in `PATH`.
pub const PTX_VARIABLE: &str = "COALESCE_PTX";

impl Options {
    /// The options that the environment sets: see [`PTX_VARIABLE`].
    pub fn from_environment() -> Self {
        // Where there is no environment, paths cannot be split.
        let Some(paths) = std::env::var_os(PTX_VARIABLE) else { return Self::default() };
        let paths = std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty());
        Self { ptx: paths.map(PtxFile::from).collect(), ..Self::default() }
    }
}
