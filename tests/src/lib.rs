//! Shared by the tests of this package: the devices of this machine, and random data.
//!
//! [`crate_of_kernels`] makes crates for tests that compile kernels.
//!
//! The same tests run on every device: always on the simulator, and on the first GPU if there is
//! one. They are in `tests/`. The tests of the program `host` are in `program/` and belong to the
//! package `host`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use common::random::Random;
use device::{Device, DeviceChoice};

/// The devices of this machine: the simulator, and the first GPU if there is one.
///
/// `COALESCE_PTX` names PTX of the kernels to test instead of the built-in one.
///
/// # Panics
///
/// When the simulator cannot be opened, or there is a GPU that does not work.
pub fn devices() -> Vec<Device> {
    let options = host::built_in::options();
    let open = |choice| device::open(choice, &options).unwrap_or_else(|error| panic!("{choice}: {error}"));
    let mut devices = vec![open(DeviceChoice::Simulator)];
    if cust_raw::load().is_ok() {
        devices.push(open(DeviceChoice::Gpu(0)));
    }
    devices
}

/// Random data that is the same everywhere.
pub fn random(length: usize, seed: u64) -> Vec<f32> {
    Random::new(seed).vector(length)
}

/// The crates that [`crate_of_kernels`] makes. They are one workspace, so that `core` is compiled
/// once.
const CRATES: [&str; 4] = ["agreement", "random_phases", "random_safe", "two_kernels"];

/// The folder of a crate of kernels with this `lib.rs`, below `temporary`, where it stays for the
/// next run. It has a feature, `wide`.
///
/// # Panics
///
/// When a file cannot be written, or the crate is not one of those known here.
pub fn crate_of_kernels(temporary: &str, name: &str, source: &str) -> PathBuf {
    assert!(CRATES.contains(&name), "{name} is not a crate of kernels");
    let root = Path::new(temporary).join("kernels");
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository is there");
    // What is there already may be read by a build that runs beside this.
    static WRITING: Mutex<()> = Mutex::new(());
    let _writing = WRITING.lock();
    let write = |path: PathBuf, text: &str| {
        if fs::read_to_string(&path).is_ok_and(|known| known == text) {
            return;
        }
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is made");
        fs::write(path, text).expect("the file is written");
    };
    for krate in CRATES {
        let manifest = format!(
            "[package]\nname = \"{krate}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[features]\nwide = []\n\n\
             [dependencies]\nbytemuck = {{ version = \"1\", features = [\"derive\", \"min_const_generics\"] }}\n\
             cuda_std = {{ package = \"coalesce-cuda-std\", path = {:?} }}\n",
            repository.join("crates/cuda_std")
        );
        write(root.join(krate).join("Cargo.toml"), &manifest);
        if krate == name {
            write(root.join(krate).join("src/lib.rs"), source);
        } else if !root.join(krate).join("src/lib.rs").exists() {
            write(root.join(krate).join("src/lib.rs"), "#![no_std]\n");
        }
    }
    write(root.join("Cargo.toml"), &format!("[workspace]\nresolver = \"3\"\nmembers = {CRATES:?}\n"));
    // Cargo takes what no crate needs out of the copy.
    let changed = |path: PathBuf| fs::metadata(path).and_then(|found| found.modified()).ok();
    if changed(root.join("Cargo.lock")) < changed(repository.join("Cargo.lock")) {
        fs::copy(repository.join("Cargo.lock"), root.join("Cargo.lock")).expect("the file is copied");
    }
    root.join(name)
}
