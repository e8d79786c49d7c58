//! The target `text`: arbitrary bytes as PTX. See the library.
#![cfg_attr(fuzzing, no_main)]

coalesce_fuzz::target!("text");
