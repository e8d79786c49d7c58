//! What the programs share beyond the library [`device`]: random data, files written whole, and
//! signals. `host`, `learn` and `exercise` use it.

pub mod output_file;
pub mod random;
#[cfg(not(target_family = "wasm"))]
pub mod signals;
