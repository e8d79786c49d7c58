//! Runs the launches of a request in other orders of blocks and warps, and compares what they leave
//! in memory with what the usual order leaves there. [`super`] calls it after the run that is
//! reported. It changes only simulators that it opens.
//!
//! What `--print` and `--save` name is compared; if they name nothing, each argument's data.

use device::{Counters, Device, DeviceChoice, Error, LaunchConfig, Predict, Result};
use ptx::{Module, Op};
use simt::Checks;
use simt::orders::DrawnOrder;

use super::argument::{Data, Prepared};
use super::argument_id::ArgumentId;
use super::launch::{Elements, Plan, Ready, elements, place};
use super::validate::{Output, Source};
use super::value::TOLERANCE;
use crate::orders::{self, OrdersReport, Ran};
use crate::progress::Progress;

/// What a run in one order has left.
struct Left {
    /// The elements of each output; a fault, if one stopped a launch.
    result: std::result::Result<Vec<Elements>, String>,
    points: u64,
}

/// Runs in the orders that the flags ask for; `None` if they ask for none. `counted` are the
/// counters of the launches in the run that is reported.
pub(super) fn run(
    device: &Device,
    progress: &Progress,
    plan: &Plan<'_>,
    counted: &[Option<Counters>],
) -> Result<Option<OrdersReport>> {
    let flags = plan.flags.orders;
    if !flags.any() {
        return Ok(None);
    }
    progress.begin(|| "other orders".to_owned());
    let compared = compared(plan);
    let steps = counted.iter().flatten().map(|counters| counters.instructions_executed).sum();
    let options = orders::options_of(device, steps);
    let in_order = |order: Option<DrawnOrder>| {
        let simulator = device::open(DeviceChoice::Simulator, &options)?;
        left(&simulator, plan, &compared, order)
    };
    let usual = match in_order(None)?.result {
        Ok(elements) => elements,
        // The reported run was on a GPU or with checks, and ended.
        Err(fault) => return Err(Error::Fault { kernel: String::new(), fault, trap: None }),
    };
    let has_floats = usual.iter().any(|elements| elements.values.ty().is_float());
    let tolerant = has_floats && leaves_sums_open(plan);
    let run = |order| {
        let left = in_order(Some(order))?;
        let differs = match left.result {
            Ok(elements) => first_difference(&compared, &usual, &elements, tolerant),
            Err(fault) => Some(fault),
        };
        Ok(Ran { points: left.points, differs })
    };
    let report = match flags.schedule {
        Some(order) => orders::try_one(order, &run)?,
        None => orders::try_drawn(plan.flags.seed, flags.schedules.unwrap_or(1), bytes(plan), &run)?,
    };
    progress.done();
    Ok(Some(OrdersReport { tolerance: tolerant.then_some(TOLERANCE), ..report }))
}

/// What is compared.
fn compared(plan: &Plan<'_>) -> Vec<Output> {
    if !plan.outputs.is_empty() {
        return plan.outputs.to_vec();
    }
    let of_launch = |(launch, arguments): (usize, &Vec<Prepared>)| {
        let is_left = |prepared: &Prepared| prepared.data().is_some_and(|data| !data.freed);
        let left = arguments.iter().enumerate().filter(move |(_, prepared)| is_left(prepared));
        let output = move |(argument, _)| {
            let id = ArgumentId { launch, argument };
            Output { name: id.to_string(), source: Source::Argument(id), file: None }
        };
        left.map(output).collect::<Vec<_>>()
    };
    plan.prepared.iter().enumerate().flat_map(of_launch).collect()
}

/// The bytes of all buffers.
fn bytes(plan: &Plan<'_>) -> u64 {
    plan.prepared.iter().flatten().filter_map(Prepared::data).map(Data::bytes).fold(0, u64::saturating_add)
}

/// Runs the launches in this order; in the usual one without.
fn left(device: &Device, plan: &Plan<'_>, compared: &[Output], order: Option<DrawnOrder>) -> Result<Left> {
    let in_order = |config: &LaunchConfig| LaunchConfig {
        checks: Checks::NONE,
        watch: 0,
        predict: Predict::Nothing,
        order,
        ..*config
    };
    let configs: Vec<LaunchConfig> = plan.configs.iter().map(in_order).collect();
    let plan = Plan { configs: &configs, ..*plan };
    let mut placed = place(device, &plan)?;
    let mut ready = Ready::new(device, &mut placed, &plan)?;
    let mut points = 0;
    for index in 0..plan.launches.len() {
        ready.prepare(index)?;
        match ready.launch(index) {
            Ok(report) => {
                let drawn = report.and_then(|report| report.drawn());
                points = points.max(drawn.map_or(0, |drawn| drawn.points));
            }
            Err(Error::Fault { fault, .. }) => return Ok(Left { result: Err(fault), points }),
            Err(error) => return Err(error),
        }
    }
    drop(ready);
    let elements = compared.iter().map(|output| elements(device, &plan, &placed, output)).collect::<Result<_>>()?;
    Ok(Left { result: Ok(elements), points })
}

/// The first element that differs, and its two values.
fn first_difference(compared: &[Output], usual: &[Elements], other: &[Elements], tolerant: bool) -> Option<String> {
    compared.iter().zip(usual.iter().zip(other)).find_map(|(output, (usual, other))| {
        let index = usual.values.first_difference(&other.values, tolerant)?;
        let text = |elements: &Elements| elements.values.texts().nth(index).unwrap_or_default();
        let what = match output.source {
            Source::Argument(_) => "argument",
            Source::Variable(..) => "variable",
        };
        Some(format!("element {index} of {what} {} is {}, not {}", output.name, text(other), text(usual)))
    })
}

/// Whether the launched kernels, or functions that they may call, have atomic operations: then the
/// order of sums is open.
fn leaves_sums_open(plan: &Plan<'_>) -> bool {
    let module: &Module = plan.module;
    let kernels: Vec<&str> = module.kernels().map(|(_, kernel)| kernel.name.as_str()).collect();
    let may_run =
        |name: &str| plan.launches.iter().any(|launch| launch.function.name == name) || !kernels.contains(&name);
    let functions = module.functions.iter().map(|(_, function)| function).filter(|function| may_run(&function.name));
    let mut instructions = functions.flat_map(|function| function.body.iter().flatten());
    instructions.any(|instruction| matches!(instruction.op, Op::Atomic { .. } | Op::AtomicVector { .. }))
}
