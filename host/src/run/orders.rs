//! Runs the launches of a request in other orders of blocks and warps, and compares what they leave
//! in memory with what the usual order leaves there. [`super`] calls it after the run that is
//! reported. It changes only simulators that it opens.
//!
//! What `--print` and `--save` name is compared; if they name nothing, each argument's data.

use device::{Counters, Device, DeviceChoice, Error, LaunchConfig, Options, Predict, Result};
use ptx::{Module, Op};
use simt::Checks;
use simt::orders::{Bounds, DrawnOrder, Explored, Followed, Touch};
use timeline::{Differing, Names, Timeline};

use super::argument::{Data, Prepared};
use super::argument_id::ArgumentId;
use super::device_argument::Parameter;
use super::launch::{Elements, Plan, Ready, elements, place};
use super::validate::{Output, Source};
use super::value::TOLERANCE;
use crate::orders::{self, OrdersReport, Ran, Story};
use crate::progress::Progress;

/// Another result is shown in a simpler order, too, if the usual one takes at most so many warp
/// instructions.
const SIMPLIFIED: u64 = 1 << 20;

/// What a run in one order has left.
struct Left {
    /// The elements of each output; a fault, if one stopped a launch.
    result: std::result::Result<Vec<Elements>, String>,
    points: u64,
    interruptions: u64,
    /// The accesses that are followed.
    touches: Vec<Touch>,
    /// The address of each output, if it has one.
    addresses: Vec<Option<u64>>,
}

/// The launches of a request, and what the usual order leaves.
struct Compared<'a> {
    plan: &'a Plan<'a>,
    /// The options of the simulator.
    options: Options,
    outputs: Vec<Output>,
    usual: Vec<Elements>,
    /// Whether floats that differ little are the same.
    tolerant: bool,
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
    if !flags.any() && !plan.flags.exploring.explore {
        return Ok(None);
    }
    progress.begin(|| "other orders".to_owned());
    let steps = counted.iter().flatten().map(|counters| counters.instructions_executed).sum();
    let options = orders::options_of(device, steps);
    let mut compared = Compared { plan, options, outputs: compared(plan), usual: Vec::new(), tolerant: false };
    compared.usual = match compared.left(None, None)?.result {
        Ok(elements) => elements,
        // The reported run was on a GPU or with checks, and ended.
        Err(fault) => return Err(Error::Fault { kernel: String::new(), fault, trap: None }),
    };
    let has_floats = compared.usual.iter().any(|elements| elements.values.ty().is_float());
    compared.tolerant = has_floats && leaves_sums_open(plan);
    let run = |order| compared.ran(order);
    let mut report = match flags.schedule {
        _ if plan.flags.exploring.explore => compared.explored()?,
        Some(order) => orders::try_one(order, &run)?,
        None => orders::try_drawn(plan.flags.seed, flags.schedules.unwrap_or(1), bytes(plan), &run)?,
    };
    report.tolerance = compared.tolerant.then_some(TOLERANCE);
    if let Some(first) = &mut report.first
        && let Ok(order) = first.order.parse()
    {
        let simple = if flags.schedules.is_some() && steps <= SIMPLIFIED { report.points } else { 0 };
        first.story = compared.story(order, simple)?;
    }
    progress.done();
    Ok(Some(report))
}

impl Compared<'_> {
    /// Runs in an order, and compares.
    fn ran(&self, order: DrawnOrder) -> Result<Ran> {
        let left = self.left(Some(order), None)?;
        let differs = match &left.result {
            Ok(elements) => self.first_difference(elements).map(|place| self.described(place, elements)),
            Err(fault) => Some(fault.clone()),
        };
        Ok(Ran { points: left.points, differs })
    }

    /// Runs the launches in this order; in the usual one without.
    fn left(&self, order: Option<DrawnOrder>, follows: Option<Followed>) -> Result<Left> {
        let device = &device::open(DeviceChoice::Simulator, &self.options)?;
        let in_order = |config: &LaunchConfig| LaunchConfig {
            checks: Checks::NONE,
            watch: 0,
            predict: Predict::Nothing,
            order,
            follows,
            ..*config
        };
        let configs: Vec<LaunchConfig> = self.plan.configs.iter().map(in_order).collect();
        let plan = Plan { configs: &configs, ..*self.plan };
        let mut placed = place(device, &plan)?;
        let address = |output: &Output| match output.source {
            Source::Argument(id) => match placed[id.launch][id.argument].address(0) {
                Parameter::Address { start, .. } if start > 0 => Some(start),
                _ => None,
            },
            Source::Variable(..) => None,
        };
        let addresses = self.outputs.iter().map(address).collect();
        let mut ready = Ready::new(device, &mut placed, &plan)?;
        let mut left = Left { result: Ok(Vec::new()), points: 0, interruptions: 0, touches: Vec::new(), addresses };
        for index in 0..plan.launches.len() {
            ready.prepare(index)?;
            match ready.launch(index) {
                Ok(report) => {
                    let Some(report) = report else { continue };
                    if let Some(drawn) = report.drawn() {
                        left.points = left.points.max(drawn.points);
                        left.interruptions += drawn.interruptions;
                    }
                    left.touches.extend_from_slice(report.touches());
                }
                Err(Error::Fault { fault, .. }) => return Ok(Left { result: Err(fault), ..left }),
                Err(error) => return Err(error),
            }
        }
        drop(ready);
        let outputs = self.outputs.iter();
        left.result = Ok(outputs.map(|output| elements(device, &plan, &placed, output)).collect::<Result<_>>()?);
        Ok(left)
    }

    /// Runs in all orders that may differ, as far as the flags ask. Of one launch only.
    fn explored(&self) -> Result<OrdersReport> {
        let mut found = None;
        let (report, explored) = self.plan.flags.exploring.run(|bounds| self.explore(&bounds, &mut found))?;
        let order = explored.order();
        if let Some(order) = order
            && let Some(differs) = self.ran(order)?.differs
        {
            // That of fewer switches.
            found = Some(differs);
        }
        Ok(OrdersReport::of_all(report, explored.points, found.map(|result| (result, order))))
    }

    /// Runs in all orders within bounds, until a result differs, which it describes.
    fn explore(&self, bounds: &Bounds, found: &mut Option<String>) -> Result<Explored> {
        let device = &device::open(DeviceChoice::Simulator, &self.options)?;
        let configs = [LaunchConfig {
            checks: Checks::NONE,
            watch: 0,
            predict: Predict::Nothing,
            order: None,
            follows: None,
            ..self.plan.configs[0]
        }];
        let plan = Plan { configs: &configs, ..*self.plan };
        let mut placed = place(device, &plan)?;
        let mut ready = Ready::new(device, &mut placed, &plan)?;
        ready.prepare(0)?;
        let arguments = ready.arguments(0);
        drop(ready);
        let mut failed = None;
        let mut differs = |fault: Option<&str>| {
            let result = match fault {
                Some(fault) => Ok(Some(fault.to_owned())),
                None => {
                    let outputs = self.outputs.iter().map(|output| elements(device, &plan, &placed, output));
                    let elements: Result<Vec<Elements>> = outputs.collect();
                    elements.map(|it| self.first_difference(&it).map(|place| self.described(place, &it)))
                }
            };
            match result {
                Ok(differs) => {
                    let is_other = differs.is_some();
                    if found.is_none() {
                        *found = differs;
                    }
                    is_other
                }
                Err(error) => {
                    failed.get_or_insert(error);
                    true
                }
            }
        };
        let kernel = &plan.launches[0].function.name;
        let explored = device.explore_untyped(kernel, &configs[0], &arguments, bounds, &mut differs);
        failed.map_or(explored, Err)
    }

    /// The first output and its first element that differ.
    fn first_difference(&self, other: &[Elements]) -> Option<(usize, usize)> {
        self.usual.iter().zip(other).enumerate().find_map(|(output, (usual, other))| {
            Some((output, usual.values.first_difference(&other.values, self.tolerant)?))
        })
    }

    /// An element that differs, and its two values.
    fn described(&self, (output, index): (usize, usize), other: &[Elements]) -> String {
        let text = |elements: &[Elements]| elements[output].values.texts().nth(index).unwrap_or_default();
        format!("{} is {}, not {}", self.element(output, index), text(other), text(&self.usual))
    }

    fn element(&self, output: usize, index: usize) -> String {
        let Output { name, source, .. } = &self.outputs[output];
        let what = match source {
            Source::Argument(_) => "argument",
            Source::Variable(..) => "variable",
        };
        format!("element {index} of {what} {name}")
    }

    /// How another result comes about in this order, or in a simpler one in which the same output
    /// differs, of launches with so many points; 0: in this order. Of one launch only.
    fn story(&self, order: DrawnOrder, points: u64) -> Result<Option<Story>> {
        if self.plan.launches.len() > 1 {
            return Ok(None);
        }
        let differing = |order: DrawnOrder| -> Result<_> {
            let left = self.left(Some(order), None)?;
            let place = left.result.as_ref().ok().and_then(|elements| self.first_difference(elements));
            Ok((place, left))
        };
        let (Some(place), left) = differing(order)? else { return Ok(None) };
        let first = Differing { order, place, interruptions: left.interruptions };
        let simpler = timeline::simplest(first, (self.plan.flags.seed, points), &mut |order| -> Result<_> {
            let (found, left) = differing(order)?;
            Ok(found.filter(|found| found.0 == place.0).map(|found| (found, left.interruptions)))
        });
        let Differing { order, place: (output, index), interruptions } = simpler?;
        let timeline = match left.addresses[output] {
            Some(_) => self.timeline(order, &left.addresses, (output, index))?,
            None => None,
        };
        Ok(Some(Story { order: order.to_string(), interruptions, timeline }))
    }

    /// How an element of an output comes about; the outputs start at these addresses.
    fn timeline(
        &self,
        order: DrawnOrder,
        starts: &[Option<u64>],
        (output, index): (usize, usize),
    ) -> Result<Option<Timeline>> {
        let ty = self.usual[output].values.ty();
        let value = |value: u128, bytes: u32| {
            let mut one = ty.zeros(1);
            if one.bytes().len() != bytes as usize {
                return value.to_string();
            }
            one.bytes_mut().copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
            one.texts().next().unwrap_or_default()
        };
        let global = |address: u64| {
            let inside = |(at, start): (usize, &Option<u64>)| {
                let offset = address.checked_sub((*start)?)?;
                let values = &self.usual[at].values;
                let is_in = offset < values.bytes().len() as u64;
                is_in.then(|| self.element(at, offset as usize / values.ty().bytes()))
            };
            let found = starts.iter().enumerate().find_map(inside);
            found.unwrap_or_else(|| format!("global address {address:#x}"))
        };
        let Some(start) = starts[output] else { return Ok(None) };
        let follow = |order, followed| Ok(self.left(Some(order), Some(followed))?.touches);
        let names = Names { module: self.plan.file, value: &value, global: &global };
        let width = ty.bytes() as u32;
        timeline::explain(&follow, order, (start + index as u64 * u64::from(width), width), &names)
    }
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
