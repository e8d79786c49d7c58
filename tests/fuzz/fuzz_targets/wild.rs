//! The target `wild`: random kernels that misbehave. See the library.
#![cfg_attr(fuzzing, no_main)]

coalesce_fuzz::target!("wild");
