//! Reads a GPU's clock from NVIDIA's management library (NVML), which is loaded at run time. Clocks
//! are never set. The backend reads it while samples are taken.
//!
//! The clock is `None` if the library is missing or does not report it; that is not an error.

use std::ffi::{CString, c_char, c_void};
use std::ptr;
use std::sync::OnceLock;

use cust::device::{Device as CudaDevice, DeviceAttribute as Attribute};

use super::query::attribute_of;
use super::shared_library::{SharedLibrary, functions};
use crate::clock::{ClockReading, Throttle};
use crate::error::Result;

/// The library's name. On Linux the name without a version exists only where the development files
/// are installed.
const LIBRARY: &str = if cfg!(windows) { "nvml.dll" } else { "libnvidia-ml.so.1" };

/// `nvmlDevice_t`.
type Handle = *mut c_void;

/// `NVML_CLOCK_SM`.
const SM: u32 = 1;

functions! {
    /// The functions of NVML that are called ("NVML API Reference").
    struct Nvml {
        status init = "nvmlInit_v2"();
        status handle_of = "nvmlDeviceGetHandleByPciBusId_v2"(address: *const c_char, device: *mut Handle);
        status clock = "nvmlDeviceGetClockInfo"(device: Handle, kind: u32, mhz: *mut u32);
        status max_clock = "nvmlDeviceGetMaxClockInfo"(device: Handle, kind: u32, mhz: *mut u32);
        status reasons = "nvmlDeviceGetCurrentClocksThrottleReasons"(device: Handle, reasons: *mut u64);
    }
}

/// The library, if it can be loaded and initialised. It is never unloaded.
fn library() -> Option<&'static Nvml> {
    static LOADED: OnceLock<Option<Nvml>> = OnceLock::new();
    let load = || {
        let library = SharedLibrary::open(LIBRARY).ok()?;
        // SAFETY: these are the types in NVIDIA's header nvml.h. The library is initialised before
        // any other call.
        unsafe {
            let nvml = Nvml::of(&library).ok()?;
            nvml.init().ok()?;
            Some(nvml)
        }
    };
    LOADED.get_or_init(load).as_ref()
}

/// A GPU whose clock NVML reports.
pub(super) struct ClockSource {
    nvml: &'static Nvml,
    device: Handle,
    max_mhz: f64,
}

impl ClockSource {
    /// The GPU at this address of the PCI bus.
    pub fn of(address: &str) -> Option<Self> {
        let nvml = library()?;
        let address = CString::new(address).ok()?;
        let (mut device, mut max_mhz) = (ptr::null_mut(), 0);
        // SAFETY: the text and the outputs outlive the calls, and the handle comes from the
        // library.
        unsafe {
            nvml.handle_of(address.as_ptr(), &raw mut device).ok()?;
            nvml.max_clock(device, SM, &raw mut max_mhz).ok()?;
        }
        (max_mhz > 0).then_some(Self { nvml, device, max_mhz: max_mhz.into() })
    }

    /// The clock now.
    pub fn read(&self) -> Option<ClockReading> {
        let (mut mhz, mut reasons) = (0, 0);
        // SAFETY: the outputs outlive the calls, and the handle comes from the library.
        unsafe {
            self.nvml.clock(self.device, SM, &raw mut mhz).ok()?;
            self.nvml.reasons(self.device, &raw mut reasons).ok()?;
        }
        Some(ClockReading { mhz: mhz.into(), max_mhz: self.max_mhz, held_by: throttle(reasons) })
    }
}

/// Reasons for a lower clock: `nvmlClocksThrottleReason...` of nvml.h. The first bit is that of an
/// idle GPU, which is not throttled.
mod reason {
    pub const APPLICATIONS_CLOCKS_SETTING: u64 = 1 << 1;
    pub const SW_POWER_CAP: u64 = 1 << 2;
    pub const HW_SLOWDOWN: u64 = 1 << 3;
    pub const SYNC_BOOST: u64 = 1 << 4;
    pub const SW_THERMAL_SLOWDOWN: u64 = 1 << 5;
    pub const HW_THERMAL_SLOWDOWN: u64 = 1 << 6;
    pub const HW_POWER_BRAKE_SLOWDOWN: u64 = 1 << 7;
    pub const DISPLAY_CLOCK_SETTING: u64 = 1 << 8;
}

/// NVML's reasons, by kind.
fn throttle(reasons: u64) -> Throttle {
    let power = reason::SW_POWER_CAP | reason::HW_POWER_BRAKE_SLOWDOWN;
    let thermal = reason::SW_THERMAL_SLOWDOWN | reason::HW_THERMAL_SLOWDOWN;
    let setting = reason::APPLICATIONS_CLOCKS_SETTING | reason::SYNC_BOOST | reason::DISPLAY_CLOCK_SETTING;
    Throttle {
        power: reasons & power != 0,
        thermal: reasons & thermal != 0,
        // NVML sets this bit together with a more precise one, if there is one.
        hardware: reasons & reason::HW_SLOWDOWN != 0 && reasons & (power | thermal) == 0,
        setting: reasons & setting != 0,
    }
}

/// A GPU's PCI address in NVML's format. CUDA's device numbers do not identify it:
/// `CUDA_VISIBLE_DEVICES` hides and reorders GPUs for CUDA, but not for NVML.
pub(super) fn pci_address(device: CudaDevice, doing: &str) -> Result<String> {
    let ask = |attribute| attribute_of(device, attribute, doing);
    let domain = ask(Attribute::PciDomainId)?;
    let bus = ask(Attribute::PciBusId)?;
    let slot = ask(Attribute::PciDeviceId)?;
    Ok(format!("{domain:08x}:{bus:02x}:{slot:02x}.0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_distinguished() {
        let none = Throttle::default();
        let idle = 1;
        assert_eq!(throttle(0), none);
        assert_eq!(throttle(idle), none);
        assert_eq!(throttle(reason::SW_POWER_CAP), Throttle { power: true, ..none });
        let hot = reason::HW_SLOWDOWN | reason::HW_THERMAL_SLOWDOWN;
        assert_eq!(throttle(hot), Throttle { thermal: true, ..none });
        assert_eq!(throttle(reason::HW_SLOWDOWN), Throttle { hardware: true, ..none });
        assert_eq!(throttle(reason::APPLICATIONS_CLOCKS_SETTING), Throttle { setting: true, ..none });
    }
}
