//! The clock of a GPU, from NVIDIA's management library (NVML). It is loaded at run time; where there is none, or it does not
//! tell, no clock is known, and that is no error. Clocks are read and never set.

use std::ffi::OsStr;
use std::sync::OnceLock;

use cust::device::Device as CudaDevice;
use cust::sys::CUdevice_attribute as Attribute;
use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::Clock;
use nvml_wrapper::error::NvmlError;

use super::query::attribute_of;
use crate::error::Result;
use crate::timing::{ClockReading, Throttle};

/// The library's name on Linux: the plain name is there only with the development files.
#[cfg(unix)]
const LIBRARY: Option<&str> = Some("libnvidia-ml.so.1");
#[cfg(not(unix))]
const LIBRARY: Option<&str> = None;

/// The library, if there is one. It is never unloaded.
fn library() -> Option<&'static Nvml> {
    static LOADED: OnceLock<Option<Nvml>> = OnceLock::new();
    let load = || match LIBRARY {
        Some(name) => Nvml::builder().lib_path(OsStr::new(name)).init().ok(),
        None => Nvml::init().ok(),
    };
    LOADED.get_or_init(load).as_ref()
}

/// Where a GPU's clock is read.
pub(super) struct ClockSource {
    device: nvml_wrapper::Device<'static>,
    max_mhz: f64,
}

impl ClockSource {
    /// That of the GPU at this place of the PCI bus.
    pub fn of(address: &str) -> Option<Self> {
        let device = library()?.device_by_pci_bus_id(address).ok()?;
        let max_mhz = f64::from(device.max_clock_info(Clock::SM).ok()?);
        (max_mhz > 0.0).then_some(Self { device, max_mhz })
    }

    /// The clock now.
    pub fn read(&self) -> Option<ClockReading> {
        self.try_read().ok()
    }

    fn try_read(&self) -> std::result::Result<ClockReading, NvmlError> {
        let mhz = f64::from(self.device.clock_info(Clock::SM)?);
        let reasons = self.device.current_throttle_reasons()?;
        Ok(ClockReading { mhz, max_mhz: self.max_mhz, held_by: throttle(reasons) })
    }
}

/// What NVML says, in fewer words. An idle GPU is not throttled.
fn throttle(reasons: ThrottleReasons) -> Throttle {
    let power = ThrottleReasons::SW_POWER_CAP | ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN;
    let thermal = ThrottleReasons::SW_THERMAL_SLOWDOWN | ThrottleReasons::HW_THERMAL_SLOWDOWN;
    let setting = ThrottleReasons::APPLICATIONS_CLOCKS_SETTING
        | ThrottleReasons::SYNC_BOOST
        | ThrottleReasons::DISPLAY_CLOCK_SETTING;
    Throttle {
        power: reasons.intersects(power),
        thermal: reasons.intersects(thermal),
        // Set together with a reason where there is one.
        hardware: reasons.contains(ThrottleReasons::HW_SLOWDOWN) && !reasons.intersects(power | thermal),
        setting: reasons.intersects(setting),
    }
}

/// A GPU's place on the PCI bus, as NVML takes it: which GPUs a program sees, and in which order, the environment decides for
/// CUDA, but not for NVML.
pub(super) fn pci_address(device: CudaDevice, doing: &str) -> Result<String> {
    let ask = |attribute| attribute_of(device, attribute, doing);
    let domain = ask(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?;
    let bus = ask(Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?;
    let slot = ask(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?;
    Ok(format!("{domain:08x}:{bus:02x}:{slot:02x}.0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_told_apart() {
        let none = Throttle::default();
        assert_eq!(throttle(ThrottleReasons::NONE), none);
        assert_eq!(throttle(ThrottleReasons::GPU_IDLE), none);
        assert_eq!(throttle(ThrottleReasons::SW_POWER_CAP), Throttle { power: true, ..none });
        let hot = ThrottleReasons::HW_SLOWDOWN | ThrottleReasons::HW_THERMAL_SLOWDOWN;
        assert_eq!(throttle(hot), Throttle { thermal: true, ..none });
        assert_eq!(throttle(ThrottleReasons::HW_SLOWDOWN), Throttle { hardware: true, ..none });
        assert_eq!(throttle(ThrottleReasons::APPLICATIONS_CLOCKS_SETTING), Throttle { setting: true, ..none });
    }
}
