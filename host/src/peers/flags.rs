//! `--peer`: times cuBLAS, cuSPARSE, CUB and the driver's copies on a lab's data, as further rows of its
//! table.
//!
//! A lab names the libraries that it has rows for ([`Lab::PEERS`](super::Lab::PEERS));
//! [`super::flow`] checks the flags and loads them.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Args;
use device::{Device, Error, Result};

use crate::progress::Progress;
use device::peers::{PeerLibraries, Peers};

/// The environment variables with the paths of cuBLAS and of cuSPARSE, for libraries outside the
/// usual folders. Empty means: do not use it.
const CUBLAS_VARIABLE: &str = "COALESCE_CUBLAS";
const CUSPARSE_VARIABLE: &str = "COALESCE_CUSPARSE";

/// The error for `--peer` on the simulator.
pub(crate) fn only_on_a_gpu() -> Error {
    Error::request("--peer", "the libraries run on a GPU only; give --device gpu, or leave --peer out")
}

/// A library whose calls are timed beside a lab's kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The driver's own copies.
    Driver,
    /// cuBLAS.
    Cublas,
    /// cuSPARSE.
    Cusparse,
    /// The library of `--peer-library`: CUB, and kernels of nvcc.
    Library,
}

/// The flags of labs that have peers.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Libraries to compare with")]
pub struct PeerFlags {
    /// On a GPU: also time NVIDIA's libraries on the same data, as further rows: cuBLAS,
    /// cuSPARSE and the driver's copies
    #[arg(long)]
    pub peer: bool,
    /// With --peer: also time CUB and nvcc's copy, from this shared library, compiled from
    /// docs/compare/cub.cu
    #[arg(long, value_name = "FILE", requires = "peer")]
    pub peer_library: Option<PathBuf>,
}

impl PeerFlags {
    /// Fails if this device cannot run the requested libraries, or the lab has no rows for them.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub(crate) fn check(&self, device: &Device, of_lab: &[Peer]) -> Result<()> {
        if !self.peer {
            return Ok(());
        }
        if !device.properties().is_gpu() {
            return Err(only_on_a_gpu());
        }
        if self.peer_library.is_some() && !of_lab.contains(&Peer::Library) {
            return Err(Error::request(
                "--peer-library",
                "this lab has no rows for it; reduce, rows, scan and vector do",
            ));
        }
        Ok(())
    }

    /// Loads the libraries that are installed. `None` without `--peer`.
    ///
    /// # Errors
    ///
    /// [`Error::File`] for a library that cannot be used.
    pub(crate) fn load(&self, device: &Device, of_lab: &[Peer]) -> Result<Option<Rc<Peers>>> {
        let [cublas, cusparse] = [CUBLAS_VARIABLE, CUSPARSE_VARIABLE].map(std::env::var_os);
        let wanted = PeerLibraries {
            cublas: of_lab.contains(&Peer::Cublas),
            cublas_at: cublas.as_ref().map(|path| (Path::new(path), CUBLAS_VARIABLE)),
            cusparse: of_lab.contains(&Peer::Cusparse),
            cusparse_at: cusparse.as_ref().map(|path| (Path::new(path), CUSPARSE_VARIABLE)),
            library: self.peer_library.as_deref(),
        };
        self.peer.then(|| device.peers(wanted).map(Rc::new)).transpose()
    }

    /// Writes a note for each library that was not found.
    pub(crate) fn note_missing(&self, peers: &Peers, of_lab: &[Peer], progress: &Progress) {
        for (peer, name, file, variable, loaded) in [
            (Peer::Cublas, "cuBLAS", "libcublas", CUBLAS_VARIABLE, peers.cublas()),
            (Peer::Cusparse, "cuSPARSE", "libcusparse", CUSPARSE_VARIABLE, peers.cusparse()),
        ] {
            if !of_lab.contains(&peer) || loaded.is_some() {
                continue;
            }
            let why = match std::env::var_os(variable) {
                Some(_) => format!("{variable} is empty"),
                None => format!(
                    "there is no {file}.so.13, .12 or .11 on the library path, in CUDA_HOME, CUDA_PATH or /usr/local/cuda; \
                     set {variable} to its path"
                ),
            };
            progress.note(&format!("{name} is left out: {why}"));
        }
        if of_lab.contains(&Peer::Library) && self.peer_library.is_none() {
            progress.note(
                "CUB and nvcc's kernels are left out: give --peer-library the library compiled from docs/compare/cub.cu",
            );
        }
    }
}
