//! The target `machine`: random valid kernels. See the library.
#![cfg_attr(fuzzing, no_main)]

coalesce_fuzz::target!("machine");
