//! Launches: [`Program::launch`] validates a request, chooses how it runs, and hands it to the
//! machine.
//!
//! - `validate`: what a launch may ask for, and where its blocks go on a model.
//! - `explore`: all orders of blocks and warps of a small launch.
//! - `dry_run`: checks of a launch on a model, which runs twice; `predicted`: the predicted time of
//!   a launch without a model, of which a sample runs on the model, too.

mod dry_run;
pub(crate) mod explore;
mod predicted;
mod validate;

use crate::counters::InstructionCounters;
use crate::machine::{RunningLaunch, run_launch};
use crate::model::{Model, ModelCounters, Occupancy, Timing};
use crate::program::{Code, Kernel, Listing};
use crate::request::Request;
use crate::timing::estimate_registers;
use crate::{InvalidLaunch, Launch, LaunchError, Memory, Program, Report};

use dry_run::checked_on_model;
use predicted::with_predicted_time;
use validate::{check, cooperative, count, grid_of_blocks, local_memory, placement};

/// Launch bounds leave a thread at least so many registers.
const FEWEST_BY_BOUNDS: u64 = 16;

impl Program {
    /// Runs a kernel to its end. `memory` holds the program's variables and the arguments' buffers.
    pub fn launch(&self, memory: &Memory, launch: &Launch) -> Result<Report, LaunchError> {
        let kernel = self.named(launch.kernel)?;
        let launch = &Launch { grid: grid_of_blocks(launch, &kernel.info), ..launch.clone() };
        let cluster = check(launch, &kernel.info)?;
        let code = kernel.code.as_ref().map_err(|error| LaunchError::Unsupported(error.clone()))?;
        let (offsets, bytes) = &kernel.parameters;
        let estimate = |model: &Model, timing: &Timing| self.estimated(kernel, code, model, timing);
        let place = |launch: &Launch| placement(launch, &kernel.info, cluster, estimate);
        let placement = place(launch)?;
        local_memory(launch, code.local_bytes(), placement.as_ref())?;
        cooperative(launch, &kernel.info, code.local_bytes(), cluster, placement.as_ref())?;
        let workspace = self.workspace.filter(|_| launch.cooperative).unwrap_or(0);
        if workspace != 0 {
            // A launch that was stopped may have left the barrier in use.
            let _ = memory.atomic32(workspace + 4, |_| 0);
        }
        let run = |launch: &Launch, placement| {
            let parameters = (offsets.as_slice(), *bytes);
            let launched = RunningLaunch::new(code, &self.module, memory, launch, parameters, cluster, workspace);
            run_launch(launched, placement)
        };
        let result = match placement {
            None if launch.predicts.is_some() => with_predicted_time(
                (memory, code.writes),
                launch,
                |launch| run(launch, None),
                place,
                |launch| run(launch, place(launch)?),
            ),
            Some(placement) if launch.checks.any() => {
                checked_on_model(memory, launch, |launch| run(launch, None), |launch| run(launch, Some(placement)))
            }
            _ => run(launch, placement),
        };
        if !launch.checks.init {
            memory.assume_written();
        }
        result
    }

    /// Registers that a thread of a kernel has on this GPU, by an estimate, within `.maxnreg` and
    /// what launch bounds leave: `ptxas` decides, and PTX does not say. `None` for a model without
    /// times.
    pub fn registers(&self, kernel: &str, model: &Model) -> Result<Option<u32>, LaunchError> {
        let kernel = self.named(kernel)?;
        let code = kernel.code.as_ref().map_err(|error| LaunchError::Unsupported(error.clone()))?;
        Ok(model.timing().map(|timing| self.estimated(kernel, code, model, timing)))
    }

    /// The estimate, which is made once, within the bounds.
    fn estimated(&self, kernel: &Kernel, code: &Code, model: &Model, timing: &Timing) -> u32 {
        let info = &kernel.info;
        let threads = info.required_threads.or(info.max_threads).map_or(1, |threads| count(&threads));
        let resident = threads.next_multiple_of(32).saturating_mul(info.min_blocks.unwrap_or(1).into()).max(1);
        let of_bounds = (u64::from(model.limits.registers) / resident / 8 * 8).max(FEWEST_BY_BOUNDS);
        let most = info.max_registers.unwrap_or(u32::MAX).min(model.limits.registers_per_thread);
        let most = u64::from(most).min(of_bounds) as u32;
        let old = timing.issue.short_pointers;
        let free = kernel.registers[usize::from(old)].get_or_init(|| estimate_registers(code, &self.module, old));
        most.min(*free)
    }

    /// Calls `run` with a launch without a model that has not begun.
    fn begin<R>(
        &self,
        memory: &Memory,
        launch: &Launch,
        run: impl FnOnce(RunningLaunch<'_>) -> Result<R, LaunchError>,
    ) -> Result<R, LaunchError> {
        let kernel = self.named(launch.kernel)?;
        let launch = &Launch { grid: grid_of_blocks(launch, &kernel.info), ..launch.clone() };
        let cluster = check(launch, &kernel.info)?;
        let code = kernel.code.as_ref().map_err(|error| LaunchError::Unsupported(error.clone()))?;
        cooperative(launch, &kernel.info, code.local_bytes(), cluster, None)?;
        let workspace = self.workspace.filter(|_| launch.cooperative).unwrap_or(0);
        let parameters = (kernel.parameters.0.as_slice(), kernel.parameters.1);
        run(RunningLaunch::new(code, &self.module, memory, launch, parameters, cluster, workspace))
    }

    /// The report of launches of a kernel elsewhere, of which only this is known: the counters of
    /// each instruction, as [`Report::instructions`] has them, and requests. `None` if there are
    /// not so many counters, or a request is of none of the instructions.
    pub fn recorded(
        &self,
        kernel: &str,
        counted: Vec<InstructionCounters>,
        modelled: Option<(Occupancy, ModelCounters)>,
        requests: Vec<Request>,
    ) -> Result<Option<Report>, LaunchError> {
        let kernel = self.named(kernel)?;
        let code = kernel.code.as_ref().map_err(|error| LaunchError::Unsupported(error.clone()))?;
        let count = code.places.len();
        let fits = count == counted.len() && requests.iter().all(|request| (request.instruction as usize) < count);
        Ok(fits.then(|| Report::recorded(code.places.clone(), counted, modelled, requests)))
    }

    /// A kernel's decoded code as text, for people: each PTX instruction, and beneath it the steps
    /// that the machine executes for it. The text is no interface: it changes with the machine.
    pub fn decoded(&self, kernel: &str) -> Result<String, LaunchError> {
        let kernel = self.named(kernel)?;
        let code = kernel.code.as_ref().map_err(|error| LaunchError::Unsupported(error.clone()))?;
        Ok(Listing(code).to_string())
    }

    /// The kernel of that name.
    fn named(&self, name: &str) -> Result<&Kernel, InvalidLaunch> {
        let found = self.by_name.get(name).map(|&index| &self.kernels[index]);
        found.ok_or_else(|| InvalidLaunch::NoSuchKernel {
            module: self.module.name.clone(),
            kernel: name.to_owned(),
            available: self.kernels.iter().map(|kernel| kernel.info.name.clone()).collect(),
        })
    }
}

#[cfg(test)]
impl Program {
    /// A launch of a kernel that has begun, for tests that step through it.
    pub(crate) fn begun<R>(&self, memory: &Memory, launch: &Launch, each: impl FnOnce(&RunningLaunch) -> R) -> R {
        let kernel = self.named(launch.kernel).expect("the kernel is there");
        let cluster = check(launch, &kernel.info).expect("the launch is valid");
        let code = kernel.code.as_ref().expect("the kernel is supported");
        let parameters = (kernel.parameters.0.as_slice(), kernel.parameters.1);
        each(&RunningLaunch::new(code, &self.module, memory, launch, parameters, cluster, 0))
    }
}
