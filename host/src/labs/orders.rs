//! Runs a lab's variants again in other orders of blocks and warps, and compares each result with
//! the reference, as [`super::flow`] does in the usual order. `flow` calls it after a right run.

use device::{Device, DeviceChoice, Error, Result};
use simt::orders::DrawnOrder;

use super::lab::{Lab, Plan, Variant};
use super::launcher::{Launcher, Record};
use super::settings::Settings;
use crate::orders::{self, Ran};
use crate::report::{Comparison, LabReport, Mismatch, RanAgain, VariantReport};

/// Runs each variant in the orders that the flags ask for. A variant for a certain model runs on
/// that model alone.
pub(super) fn run<L: Lab>(lab: &L, device: &Device, settings: &Settings, report: &mut LabReport) -> Result<()> {
    let flags = settings.orders;
    let simulator = device.simulator()?;
    let before = simulator.available()?;
    let (names, bytes) = {
        let name = |variant: &Variant<'_, L::Data>| variant.device.is_none().then(|| variant.name.clone());
        let plan = lab.plan(&simulator)?;
        let names: Vec<Option<String>> = plan.variants.iter().map(name).collect();
        (names, before.saturating_sub(simulator.available()?))
    };
    settings.progress.add_steps(names.iter().flatten().count());
    for (index, name) in names.iter().enumerate() {
        let Some(name) = name else { continue };
        settings.progress.begin(|| format!("{}: {name} in other orders", L::NAME));
        let ran = report.variants.iter().filter(|row| row.name == *name);
        let counted = ran.filter_map(|row: &VariantReport| row.counters.as_ref());
        let steps = counted.map(|counters| counters.instructions_executed).max().unwrap_or(0);
        let options = orders::options_of(device, steps);
        let shape = settings.shape.multiprocessors.or(Some(device.multiprocessors()));
        let run = |order| {
            let simulator = device::open(DeviceChoice::Simulator, &options)?.shaped_for(shape);
            let Plan { mut data, variants, .. } = lab.plan(&simulator)?;
            let Some(variant) = variants.get(index) else { return Ok(Ran { points: 0, differs: None }) };
            lab.reset(&mut data)?;
            let mut record = Record::default();
            let mut launcher = Launcher::in_order(&simulator, settings, variant.preferences, order, &mut record)?;
            let differs = match (variant.launch)(&mut data, &mut launcher) {
                Ok(()) => (variant.outcome)(&mut data)?.comparison.as_ref().and_then(wrong),
                Err(Error::Fault { fault, .. }) => Some(fault),
                Err(error) => return Err(error),
            };
            Ok(Ran { points: record.points, differs })
        };
        let shown = match flags.schedule {
            Some(order) => orders::try_one(order, &run)?,
            None => orders::try_drawn(settings.seed, flags.schedules.unwrap_or(1), bytes, &run)?,
        };
        report.orders.push((name.clone(), shown));
        settings.progress.done();
    }
    Ok(())
}

/// Runs the variants that ask for it again in drawn orders, and counts the wrong results: see
/// [`Variant::again`].
pub(super) fn run_again<L: Lab>(lab: &L, device: &Device, settings: &Settings, report: &mut LabReport) -> Result<()> {
    let simulator = device::open(DeviceChoice::Simulator, &orders::options_of(device, 0))?;
    let Plan { mut data, variants, .. } = lab.plan(&simulator)?;
    for (variant, row) in variants.iter().zip(&mut report.variants) {
        let Some(again) = variant.again else { continue };
        let mut ran = RanAgain { times: again.times, wrong: 0, in_drawn_orders: true };
        let mut points = 0;
        for index in 0..again.times {
            lab.reset(&mut data)?;
            let mut record = Record::default();
            let order = DrawnOrder::nth(settings.seed, index.into(), points);
            let mut launcher = Launcher::in_order(&simulator, settings, variant.preferences, order, &mut record)?;
            let is_right = match (variant.launch)(&mut data, &mut launcher) {
                Ok(()) => (variant.outcome)(&mut data)?.comparison.is_none_or(|comparison| comparison.correct()),
                Err(Error::Fault { .. }) => false,
                Err(error) => return Err(error),
            };
            ran.wrong += u32::from(!is_right);
            points = record.points.max(points);
        }
        row.again = Some(ran);
    }
    Ok(())
}

/// What is wrong with a result, if anything is.
fn wrong(comparison: &Comparison) -> Option<String> {
    if comparison.correct() {
        return None;
    }
    Some(match &comparison.first {
        Some(Mismatch { index, expected, found }) => {
            let index: Vec<String> = index.iter().map(u64::to_string).collect();
            format!("element {} is {}, not {}", index.join(", "), found, expected)
        }
        None => format!("{} elements are wrong", comparison.wrong),
    })
}
