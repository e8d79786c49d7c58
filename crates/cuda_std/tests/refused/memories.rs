//! Statics in constant and shared memory.

use core::sync::atomic::{AtomicBool, AtomicU32};

use cuda_std::constant::ConstantCell;
use cuda_std::prelude::*;

#[address_space(constant)]
static COUNT: AtomicU32 = AtomicU32::new(0); //~ a static in constant memory cannot be a `AtomicU32`

#[address_space(constant)]
static COUNTS: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)]; //~ cannot be a `[AtomicU32; 2]`

type Hidden<T> = ConstantCell<(bool, T)>;

/// The host would set this as a number.
#[address_space(constant)]
#[unsafe(no_mangle)]
pub static FLAG: Hidden<u8> = ConstantCell::new((true, 0)); //~ mismatched types

#[address_space(shared)]
static SHARED: AtomicBool = AtomicBool::new(false); //~ a shared static cannot be a `AtomicBool`

/// What may be there.
#[address_space(constant)]
static TABLE: [f32; 4] = [1.0; 4];
#[address_space(constant)]
static CELL: ConstantCell<f32> = ConstantCell::new(1.0);
