//! The target `instruction`: real instructions with other modifiers and operands. See the library.
#![cfg_attr(fuzzing, no_main)]

coalesce_fuzz::target!("instruction");
