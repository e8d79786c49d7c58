//! Fuzzing: what makes inputs, and what must hold for every one of them.
//!
//! | target | input | what must hold |
//! | --- | --- | --- |
//! | `text` | bytes, read as PTX | [`text`]: no panic, errors that point into the text, no reference to what is not there |
//! | `instruction` | real instructions, changed | [`instruction`]: the same, and what passes the checks runs without a panic |
//! | `machine` | [`kernel`]: random valid kernels | [`machine::check`]: the result of [`scalar`], a second machine; the same counters on one thread of the host and on several |
//! | `loose` | the same with approximate functions, products of floats, video instructions, textures | [`machine::check_loose`]: the same memory and counters in each run, with checks and without, with a model and without |
//! | `wild` | random kernels with accesses and barriers anywhere | [`machine::check_wild`]: the same trap, or the same memory and counters |
//! | `argument` | an argument of `host run` | [`argument`] |
//! | `npy` | a `.npy` file | [`npy`] |
//!
//! The targets are programs in `fuzz_targets/`. `cargo fuzz` (a nightly compiler) makes fuzzers of
//! them; a plain build makes programs that check the files named on the command line, so that
//! stable Rust reproduces every failure. `tests/` replays the inputs of `corpus/` and
//! `regressions/`, and compares random kernels on the simulator and on a GPU where there is one.
#![forbid(unsafe_code)]

pub mod argument;
pub mod instruction;
pub mod kernel;
pub mod machine;
pub mod npy;
pub mod scalar;
pub mod text;

use arbitrary::Unstructured;

use kernel::{Kernel, Kind};

/// The check that a target runs on the bytes of an input.
pub type Check = fn(&[u8]);

/// Every target: its name and its check.
pub const TARGETS: [(&str, Check); 7] = [
    ("text", text::check_bytes),
    ("instruction", |bytes| {
        if let Ok(text) = instruction::generate(&mut Unstructured::new(bytes)) {
            instruction::check(&text);
        }
    }),
    ("machine", |bytes| {
        if let Ok(kernel) = Kernel::generate(&mut Unstructured::new(bytes), Kind::Exact) {
            machine::check(&kernel);
        }
    }),
    ("loose", |bytes| {
        if let Ok(kernel) = Kernel::generate(&mut Unstructured::new(bytes), Kind::Loose) {
            machine::check_loose(&kernel);
        }
    }),
    ("wild", |bytes| {
        if let Ok(kernel) = Kernel::generate(&mut Unstructured::new(bytes), Kind::Wild) {
            machine::check_wild(&kernel);
        }
    }),
    ("argument", |bytes| argument::check(&String::from_utf8_lossy(bytes))),
    ("npy", npy::check),
];

/// Checks one input of a target.
///
/// # Panics
///
/// When something does not hold, and when there is no such target.
pub fn check(target: &str, bytes: &[u8]) {
    let found = TARGETS.iter().find(|(name, _)| *name == target);
    let (_, check) = found.unwrap_or_else(|| panic!("there is no target {target}"));
    check(bytes);
}

/// Checks the files named on the command line: what a target does when it does not fuzz.
pub fn replay(target: &str) {
    for path in std::env::args_os().skip(1) {
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        check(target, &bytes);
        println!("{}: all holds", path.display());
    }
}

/// The body of a target's program.
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| coalesce_fuzz::check($name, bytes));

        #[cfg(not(fuzzing))]
        fn main() {
            coalesce_fuzz::replay($name);
        }
    };
}
