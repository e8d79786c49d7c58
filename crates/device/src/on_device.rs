//! What all linear memory on a device has: [`super::buffer`] implements it, backends and peers take
//! it.

/// Linear memory on a device.
pub trait OnDevice {
    /// The address of the first byte on the device.
    fn address(&self) -> u64;

    /// The size in bytes, padding included.
    fn bytes(&self) -> u64;
}
