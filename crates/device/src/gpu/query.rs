//! The properties of a GPU, as the driver reports them. [`super::Gpu`] calls it when it opens a
//! device, and `clock` for single attributes. Only reads.

use cust::CudaApiVersion;
use cust::device::{Device as CudaDevice, DeviceAttribute as Attribute};
use cust::sys::{self, CUdevice_attribute as Newer};
use simt::Model;

use super::super::{ComputeCapability, Kind, Properties};
use super::memory::Memory;
use super::status::{driver_error, to_result};
use crate::error::Result;

/// The properties of a GPU whose context is current. `ptx_target` is left empty.
pub(super) fn properties(index: u32, device: CudaDevice) -> Result<Properties> {
    let doing = format!("querying the properties of GPU {index}");
    let failed = |error| driver_error(&doing, error);
    let ask = |attribute| attribute_of(device, attribute, &doing);
    let ask_newer = |attribute| newer_attribute_of(device, attribute, &doing);
    let memory_clock_khz = ask(Attribute::MemoryClockRate)?;
    let bus_bits = ask(Attribute::GlobalMemoryBusWidth)?;
    let version = CudaApiVersion::get().map_err(failed)?;
    let compute_capability = ComputeCapability {
        major: ask(Attribute::ComputeCapabilityMajor)?,
        minor: ask(Attribute::ComputeCapabilityMinor)?,
    };
    let capability = (compute_capability.major, compute_capability.minor);
    Ok(Properties {
        kind: Kind::Gpu,
        index: Some(index),
        name: device.name().map_err(failed)?,
        compute_capability,
        ptx_target: String::new(),
        multiprocessors: Some(ask(Attribute::MultiprocessorCount)?),
        memory_bytes: device.total_memory().map_err(failed)? as u64,
        memory_bus_bits: known(bus_bits),
        clock_mhz: known(ask(Attribute::ClockRate)?).map(megahertz),
        memory_clock_mhz: known(memory_clock_khz).map(megahertz),
        peak_gbps: peak_gbps(memory_clock_khz, bus_bits),
        f32_lanes_per_multiprocessor: compute_capability.f32_lanes(),
        l2_bytes: known(ask(Attribute::L2CacheSize)?).map(u64::from),
        shared_per_block: ask(Attribute::MaxSharedMemoryPerBlock)?.into(),
        shared_per_block_opt_in: ask_newer(Newer::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?.into(),
        shared_per_multiprocessor: Some(ask(Attribute::MaxSharedMemoryPerMultiprocessor)?.into()),
        max_threads_per_block: ask(Attribute::MaxThreadsPerBlock)?,
        max_threads_per_multiprocessor: Some(ask(Attribute::MaxThreadsPerMultiprocessor)?),
        pitch_alignment: pitch_alignment(&doing)?,
        texture_alignment: ask(Attribute::TextureAlignment)?.into(),
        texture_pitch_alignment: ask(Attribute::TexturePitchAlignment)?.into(),
        cuda_version: Some(format!("{}.{}", version.major(), version.minor())),
        driver: std::fs::read_to_string("/proc/driver/nvidia/version")
            .ok()
            .and_then(|text| kernel_module_version(&text)),
        shared_sizes: Model::shared_sizes(capability).to_vec(),
        max_blocks_per_multiprocessor: known(ask_newer(Newer::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)?),
        registers_per_multiprocessor: known(ask(Attribute::MaxRegistersPerMultiprocessor)?),
        l1_bytes: None,
        simulates: None,
        model: None,
    })
}

/// One attribute of a device.
pub(super) fn attribute_of(device: CudaDevice, name: Attribute, doing: &str) -> Result<u32> {
    let value = device.get_attribute(name).map_err(|error| driver_error(doing, error))?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// One that `cust`, which ends at number 91, lacks.
pub(super) fn newer_attribute_of(device: CudaDevice, name: Newer, doing: &str) -> Result<u32> {
    let mut value = 0;
    // SAFETY: the device comes from the driver, and the output outlives the call.
    let status = unsafe { sys::cuDeviceGetAttribute(&mut value, name, device.as_raw()) };
    to_result(status).map_err(|error| driver_error(doing, error))?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// The alignment of the rows of pitched memory: the pitch of rows of one byte. The driver has no
/// attribute for it.
fn pitch_alignment(doing: &str) -> Result<u64> {
    // 4 is one of the element sizes that the driver takes.
    let rows = Memory::default().allocate_pitched(1, 2, 4);
    rows.map(|(_, pitch)| pitch).map_err(|error| driver_error(doing, error))
}

/// A driver returns 0 for what a device does not report.
fn known(value: u32) -> Option<u32> {
    (value != 0).then_some(value)
}

fn megahertz(kilohertz: u32) -> f64 {
    f64::from(kilohertz) / 1e3
}

/// The memory's peak bandwidth in GB/s: two transfers of the bus's width in each cycle of the
/// memory clock.
fn peak_gbps(memory_clock_khz: u32, bus_bits: u32) -> Option<f64> {
    let bytes_per_second = 2.0 * f64::from(memory_clock_khz) * 1e3 * f64::from(bus_bits) / 8.0;
    (bytes_per_second > 0.0).then_some(bytes_per_second / 1e9)
}

/// The driver's version in the kernel module's description of itself: the first word of digits and
/// at least one dot.
fn kernel_module_version(text: &str) -> Option<String> {
    text.lines()
        .next()?
        .split_whitespace()
        .find(|word| word.contains('.') && word.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_twice_the_clock_times_the_bus() {
        // An H200: 3201 MHz, 6016 bits.
        let peak = peak_gbps(3_201_000, 6016).unwrap();
        assert!((peak - 4814.3).abs() < 0.1, "{peak}");
        assert_eq!(peak_gbps(0, 6144), None);
    }

    #[test]
    fn the_driver_s_version_is_found() {
        let of = kernel_module_version;
        assert_eq!(
            of("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\nGCC 12.2"),
            Some("580.95.05".to_owned())
        );
        assert_eq!(
            of("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6"),
            Some("535.54.03".to_owned())
        );
        assert_eq!(of(""), None);
    }
}
