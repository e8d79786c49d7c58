//! Tensor maps, which describe a tensor in a buffer to a kernel. Kernels take them by value, or by
//! the address of a copy in a buffer; making one touches no memory.
//!
//! ```
//! use device::{DeviceChoice, OnDevice, Options, Swizzle, TensorElement, TensorMap, open};
//!
//! # fn main() -> Result<(), device::Error> {
//! let device = open(DeviceChoice::Simulator, &Options::of(kernels::PTX))?;
//! let matrix = device.buffer::<f32>(64 * 32)?;
//! // 32 rows of 64 elements, in boxes of 8 rows and 32 elements.
//! let map = TensorMap::tiled(TensorElement::F32, matrix.address(), &[64, 32], &[32, 8]);
//! // The bytes of a kernel's parameter, which is aligned to 64 bytes.
//! let argument: [u8; 128] = device.tensor_map(&TensorMap { swizzle: Swizzle::Bytes128, ..map })?;
//! # assert_ne!(argument, [0; 128]);
//! # Ok(())
//! # }
//! ```

use simt::tensors::{TENSOR_MAP_BYTES, TensorMap};

use super::Device;
use crate::error::Result;

impl Device {
    /// The encoded map of a tensor at an address on this device. It is valid on this device only.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Tensor`] for an invalid map, [`crate::Error::Driver`] if the driver cannot
    /// encode it.
    pub fn tensor_map(&self, map: &TensorMap) -> Result<[u8; TENSOR_MAP_BYTES]> {
        map.check()?;
        self.backend.encode_tensor_map(map)
    }
}
