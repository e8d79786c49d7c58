//! Times launches on a GPU, for the labs and for `host run`, and the device's own copy for
//! comparison. It launches what it times, so outputs change; results are read before.

use std::time::{Duration, Instant};

use device::{Buffer, ClockReading, Device, Error, OnDevice, Result};

use crate::report::DeviceCopy;
use crate::timing::{self, Policy, Timed, Times};
use crate::units::gigabytes_per_second;

/// Times launches on a GPU.
pub(crate) struct Stopwatch {
    device: Device,
    policy: Policy,
    flush: Flush,
}

/// The buffer for flushing the level-2 cache.
struct Flush {
    /// Twice as large as the cache: filling it leaves nothing else there, except for what has
    /// priority. Empty where times are predicted, of launches with cold caches.
    buffer: Buffer<u8>,
    /// How long a fill takes, in milliseconds.
    time_ms: f64,
}

/// If a launch takes the device less than this many times the host's time to submit one, it is over
/// before the next one arrives.
const HOST_BOUND: f64 = 1.5;

/// The maximum number of fills to keep the device busy with.
const MOST_FILLS: f64 = 50.0;

impl Stopwatch {
    /// Takes at most this long for each measurement. `None` if nothing is to be timed: on the
    /// simulator, which has no clock, and if everything is to be launched `once`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if there is no room for a buffer of twice the level-2 cache.
    pub fn new(device: &Device, once: bool, time_limit: Duration) -> Result<Option<Self>> {
        if !device.properties().is_gpu() || once {
            return Ok(None);
        }
        let policy = Policy { time_limit, ..Policy::default() };
        Ok(Some(Self { device: device.clone(), policy, flush: Flush::new(device)? }))
    }

    /// Times the device's own copy of this many bytes, as a reference. `None` if there is no room
    /// for it beside the lab's data, or it takes no time: on a driver that predicts those of
    /// kernels alone.
    pub fn copy(&mut self, bytes: u64) -> Result<Option<DeviceCopy>> {
        let device = self.device.clone();
        if bytes == 0 || device.available()? < bytes.saturating_mul(2) {
            return Ok(None);
        }
        let from: Buffer<u8> = device.buffer(bytes as usize)?;
        let mut to: Buffer<u8> = device.buffer(bytes as usize)?;
        let timing = self.measure(2 * bytes, &mut || device.copy(&from, &mut to, bytes))?.cold;
        let gbps = gigabytes_per_second(2 * bytes, timing.median_ms);
        Ok(gbps.is_finite().then_some(DeviceCopy { bytes, gbps, timing }))
    }

    /// Times `work`, which touches this many bytes. What was timed before leaves it no lines with
    /// priority.
    pub fn measure(&mut self, footprint: u64, work: &mut dyn FnMut() -> Result<()>) -> Result<Times> {
        self.device.reset_l2_priorities()?;
        let mut timed =
            OnGpu { device: &self.device, flush: &mut self.flush, work, submission_ms: 0.0, launch_ms: 0.0 };
        let l2 = self.device.properties().l2_bytes;
        timing::measure(&mut timed, footprint, l2, &self.policy)
    }

    /// Times `work` by the host's clock, from its begin until the device has nothing left to do.
    pub fn measure_by_host(&mut self, work: &mut dyn FnMut(Step) -> Result<()>) -> Result<Times> {
        timing::measure_by_host(&mut ByHost { device: &self.device, work }, &self.policy)
    }
}

/// What is to be done of something that is timed by the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// What is not timed.
    Before,
    /// What is.
    Work,
}

/// Work on a GPU, as the timing by the host's clock sees it.
struct ByHost<'a> {
    device: &'a Device,
    work: &'a mut dyn FnMut(Step) -> Result<()>,
}

impl Timed for ByHost<'_> {
    fn sample(&mut self, launches: u32) -> Result<f64> {
        let mut time_ms = 0.0;
        for _ in 0..launches {
            (self.work)(Step::Before)?;
            self.device.synchronize()?;
            let begin = Instant::now();
            // On a driver that predicts times, the host's clock says nothing.
            let predicted = match self.is_predicted() {
                true => self.device.time(&mut || (self.work)(Step::Work))?,
                false => (self.work)(Step::Work).map(|()| None)?,
            };
            self.device.synchronize()?;
            time_ms += predicted.unwrap_or_else(|| begin.elapsed().as_secs_f64() * 1e3);
        }
        Ok(time_ms)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn lead(&mut self, _launches: u32) -> Result<()> {
        Ok(())
    }

    fn is_predicted(&self) -> bool {
        self.device.properties().has_predicted_times()
    }

    fn clock(&mut self, _launches: u32) -> Result<Option<ClockReading>> {
        Ok(None)
    }
}

impl Flush {
    fn new(device: &Device) -> Result<Self> {
        let properties = device.properties();
        let l2 = if properties.has_predicted_times() { 0 } else { properties.l2_bytes.unwrap_or(0) };
        let mut flush = Self { buffer: device.buffer((l2 * 2) as usize)?, time_ms: 0.0 };
        // During the first one the clocks may be low.
        for _ in 0..2 {
            flush.time_ms = device.time(&mut || Flush::start(&mut flush.buffer))?.unwrap_or(0.0);
        }
        Ok(flush)
    }

    /// Starts a fill.
    fn start(buffer: &mut Buffer<u8>) -> Result<()> {
        match buffer.bytes() {
            0 => Ok(()),
            _ => buffer.fill_bytes(0),
        }
    }
}

/// How many fills of the flush buffer keep the device busy while the host submits this many
/// launches. None, unless a launch is so short that the device would wait for the host.
fn fills(launches: u32, submission_ms: f64, launch_ms: f64, fill_ms: f64) -> u32 {
    if HOST_BOUND * submission_ms <= launch_ms {
        return 0;
    }
    (f64::from(launches) * submission_ms / fill_ms.max(1e-3)).ceil().min(MOST_FILLS) as u32
}

/// A launch on a GPU, as the timing sees it.
struct OnGpu<'a> {
    device: &'a Device,
    flush: &'a mut Flush,
    work: &'a mut dyn FnMut() -> Result<()>,
    /// The time that a launch of the last sample took the host, and the device.
    submission_ms: f64,
    launch_ms: f64,
}

impl Timed for OnGpu<'_> {
    fn sample(&mut self, launches: u32) -> Result<f64> {
        let mut submission_ms = 0.0;
        let time = self.device.time(&mut || {
            let begin = Instant::now();
            (0..launches).try_for_each(|_| (self.work)())?;
            submission_ms = begin.elapsed().as_secs_f64() * 1e3;
            Ok(())
        })?;
        let no_clock = || Error::Simulator { doing: "timing".to_owned(), problem: "it has no clock".to_owned() };
        let time_ms = time.ok_or_else(no_clock)?;
        self.submission_ms = submission_ms / f64::from(launches);
        self.launch_ms = time_ms / f64::from(launches);
        Ok(time_ms)
    }

    fn flush(&mut self) -> Result<()> {
        self.device.reset_l2_priorities()?;
        Flush::start(&mut self.flush.buffer)
    }

    fn lead(&mut self, launches: u32) -> Result<()> {
        let fills = fills(launches, self.submission_ms, self.launch_ms, self.flush.time_ms);
        (0..fills).try_for_each(|_| Flush::start(&mut self.flush.buffer))?;
        (self.work)()
    }

    fn is_predicted(&self) -> bool {
        self.device.properties().has_predicted_times()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_is_kept_busy_only_where_it_would_wait_for_the_host() {
        // 150 launches that the host submits in 3.4 us each, and a fill of 40 us.
        assert_eq!(fills(150, 0.0034, 0.0034, 0.04), 13);
        assert_eq!(fills(150, 0.0034, 0.0015, 0.04), 13);
        assert_eq!(fills(25, 0.0034, 0.02, 0.04), 0);
        // A host that was interrupted, and an empty buffer.
        assert_eq!(fills(150, 10.0, 0.0034, 0.04), 50);
        assert_eq!(fills(1, 0.003, 0.0034, 0.0), 3);
    }
}
