//! Launches the kernels of a variant for [`super::flow`]. It sets the preferences of the flags and
//! of the variant, and adds up the simulator's counters if a variant launches several kernels. It
//! changes the device only by what it launches and prefers.

use cuda_std::launch::{ArgumentList, Kernel, SafeKernel};
use device::{CacheConfig, Counters, Device, GpuOccupancy, LaunchConfig, Result};
use simt::LoadCaching;
use simt::orders::{DrawnOrder, Followed, Touch};
use simt::prediction::Predicted;
use simt::requests::ArrayCounts;

use super::settings::Settings;
use super::streams::Given;
use crate::faults::Findings;
use crate::lines::LineCounts;
use crate::predicted::waits::Waits;

/// The configuration of a best kernel's launch.
pub(super) fn config_of(best_kernels::Launch { grid, block, dynamic_shared }: best_kernels::Launch) -> LaunchConfig {
    LaunchConfig { dynamic_shared, ..LaunchConfig::new(grid, block) }
}

/// A variant's preferences, which flags override.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    /// Preference between L1 cache and shared memory.
    pub cache: CacheConfig,
    /// The context's preference, for kernels without their own.
    pub context_cache: CacheConfig,
    /// The share of a multiprocessor's memory to use as shared memory, in percent.
    pub carveout: Option<u8>,
    /// Whether loads without a cache operator go through L1: an option of the driver's compiler and
    /// of a model.
    pub load_caching: LoadCaching,
}

/// Launches a variant's kernels.
pub struct Launcher<'a> {
    device: &'a Device,
    /// What all launches have in common.
    pub(super) common: LaunchConfig,
    lines: bool,
    /// `None` while launches are timed.
    pub(super) record: Option<&'a mut Record>,
}

/// What was recorded of a variant's launches.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The kernels in the order of their first launches, each once.
    pub kernels: Vec<&'static str>,
    /// The counters of each launch, in order, if they were counted.
    pub launches: Vec<(&'static str, Counters)>,
    /// The counts of all launches, line by line.
    pub lines: LineCounts,
    /// How often each word is loaded or updated by all of them, by the array's address, if that is
    /// counted.
    pub arrays: Vec<ArrayCounts>,
    /// What the sanitizer found in them.
    pub findings: Findings,
    /// How many blocks of the first launch are resident on a multiprocessor of the GPU.
    pub occupancy: Option<GpuOccupancy>,
    /// The predicted time of each launch, if asked for.
    pub predicted: Vec<(&'static str, Predicted)>,
    /// What streams were given, in order.
    pub given: Vec<Given>,
    /// Where the warps of all launches would wait.
    pub waits: Waits,
    /// In a drawn order: the accesses of a launch at which warps may be interrupted, at most.
    pub points: u64,
    /// In a drawn order: how often warps were interrupted, and the accesses that were followed.
    pub interruptions: u64,
    pub touches: Vec<Touch>,
}

impl Record {
    /// Adds a launch's accesses.
    fn add_arrays(&mut self, arrays: &[ArrayCounts]) {
        for array in arrays {
            let same =
                |other: &&mut ArrayCounts| (other.address, other.loads.len()) == (array.address, array.loads.len());
            match self.arrays.iter_mut().find(same) {
                Some(known) => {
                    let loads = known.loads.iter_mut().zip(&array.loads);
                    let moves = known.moves.iter_mut().zip(&array.moves);
                    let atomics = known.atomics.iter_mut().zip(&array.atomics);
                    loads.chain(moves).chain(atomics).for_each(|(sum, count)| *sum = sum.saturating_add(*count));
                }
                None => self.arrays.push(array.clone()),
            }
        }
    }

    /// The counters of all launches.
    pub fn counters(&self) -> Option<Counters> {
        self.launches.iter().map(|(_, counters)| *counters).reduce(|mut all, counters| {
            all += counters;
            all
        })
    }
}

/// The additions of a block's tree, at most.
const STEPS_OF_A_TREE: u32 = 16;

impl<'a> Launcher<'a> {
    /// Launches on `device` and adds each launch to `record`.
    ///
    /// # Errors
    ///
    /// [`device::Error::Driver`] if the device rejects a preference.
    pub(super) fn new(
        device: &'a Device,
        settings: &Settings,
        preferences: Preferences,
        record: Option<&'a mut Record>,
    ) -> Result<Self> {
        // The user's flags override the variant's preferences.
        let cache = match settings.cache_config {
            CacheConfig::None => preferences.cache,
            wish => wish,
        };
        device.prefer(preferences.context_cache)?;
        // A page shows both.
        let page = settings.has_page();
        let lines = page || settings.lines.wanted();
        let least = if settings.draws_lanes { STEPS_OF_A_TREE } else { 1 };
        let watch = if page || settings.lines.watches() { settings.steps.max(least) } else { 0 };
        let common = LaunchConfig {
            cache,
            carveout: settings.carveout.or(preferences.carveout),
            load_caching: preferences.load_caching,
            checks: settings.checks(),
            watch,
            counts_words: settings.counts_words,
            predict: settings.predicted.wish(device),
            registers: settings.predicted.thread_registers,
            ..LaunchConfig::new([1; 3], [1; 3])
        };
        Ok(Self { device, common, lines, record })
    }

    /// Launches on the simulator without a model in a drawn order, for the results and the accesses
    /// that are followed.
    ///
    /// # Errors
    ///
    /// As [`Launcher::new`].
    pub(super) fn in_order(
        device: &'a Device,
        settings: &Settings,
        preferences: Preferences,
        order: DrawnOrder,
        follows: Option<Followed>,
        record: &'a mut Record,
    ) -> Result<Self> {
        let plain = Self::new(device, settings, preferences, Some(record))?;
        let LaunchConfig { cache, carveout, load_caching, registers, grid, block, .. } = plain.common;
        let order = Some(order);
        let plainly = LaunchConfig::new(grid, block);
        let common = LaunchConfig { cache, carveout, load_caching, registers, order, follows, ..plainly };
        Ok(Self { common, lines: false, ..plain })
    }

    /// The device that it launches on.
    pub fn device(&self) -> &Device {
        self.device
    }

    /// Launches a safe kernel with the preferences added to `config`. The occupancy of the first
    /// one is the variant's.
    ///
    /// # Errors
    ///
    /// As [`Device::launch`].
    pub fn launch<P, A: ArgumentList<P>>(
        &mut self,
        kernel: &'static SafeKernel<P>,
        config: &LaunchConfig,
        arguments: A,
    ) -> Result<()> {
        config.check_positions(kernel.name(), kernel.shape())?;
        // SAFETY: as for `Device::launch`.
        unsafe { self.launch_unchecked(kernel, config, arguments) }
    }

    /// As [`Launcher::launch`], for any kernel.
    ///
    /// # Safety
    ///
    /// As for [`Device::launch_unchecked`].
    ///
    /// # Errors
    ///
    /// As [`Device::launch`].
    pub unsafe fn launch_unchecked<P, A: ArgumentList<P>>(
        &mut self,
        kernel: &'static Kernel<P>,
        config: &LaunchConfig,
        arguments: A,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.launch_as(kernel, config, arguments, true) }
    }

    /// As [`Launcher::launch_unchecked`], for a kernel that makes what the variant's own kernel
    /// takes: its occupancy is not the variant's.
    ///
    /// # Safety
    ///
    /// As for [`Device::launch_unchecked`].
    ///
    /// # Errors
    ///
    /// As [`Device::launch`].
    pub unsafe fn launch_before<P, A: ArgumentList<P>>(
        &mut self,
        kernel: &'static Kernel<P>,
        config: &LaunchConfig,
        arguments: A,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.launch_as(kernel, config, arguments, false) }
    }

    /// # Safety
    ///
    /// As for [`Device::launch_unchecked`].
    unsafe fn launch_as<P, A: ArgumentList<P>>(
        &mut self,
        kernel: &'static Kernel<P>,
        config: &LaunchConfig,
        arguments: A,
        has_occupancy: bool,
    ) -> Result<()> {
        let &LaunchConfig { grid, block, cluster, cooperative, dynamic_shared, stream, .. } = config;
        let registers = self.common.registers.or(config.registers);
        let config = LaunchConfig {
            grid,
            block,
            cluster,
            cooperative,
            dynamic_shared,
            registers,
            stream,
            window: config.window,
            watched_block: config.watched_block,
            ..self.common
        };
        let Some(record) = &mut self.record else {
            // SAFETY: the caller's promise.
            return unsafe { self.device.launch_unchecked(kernel, &config, arguments) }.map(drop);
        };
        let name = kernel.name();
        if !record.kernels.contains(&name) {
            record.kernels.push(name);
        }
        // SAFETY: the caller's promise.
        let report = unsafe { self.device.launch_unchecked(kernel, &config, arguments) }?;
        if let Some(report) = report {
            let mut counters = report.counters();
            counters.occupancy = counters.occupancy.filter(|_| has_occupancy);
            record.launches.push((name, counters));
            if self.lines {
                record.lines.add(&report);
            }
            record.add_arrays(report.arrays());
            record.findings.add(&Findings::of(&report));
            record.waits.add(&report);
            if let Some(drawn) = report.drawn() {
                record.points = record.points.max(drawn.points);
                record.interruptions += drawn.interruptions;
                record.touches.extend_from_slice(report.touches());
            }
            record.predicted.extend(report.predicted().map(|predicted| (name, predicted.clone())));
        }
        if has_occupancy && record.occupancy.is_none() {
            record.occupancy = self.device.occupancy(kernel, &config)?;
        }
        Ok(())
    }
}
