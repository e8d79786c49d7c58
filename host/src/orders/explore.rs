//! All orders of a small launch: the flags that ask for them and bound them, and what is said of
//! them. `host run` explores.

use clap::Args;
use serde::Serialize;
use simt::orders::{Bounds, Explored};

use crate::flag_values::whole_number;

/// The bound of preemptions that is tried if there are too many orders without one.
const PREEMPTIONS: u32 = 2;

/// The flags of `host run` about all orders.
#[derive(Args, Clone, Copy, Debug)]
pub struct ExploreFlags {
    /// On the simulator: run again in all orders of blocks and warps that may differ, for small
    /// launches, and compare the results; another result is a fault
    #[arg(long, conflicts_with_all = ["schedules", "schedule"])]
    pub explore: bool,
    /// With --explore: at most this many orders; if there are more, as many with 2 preemptions
    #[arg(long, value_name = "NUMBER", requires = "explore", default_value_t = 20_000,
          value_parser = whole_number(1, 1_000_000_000u64))]
    pub orders: u64,
    /// With --explore: only orders in which warps that could go on are interrupted this often
    #[arg(long, value_name = "NUMBER", requires = "explore", value_parser = whole_number(0, 1_000u32))]
    pub preemptions: Option<u32>,
}

/// What all orders show, as far as they ran.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ExploreReport {
    /// How many orders ran.
    pub orders: u64,
    /// Whether these are all that may differ, within the bound of preemptions.
    pub complete: bool,
    /// The bound of preemptions.
    pub preemptions: Option<u32>,
}

impl ExploreFlags {
    /// Explores as far as the flags ask: without a bound of preemptions first, unless one is given.
    ///
    /// # Errors
    ///
    /// Those of `explore`.
    pub fn run<E>(
        &self,
        mut explore: impl FnMut(Bounds) -> Result<Explored, E>,
    ) -> Result<(ExploreReport, Explored), E> {
        let mut within = |preemptions| -> Result<_, E> {
            let explored = explore(Bounds { preemptions, orders: self.orders })?;
            let (orders, complete) = (explored.orders, explored.complete);
            Ok((ExploreReport { orders, complete, preemptions }, explored))
        };
        let (first, explored) = within(self.preemptions)?;
        if first.complete || explored.different.is_some() || self.preemptions.is_some() {
            return Ok((first, explored));
        }
        let (second, explored) = within(Some(PREEMPTIONS))?;
        // Those of the first attempt are beyond the bound, as far as anybody knows.
        let orders = if second.complete { second.orders } else { first.orders + second.orders };
        Ok((ExploreReport { orders, ..second }, explored))
    }
}

impl ExploreReport {
    /// What is said if all orders give the same result; `tolerated` says what counts as the same.
    pub fn sentences(&self, tolerated: &str) -> String {
        let Self { orders, complete, preemptions } = self;
        let number = grouped(*orders);
        match (complete, preemptions) {
            (true, None) if *orders == 1 => {
                format!("All orders of blocks and warps are alike, and give this result{tolerated}.")
            }
            (true, None) => {
                format!("All {number} orders of blocks and warps that may differ give this result{tolerated}.")
            }
            (true, Some(most)) => {
                let times = if *most == 1 { "preemption" } else { "preemptions" };
                format!("No difference within {most} {times}, {number} orders{tolerated}.")
            }
            (false, most) => {
                let within = most.map(|most| format!(" within {most} preemptions")).unwrap_or_default();
                format!(
                    "No difference in {number} orders{tolerated}. There are more{within}: --orders says how many run, and \
                     --preemptions how often warps are interrupted."
                )
            }
        }
    }
}

/// A number in groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let group = |(at, digit): (usize, char)| {
        let comma = at > 0 && (digits.len() - at).is_multiple_of(3);
        comma.then_some(',').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_bound_first_and_then_within_two_preemptions() {
        let flags = ExploreFlags { explore: true, orders: 1000, preemptions: None };
        let with = |flags: ExploreFlags, complete: fn(Option<u32>) -> bool| {
            let explore = |Bounds { preemptions, .. }| {
                let orders = if preemptions.is_some() { 700 } else { 1284 };
                Ok::<_, ()>(Explored { orders, complete: complete(preemptions), points: 9, different: None })
            };
            flags.run(explore).unwrap().0.sentences("")
        };
        assert_eq!(with(flags, |_| true), "All 1,284 orders of blocks and warps that may differ give this result.");
        assert_eq!(with(flags, |most| most.is_some()), "No difference within 2 preemptions, 700 orders.");
        let text = with(flags, |_| false);
        assert!(text.starts_with("No difference in 1,984 orders. There are more within 2 preemptions:"), "{text}");
        let one = ExploreFlags { preemptions: Some(1), ..flags };
        assert_eq!(with(one, |_| true), "No difference within 1 preemption, 700 orders.");
        assert_eq!(
            ["7", "1000", "20000", "1234567"].map(|text| grouped(text.parse().unwrap())),
            ["7", "1,000", "20,000", "1,234,567"]
        );
    }
}
