//! The parser's tests from outside, as one program: each further one would be linked on its own.
//! Names of modules choose among them: `cargo test -p coalesce-ptx --test all errors`.

mod effects;
mod errors;
mod files;
mod patterns;
mod pieces;
mod print;
mod robust;
mod targets;
mod typing;
mod waits;
