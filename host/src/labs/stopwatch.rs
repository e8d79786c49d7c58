//! Times variants on a GPU, and the device's own copy for comparison.

use crate::device::{Buffer, Device, OnDevice};
use crate::error::{Error, Result};
use crate::report::DeviceCopy;
use crate::timing::{self, ClockReading, Policy, Timed, Times};

use super::settings::Settings;

/// What times launches on a GPU.
pub(super) struct Stopwatch {
    device: Device,
    policy: Policy,
    /// Twice as large as the level-2 cache: filling it leaves nothing else there.
    flush: Buffer<u8>,
}

impl Stopwatch {
    /// `None` where nothing is to be timed: on the simulator, which has no clock, and under a profiler.
    pub fn new(device: &Device, settings: &Settings) -> Result<Option<Self>> {
        if !device.properties().is_gpu() || settings.once {
            return Ok(None);
        }
        let l2 = device.properties().l2_bytes.unwrap_or(0);
        Ok(Some(Self {
            device: device.clone(),
            policy: Policy { time_limit: settings.time_limit, ..Policy::default() },
            flush: device.buffer((l2 * 2) as usize)?,
        }))
    }

    /// Times the device's own copy of so many bytes: what its memory can do at best. `None` where there is no room for it beside
    /// the lab's data.
    pub fn copy(&mut self, bytes: u64) -> Result<Option<DeviceCopy>> {
        let device = self.device.clone();
        if bytes == 0 || device.available()? < bytes.saturating_mul(2) {
            return Ok(None);
        }
        let from: Buffer<u8> = device.buffer(bytes as usize)?;
        let mut to: Buffer<u8> = device.buffer(bytes as usize)?;
        let timing = self.measure(2 * bytes, &mut || device.copy(&from, &mut to, bytes))?.cold;
        Ok(Some(DeviceCopy { bytes, gbps: gigabytes_per_second(2 * bytes, timing.median_ms), timing }))
    }

    /// Times `work`, whose data are so many bytes.
    pub fn measure(&mut self, footprint: u64, work: &mut dyn FnMut() -> Result<()>) -> Result<Times> {
        let mut timed = OnGpu { device: &self.device, flush: &mut self.flush, work };
        let l2 = self.device.properties().l2_bytes;
        timing::measure(&mut timed, footprint, l2, &self.policy)
    }
}

/// Bytes in milliseconds as GB/s (10^9 bytes).
pub(super) fn gigabytes_per_second(bytes: u64, milliseconds: f64) -> f64 {
    bytes as f64 / milliseconds / 1e6
}

/// A launch on a GPU, as the timing sees it.
struct OnGpu<'a> {
    device: &'a Device,
    flush: &'a mut Buffer<u8>,
    work: &'a mut dyn FnMut() -> Result<()>,
}

impl Timed for OnGpu<'_> {
    fn sample(&mut self, launches: u32) -> Result<f64> {
        let time = self.device.time(&mut || (0..launches).try_for_each(|_| (self.work)()))?;
        time.ok_or_else(|| Error::Simulator { doing: "timing".to_owned(), problem: "it has no clock".to_owned() })
    }

    fn flush(&mut self) -> Result<()> {
        match self.flush.bytes() {
            0 => Ok(()),
            _ => self.flush.fill_bytes(0),
        }
    }

    fn lead(&mut self) -> Result<()> {
        (self.work)()
    }

    fn clock(&mut self, launches: u32) -> Result<Option<ClockReading>> {
        if self.device.clock().is_none() {
            return Ok(None);
        }
        (0..launches).try_for_each(|_| (self.work)())?;
        let reading = self.device.clock();
        self.device.synchronize()?;
        Ok(reading)
    }
}
