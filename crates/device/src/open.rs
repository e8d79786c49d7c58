//! Opens devices: the one that is asked for, or all of this machine.

use std::error::Error as _;
use std::rc::Rc;
use std::sync::OnceLock;

use simt::{LoadCaching, Model};

use crate::backend::Backend;
use crate::choice::DeviceChoice;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::properties::Properties;
use crate::{Device, gpu, image, simulator};

/// Opens the device that `choice` names.
///
/// # Errors
///
/// For a GPU: [`Error::NoGpu`], [`Error::NoSuchGpu`], [`Error::DeviceTooOld`],
/// [`Error::DriverTooOld`], [`Error::Driver`]. For any device: [`Error::Ptx`] when it rejects the
/// PTX, or the options name none; [`Error::File`] when the file of [`Options::ptx`] cannot be read.
pub fn open(choice: DeviceChoice, options: &Options) -> Result<Device> {
    let images = image::Images::new(&options.kernels, &options.ptx)?;
    let device = |backend: Rc<dyn Backend>, loaded: Rc<image::Loaded>, choice, fallback: Option<Error>| {
        // Not before the backend has asked how much memory there is: it is the threads' too.
        start_threads();
        Device { backend, loaded, fallback: fallback.map(Rc::new), options: options.clone(), choice, shaped_for: None }
    };
    let simulator = |placed: Option<(&'static Model, LoadCaching)>, fallback| {
        let loaded = Rc::new(image::Loaded::new(images.newest())?);
        let choice = placed.map_or(DeviceChoice::Simulator, |(model, caching)| DeviceChoice::Model(model, caching));
        Ok(device(Rc::new(simulator::Simulator::open(&loaded, options, placed)?), loaded, choice, fallback))
    };
    let gpu = |index| {
        let (gpu, loaded) = gpu::open(index, &images, options)?;
        Ok(device(gpu, loaded, DeviceChoice::Gpu(index), None))
    };
    match choice {
        DeviceChoice::Simulator => simulator(None, None),
        DeviceChoice::Model(model, caching) => simulator(Some((model, caching)), None),
        DeviceChoice::Gpu(index) => gpu(index).map_err(|error| match error {
            Error::NoGpu(why) => Error::NoGpu(format!("{why}{}", options.advice.no_gpu)),
            other => other,
        }),
        DeviceChoice::Auto => {
            let mut first_failure = None;
            for index in 0..gpu::count().unwrap_or(1) {
                match gpu(index) {
                    Ok(device) => return Ok(device),
                    Err(error) => first_failure = first_failure.or(Some(error)),
                }
            }
            simulator(None, first_failure)
        }
    }
}

/// Starts rayon's threads, which run blocks, compute references and compare. Rayon would start them
/// on first use, and panic if the system starts none, as under `ulimit -v`: then a pool of this
/// thread alone serves it.
fn start_threads() {
    static FAILED: OnceLock<bool> = OnceLock::new();
    let start = || rayon::ThreadPoolBuilder::new().build_global();
    // An error with a source is the system's; the other one means that the threads run already.
    if *FAILED.get_or_init(|| start().is_err_and(|error| error.source().is_some())) {
        // It is an error if this thread has its pool already.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().map(std::mem::forget);
    }
}

/// Every device of this machine: the GPUs that can be opened, then the simulator. The errors say
/// why other GPUs, or all of them, cannot be used.
pub fn all(options: &Options) -> Result<(Vec<Device>, Vec<Error>)> {
    let mut devices = Vec::new();
    let mut errors = Vec::new();
    match gpu::count() {
        Ok(count) => {
            for index in 0..count {
                match open(DeviceChoice::Gpu(index), options) {
                    Ok(device) => devices.push(device),
                    Err(error) => errors.push(error),
                }
            }
        }
        Err(error) => errors.push(error),
    }
    devices.push(open(DeviceChoice::Simulator, options)?);
    Ok((devices, errors))
}

/// The properties of the simulator with each of its models.
///
/// # Errors
///
/// [`Error::File`] when the file of [`Options::ptx`] cannot be read.
pub fn models(options: &Options) -> Result<Vec<Properties>> {
    let images = image::Images::new(&options.kernels, &options.ptx)?;
    let placed = |model| {
        simulator::properties(image::newest_of(images.newest()), &options.limits, Some((model, LoadCaching::Default)))
    };
    Ok(Model::all().iter().map(placed).collect())
}
