//! Runs a lab's variants again in other orders of blocks and warps, and compares each result with
//! the reference, as [`super::flow`] does in the usual order. `flow` calls it after a right run. How
//! a wrong element comes about is found by what it is and should be: the word of memory that differs
//! so.

use device::{Device, DeviceChoice, Error, Options, Result};
use simt::orders::{DrawnOrder, Followed, Start, Strategy};
use timeline::{Differing, Names};

use super::lab::{Lab, Plan, Variant};
use super::launcher::{Launcher, Record};
use super::settings::Settings;
use crate::orders::{self, Ran, Story};
use crate::report::{Comparison, LabReport, Mismatch, RanAgain, VariantReport};

/// Another result is shown in a simpler order, too, if the usual one takes at most so many warp
/// instructions.
const SIMPLIFIED: u64 = 1 << 20;

/// A variant that runs in several orders, each on a simulator of its own.
struct Again<'a, L> {
    lab: &'a L,
    settings: &'a Settings,
    options: Options,
    shape: Option<u32>,
    /// The variant's number.
    index: usize,
}

/// What a run in one order has left.
struct Left<R> {
    /// What is wrong with the result; a fault, if one stopped it.
    differs: Option<String>,
    record: Record,
    /// What was looked at.
    seen: R,
}

impl<L: Lab> Again<'_, L> {
    /// Runs in an order. `look` sees the device with what the launch has left, and the first wrong
    /// element.
    fn run<R>(
        &self,
        order: DrawnOrder,
        follows: Option<Followed>,
        look: impl FnOnce(&Device, Option<&Mismatch>) -> R,
    ) -> Result<Left<R>> {
        let device = device::open(DeviceChoice::Simulator, &self.options)?.shaped_for(self.shape);
        let Plan { mut data, variants, .. } = self.lab.plan(&device)?;
        let mut record = Record::default();
        let (mut differs, mut mismatch) = (None, None);
        if let Some(variant) = variants.get(self.index) {
            self.lab.reset(&mut data)?;
            let preferences = variant.preferences;
            let mut launcher = Launcher::in_order(&device, self.settings, preferences, order, follows, &mut record)?;
            match (variant.launch)(&mut data, &mut launcher) {
                Ok(()) => {
                    let comparison = (variant.outcome)(&mut data)?.comparison;
                    differs = comparison.as_ref().and_then(wrong);
                    mismatch = comparison.and_then(|comparison| comparison.first);
                }
                Err(Error::Fault { fault, .. }) => differs = Some(fault),
                Err(error) => return Err(error),
            }
        }
        let seen = look(&device, mismatch.as_ref());
        Ok(Left { differs, record, seen })
    }

    /// How a wrong result comes about in this order, or in a simpler one, of launches with so many
    /// points; 0: in this order. Of one launch only.
    fn story(&self, order: DrawnOrder, points: u64) -> Result<Option<Story>> {
        let usual = DrawnOrder { resident: Some(1), start: Some(Start::Up), ..DrawnOrder::new(0, Strategy::Usual) };
        let usual = self.run(usual, None, |device, _| device.snapshot())?;
        let Some(before) = usual.seen.filter(|_| usual.record.launches.len() == 1) else { return Ok(None) };
        // The word that is what the wrong element is, and was what that should be.
        let place = |device: &Device, mismatch: Option<&Mismatch>| {
            let &Mismatch { expected, found, .. } = mismatch?;
            let is = |word: u32, value: f64| [f64::from(word), f64::from(f32::from_bits(word))].contains(&value);
            let is_alike = |before: [u32; 2], now: [u32; 2]| {
                let mut words = before.into_iter().zip(now);
                !words.any(|(before, now)| before != now && is(now, found) && is(before, expected))
            };
            device.first_difference(&before, &is_alike)
        };
        let differing = |order: DrawnOrder| -> Result<_> {
            let Left { record, seen, .. } = self.run(order, None, place)?;
            Ok(seen.map(|place| (place, record.interruptions)))
        };
        let Some((place, interruptions)) = differing(order)? else { return Ok(None) };
        let first = Differing { order, place, interruptions };
        let simpler = timeline::simplest(first, (self.settings.seed, points), &mut |order| -> Result<_> {
            Ok(differing(order)?.filter(|((span, _), _)| *span == place.0))
        });
        let Differing { order, place: (span, address), interruptions } = simpler?;
        let follow = |order, followed| Ok::<_, Error>(self.run(order, Some(followed), |_, _| ())?.record.touches);
        let value = |value: u128, bytes: u32| match bytes {
            4 => timeline::word(value as u32),
            _ => value.to_string(),
        };
        let global = |address: u64| match address.checked_sub(span.address).filter(|&offset| offset < span.bytes) {
            Some(offset) => format!("byte {offset} of the {} bytes of the result", span.bytes),
            None => format!("global address {address:#x}"),
        };
        let names = Names { module: "the kernel", value: &value, global: &global };
        let timeline = timeline::explain(&follow, order, (address, 4), &names)?;
        Ok(Some(Story { order: order.to_string(), interruptions, timeline }))
    }
}

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
        let again = Again { lab, settings, options, shape, index };
        let run = |order| {
            let left = again.run(order, None, |_, _| ())?;
            Ok(Ran { points: left.record.points, differs: left.differs })
        };
        let mut shown = match flags.schedule {
            Some(order) => orders::try_one(order, &run)?,
            None => orders::try_drawn(settings.seed, flags.schedules.unwrap_or(1), bytes, &run)?,
        };
        if let Some(first) = &mut shown.first
            && let Ok(order) = first.order.parse()
        {
            let simple = if flags.schedules.is_some() && steps <= SIMPLIFIED { shown.points } else { 0 };
            first.story = again.story(order, simple)?;
        }
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
            let mut launcher = Launcher::in_order(&simulator, settings, variant.preferences, order, None, &mut record)?;
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
