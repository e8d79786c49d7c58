//! What all linear memory on a device has: [`super::buffer`] implements it, backends and peers take
//! it.

use std::rc::Rc;

use crate::error::{Error, Result};

/// Linear memory on a device: a buffer or a matrix. No other type is, since copies and textures
/// believe what it says.
pub trait OnDevice: Owned {
    /// The address of the first byte on the device.
    fn address(&self) -> u64;

    /// The size in bytes, padding included.
    fn bytes(&self) -> u64;
}

/// What belongs to a device.
pub trait Owned {
    /// The device.
    fn owner(&self) -> Owner;
}

/// The identity of a device. Its memory keeps the device alive, so no two devices share a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(pub(crate) u64);

impl Owner {
    /// The device of this backend.
    pub(crate) fn of<B: ?Sized>(backend: &Rc<B>) -> Self {
        Self(Rc::as_ptr(backend).addr() as u64)
    }

    /// Fails unless this device has all of this memory, which `user` is about to use.
    pub(crate) fn require(self, user: &str, memory: &[Self]) -> Result<()> {
        match memory.iter().all(|owner| *owner == self) {
            true => Ok(()),
            false => Err(Error::OtherDevice { user: user.to_owned() }),
        }
    }
}
