//! Launches in other orders of blocks and warps: what each leaves in memory is compared with what
//! the usual order leaves. Nothing of them stays.

use device::names;
use half::{bf16, f16};
use ptx::{Module, Op, Type};
use simt::orders::{DrawnOrder, Followed, Snapshot};
use simt::{Checks, Launch, LaunchError, Memory, Program, Report, TrapKind};
use timeline::{Names, Timeline, word};

use crate::report;
use crate::settings::Orders;

/// Floats that differ less, relatively, count as the same where atomics leave the order of sums
/// open; halves, if they differ less than the second.
const TOLERANCE: f64 = 1e-5;
const TOLERANCE_OF_HALVES: f64 = 1e-2;

/// The most bytes of memory that are copied to compare them.
const MOST_COPIED: u64 = 1 << 30;

/// A launch that takes so many more warp instructions without the host waits for the host.
const MORE_STEPS: u64 = 1 << 20;

/// The floats on which a module has atomic operations, which leave the order of their sums open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    f16: bool,
    bf16: bool,
    f32: bool,
    f64: bool,
}

/// What launches in other orders show.
#[derive(Debug, Default, PartialEq)]
pub struct Found {
    /// How many ran.
    pub tried: u64,
    /// How many leave another result.
    pub different: u64,
    /// The first of these.
    pub first: Option<Different>,
    /// Whether floats that differ little count as the same.
    pub tolerant: bool,
}

/// An order that leaves another result.
#[derive(Debug, PartialEq)]
pub struct Different {
    order: DrawnOrder,
    /// How the result differs.
    result: String,
    /// The first word that differs, in memory.
    address: Option<u64>,
    /// How that comes about, if few accesses show it.
    timeline: Option<Timeline>,
}

/// A launch that can run again: what memory held before it.
pub struct Again<'a> {
    pub program: &'a Program,
    pub memory: &'a Memory,
    pub launch: &'a Launch<'a>,
    pub before: Snapshot,
    /// The floats whose sums may have any order.
    pub sums_open: Sums,
}

/// What is in memory now, if launches are to be compared and there is not too much of it.
pub fn before(memory: &Memory, orders: Option<&Orders>) -> Result<Option<Snapshot>, &'static str> {
    if orders.is_none() {
        return Ok(None);
    }
    let too_much = "more than 1 GiB of memory is in use: other orders are left out";
    if memory.used() > MOST_COPIED {
        return Err(too_much);
    }
    memory.snapshot().map(Some).ok_or(too_much)
}

impl Again<'_> {
    /// Runs in these orders, after a run in the usual one, whose report this is and whose results
    /// are restored.
    pub fn compare(&self, orders: &Orders, usual: &Report) -> Option<Found> {
        let after = self.memory.snapshot()?;
        let found = self.found(orders, usual, &after);
        self.memory.restore(&after);
        found
    }

    fn found(&self, orders: &Orders, usual: &Report, after: &Snapshot) -> Option<Found> {
        let mut found = Found { tolerant: self.sums_open != Sums::default(), ..Found::default() };
        let steps = usual.counters().instructions_executed;
        // None of the other runs has what the host wrote into lent memory during the launch: they
        // are compared with one in the usual order that does not have it, either.
        let alone = if self.memory.has_lent() {
            match self.run(None, steps.saturating_add(MORE_STEPS), None) {
                Ok(_) => Some(self.memory.snapshot()?),
                Err(LaunchError::Trap(trap)) if trap.kind != TrapKind::Cancelled => {
                    report::waits_for_host(self.launch.kernel);
                    return None;
                }
                Err(_) => return None,
            }
        } else {
            None
        };
        let after = alone.as_ref().unwrap_or(after);
        match *orders {
            Orders::One(order) => _ = self.add(order, steps, after, &mut found),
            Orders::Drawn { count, seed } => {
                // The others need to know at how many accesses warps may be interrupted.
                let points = self.add(DrawnOrder::nth(seed, 0, 0), steps, after, &mut found);
                for index in 1..u64::from(count) {
                    self.add(DrawnOrder::nth(seed, index, points), steps, after, &mut found);
                }
            }
        }
        if let Some(different) = &mut found.first {
            different.timeline = self.timeline(different, steps);
        }
        Some(found)
    }

    /// Runs in an order. Returns the accesses at which warps may be interrupted.
    fn add(&self, order: DrawnOrder, steps: u64, after: &Snapshot, found: &mut Found) -> u64 {
        found.tried += 1;
        let (points, differs) = match self.run(Some(order), DrawnOrder::step_limit(steps), None) {
            Ok(report) => (report.drawn().map_or(0, |drawn| drawn.points), self.difference(after)),
            Err(LaunchError::Trap(trap)) => (0, Some((trap.what(), None))),
            Err(error) => (0, Some((error.to_string(), None))),
        };
        if let Some((result, address)) = differs {
            found.different += 1;
            found.first.get_or_insert(Different { order, result, address, timeline: None });
        }
        points
    }

    /// Runs in an order, or the usual one, from what memory held before, and records the accesses
    /// that are followed.
    fn run(
        &self,
        order: Option<DrawnOrder>,
        step_limit: u64,
        follows: Option<Followed>,
    ) -> Result<Report, LaunchError> {
        self.memory.rewind(&self.before);
        let launch = Launch {
            order,
            follows,
            checks: Checks::NONE,
            model: None,
            carveout: None,
            predicts: None,
            watch: None,
            output: None,
            step_limit,
            ..self.launch.clone()
        };
        self.program.launch(self.memory, &launch)
    }

    /// How the first word that differs comes about.
    fn timeline(&self, different: &Different, steps: u64) -> Option<Timeline> {
        let follow = |order, followed| {
            Ok(self.run(Some(order), DrawnOrder::step_limit(steps), Some(followed))?.touches().to_vec())
        };
        let value = |value: u128, bytes: u32| match bytes {
            4 => word(value as u32),
            _ => value.to_string(),
        };
        let global = |address: u64| {
            let mut spans = self.memory.allocations();
            match spans.find(|span| address.checked_sub(span.address).is_some_and(|offset| offset < span.bytes)) {
                Some(span) => {
                    format!("byte {} of {} bytes at {:#x}", address - span.address, span.bytes, span.address)
                }
                None => format!("global address {address:#x}"),
            }
        };
        let names = Names { module: "kernel.ptx", value: &value, global: &global };
        let explained: Result<_, LaunchError> =
            timeline::explain(&follow, different.order, (different.address?, 4), &names);
        explained.ok()?
    }

    /// How memory differs from what the usual order has left, and where first.
    fn difference(&self, after: &Snapshot) -> Option<(String, Option<u64>)> {
        let same = |usual, now| self.sums_open.are_close(usual, now);
        let (span, address, [usual, now]) = self.memory.first_difference(after, same)?;
        let offset = address - span.address;
        let text = format!(
            "the word at byte {offset} of {} bytes at {:#x} is {}, not {}",
            span.bytes,
            span.address,
            word(now),
            word(usual)
        );
        Some((text, Some(address)))
    }
}

impl Sums {
    /// Those of a module.
    pub fn of(module: &Module) -> Self {
        let mut sums = Self::default();
        for instruction in module.functions.iter().flat_map(|(_, function)| function.body.iter().flatten()) {
            let (Op::Atomic { ty, .. } | Op::AtomicVector { ty, .. }) = &instruction.op else { continue };
            match ty {
                Type::F16 | Type::F16x2 => sums.f16 = true,
                Type::Bf16 | Type::Bf16x2 => sums.bf16 = true,
                Type::F32 => sums.f32 = true,
                Type::F64 => sums.f64 = true,
                _ => {}
            }
        }
        sums
    }

    /// Whether two pairs of words are the same but for the order of sums.
    fn are_close(self, one: [u32; 2], other: [u32; 2]) -> bool {
        let double = |[low, high]: [u32; 2]| f64::from_bits(u64::from(high) << 32 | u64::from(low));
        let halves = |word: u32| [word as u16, (word >> 16) as u16];
        let each = |close: &dyn Fn(u32, u32) -> bool| {
            one.into_iter().zip(other).all(|(one, other)| one == other || close(one, other))
        };
        let each_half = |value: &dyn Fn(u16) -> f64| {
            each(&|one, other| {
                let mut pairs = halves(one).into_iter().zip(halves(other));
                pairs.all(|(one, other)| one == other || close(value(one), value(other), TOLERANCE_OF_HALVES))
            })
        };
        let single = |bits: u32| f64::from(f32::from_bits(bits));
        self.f64 && close(double(one), double(other), TOLERANCE)
            || self.f32 && each(&|one, other| close(single(one), single(other), TOLERANCE))
            || self.f16 && each_half(&|bits| f16::from_bits(bits).into())
            || self.bf16 && each_half(&|bits| bf16::from_bits(bits).into())
    }
}

/// Whether two floats differ by no more. Small integers are tiny floats, which sums seldom are.
fn close(one: f64, other: f64, tolerance: f64) -> bool {
    let largest = one.abs().max(other.abs());
    largest.is_finite() && largest > 1e-30 && (one - other).abs() <= tolerance * largest
}

impl Found {
    /// The message about another result: a line, and how to see it again.
    pub fn message(&self, kernel: &str, width: usize) -> Option<String> {
        let Different { order, result, timeline, .. } = self.first.as_ref()?;
        let verb = if self.different == 1 { "gives" } else { "give" };
        let orders = if self.tried == 1 { "order" } else { "orders" };
        let close = if self.tolerant { " (floats within 1 part in 100000 count as the same)" } else { "" };
        let what = format!(
            "error: kernel `{}`: {} of {} other {orders} {verb} another result{close}: {result}",
            names::shown(kernel),
            self.different,
            self.tried,
        );
        let which = if self.different == 1 { "In that order" } else { "In the first of these orders" };
        let which = format!("{which}, {}.", order.described());
        let lines = [wording::wrapped(&what, width, "", "    "), wording::wrapped(&which, width, "  ", "  ")];
        let timeline = timeline.as_ref().map(|timeline| format!("\n{}", timeline.text("  ", width)));
        let lines = lines.join("\n");
        Some(format!("{lines}\n  Run it again: --schedule {order}\n{}", timeline.unwrap_or_default()))
    }

    /// The same as a finding for the record.
    pub fn finding(&self) -> Option<String> {
        let Different { order, result, .. } = self.first.as_ref()?;
        Some(format!("in another order, {result}; --schedule {order}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_floats_may_differ_a_little_and_counts_not() {
        let of = |ty: &str, add: &str| {
            let text = format!(
                ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k() {{\n    .reg .b64 %rd<2>;\n    \
                 .reg .{ty} %f<2>;\n    red.global.{add}.{ty} [%rd1], %f1;\n    ret;\n}}\n"
            );
            Sums::of(&ptx::parse("k.ptx", &text).expect("PTX"))
        };
        let single = |value: f32| [value.to_bits(), 7];
        let sums = of("f32", "add");
        assert!(sums.are_close(single(1.0), single(1.000_001)) && !sums.are_close(single(1.0), single(1.001)));
        assert!(!sums.are_close([7, 7], [8, 7]) && !sums.are_close(single(f32::NAN), single(1.0)));
        assert!(!of("b32", "and").are_close(single(1.0), single(1.000_001)));
        let double = |value: f64| [value.to_bits() as u32, (value.to_bits() >> 32) as u32];
        assert!(
            of("f64", "add").are_close(double(1.0), double(1.000_001))
                && !sums.are_close(double(1.0), double(1.000_001))
        );
        assert_eq!((word(7), word(1.5f32.to_bits())), ("7".to_owned(), "1069547520 (as a float: 1.5)".to_owned()));
    }

    #[test]
    fn the_message_names_the_order() {
        let order = DrawnOrder::nth(1, 4, 8);
        let result = "the word at byte 0 of 4 bytes at 0x1000 is 3, not 8".to_owned();
        let first = Some(Different { order, result, address: Some(0x1000), timeline: None });
        let found = Found { tried: 8, different: 4, first, tolerant: false };
        let text = found.message("_Z1kPf", 100).expect("another result");
        assert!(
            text.starts_with("error: kernel `k(float*)`: 4 of 8 other orders give another result: the word"),
            "{text}"
        );
        assert!(text.ends_with(&format!("  Run it again: --schedule {order}\n")), "{text}");
        assert_eq!(Found::default().message("k", 100), None);
    }
}
