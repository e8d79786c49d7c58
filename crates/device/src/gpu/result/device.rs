//! What the driver reports about a device. `query` calls it. Only reads.

use cust::device::Device;
use cust::sys::{self, CUdevice_attribute};

use super::{Result, to_result};

/// One attribute of a device. `cust` knows them only up to number 91.
pub fn attribute(device: Device, attribute: CUdevice_attribute) -> Result<u32> {
    let mut value = 0;
    // SAFETY: the device comes from the driver, and the output outlives the call.
    to_result(unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, device.as_raw()) })?;
    Ok(u32::try_from(value).unwrap_or(0))
}
