//! The target `loose`: random kernels whose results are the device's. See the library.
#![cfg_attr(fuzzing, no_main)]

coalesce_fuzz::target!("loose");
