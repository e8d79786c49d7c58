//! The kernels of the labs: their PTX, which is part of the program or, in WebAssembly, given by a
//! page, and whether it is older than its sources. [`options`] opens a device with them.

use cuda_std::launch::PtxImage;
use device::{Device, Options, PtxFile};

use crate::limits::ADVICE;

/// The environment variable that names PTX files to load instead of the built-in PTX, separated as
/// in `PATH`.
pub const PTX_VARIABLE: &str = "COALESCE_PTX";

/// A crate of built-in kernels.
#[derive(Clone, Copy)]
struct BuiltIn {
    /// Its PTX, ascending by architecture.
    ptx: &'static [PtxImage],
    /// The digest of its sources when this program was built.
    sources: &'static str,
}

/// The digests of the sources of the crates of built-in kernels.
const SOURCES: [&str; 2] = [env!("COALESCE_KERNEL_SOURCES"), env!("COALESCE_BEST_KERNEL_SOURCES")];

/// The crates of built-in kernels. No two kernels have the same name.
#[cfg(not(target_family = "wasm"))]
fn built_in() -> &'static [BuiltIn] {
    const BUILT_IN: [BuiltIn; 2] =
        [BuiltIn { ptx: kernels::PTX, sources: SOURCES[0] }, BuiltIn { ptx: best_kernels::PTX, sources: SOURCES[1] }];
    &BUILT_IN
}

/// The crates of built-in kernels, if a page has given the PTX of each: a lab needs few of the
/// kernels, and all of them are far larger than the program.
#[cfg(target_family = "wasm")]
fn built_in() -> &'static [BuiltIn] {
    use std::sync::OnceLock;

    /// The names of the given PTX.
    const NAMES: [&str; 2] = ["kernels.ptx", "best_kernels.ptx"];
    /// Its architecture: the newest, which the simulator runs.
    const ARCH: &str = "sm_90";
    static BUILT_IN: OnceLock<Vec<BuiltIn>> = OnceLock::new();

    if let Some(known) = BUILT_IN.get() {
        return known;
    }
    let of_crate = |(name, sources): (&str, &'static str)| {
        // Kernels stay loaded as long as the program does, so this leaks nothing.
        let text: &'static str = Box::leak(device::given::text(name)?.as_ref().into());
        Some(BuiltIn { ptx: Box::leak(Box::new([PtxImage { arch: ARCH, text }])), sources })
    };
    match NAMES.into_iter().zip(SOURCES).map(of_crate).collect() {
        Some(all) => BUILT_IN.get_or_init(|| all),
        None => &[],
    }
}

/// The options for a device with the labs' kernels: the built-in PTX, or the files that the
/// environment names ([`PTX_VARIABLE`]).
pub fn options() -> Options {
    // Where there is no environment, paths cannot be split.
    let ptx = match std::env::var_os(PTX_VARIABLE) {
        Some(paths) => {
            let paths = std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty());
            paths.map(PtxFile::from).collect()
        }
        None => Vec::new(),
    };
    Options {
        kernels: built_in().iter().map(|built_in| built_in.ptx).collect(),
        ptx,
        advice: ADVICE,
        ..Options::default()
    }
}

/// The names of all built-in kernels.
pub(crate) fn kernel_names() -> impl Iterator<Item = &'static str> {
    built_in().iter().filter_map(|built_in| built_in.ptx.first()).flat_map(PtxImage::entry_points)
}

/// Notes for the user about a device: why the simulator was chosen, and that the built-in PTX is
/// stale.
pub(crate) fn notes(device: &Device) -> impl Iterator<Item = String> {
    let fallback = device.fallback().map(|why| format!("running on the simulator: {why}"));
    let options = device.options();
    let uses_built_in = options.ptx.is_empty() && !options.kernels.is_empty();
    fallback.into_iter().chain(stale(if uses_built_in { built_in() } else { &[] }))
}

/// The note that built-in PTX was compiled from sources other than those that the program was built
/// with.
fn stale(crates: &[BuiltIn]) -> Option<String> {
    let is_stale = |built_in: &BuiltIn| built_in.ptx.iter().find(|image| image.sources() != built_in.sources);
    let stale = crates.iter().find_map(is_stale)?;
    Some(format!("the kernels' sources are newer than their PTX for {}; run `cargo xtask build-ptx`", stale.arch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_ptx_is_noticed() {
        assert_eq!(stale(built_in()), None);
        let note = stale(&[BuiltIn { sources: "other sources", ..built_in()[1] }]).unwrap();
        assert!(note.contains("sm_75") && note.contains("cargo xtask build-ptx"), "{note}");
    }

    #[test]
    fn the_digest_is_that_of_the_sources_which_cargo_names() {
        for (built_in, folder) in built_in().iter().zip(["../kernels", "../kernels/best"]) {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
            assert_eq!(cuda_builder::digest_of_crate(folder).unwrap().to_string(), built_in.sources);
        }
    }
}
