//! What the programs share beyond the library [`device`]: random data, files written whole,
//! new folders, and signals. `host`, `learn`, `exercise` and `xtask` use it.

pub mod new_folder;
pub mod output_file;
pub mod random;
#[cfg(not(target_family = "wasm"))]
pub mod signals;
