//! The target `argument`: arguments of `host run`. See the library.
#![cfg_attr(fuzzing, no_main)]

coalesce_fuzz::target!("argument");
