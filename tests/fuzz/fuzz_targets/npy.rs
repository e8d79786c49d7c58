//! The target `npy`: NumPy files. See the library.
#![cfg_attr(fuzzing, no_main)]

coalesce_fuzz::target!("npy");
