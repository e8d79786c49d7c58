//! Removes switches from an order while its result still differs: delta debugging (Zeller and
//! Hildebrandt, IEEE TSE 2002). It knows nothing of launches.

use crate::switches::Switch;

/// The most orders that are tried.
const MOST_TRIED: u32 = 1 << 11;

/// Fewer of these switches, of which none can be left out any more. `differing` runs in an order,
/// and returns the switches that happened, if its result still differs.
pub(super) fn fewest(
    switches: Vec<Switch>,
    differing: &mut dyn FnMut(&[Switch]) -> Option<Vec<Switch>>,
) -> Vec<Switch> {
    let mut left = switches;
    let mut tried = 0;
    let mut part = left.len();
    while part > 0 {
        let (mut first, mut fewer) = (0, false);
        while first < left.len() && tried < MOST_TRIED {
            let end = (first + part).min(left.len());
            let without: Vec<Switch> = left[..first].iter().chain(&left[end..]).copied().collect();
            tried += 1;
            match differing(&without) {
                Some(happened) if happened.len() < left.len() => (left, fewer) = (happened, true),
                _ => first = end,
            }
        }
        // With one at a time until all are needed.
        part = if part == 1 && fewer && tried < MOST_TRIED { 1 } else { part / 2 };
        part = part.min(left.len());
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switches::SplitId;

    fn numbered(access: u32) -> Switch {
        let id = SplitId { block: 0, warp: 0, lane: 0 };
        Switch { split: id, access, to: id }
    }

    #[test]
    fn what_matters_stays() {
        for needed in [vec![], vec![7], vec![0, 63], vec![3, 4, 40]] {
            let needed: Vec<Switch> = needed.into_iter().map(numbered).collect();
            let all = (0..64).map(numbered).collect();
            let mut runs = 0;
            let found = fewest(all, &mut |switches| {
                runs += 1;
                needed.iter().all(|switch| switches.contains(switch)).then(|| switches.to_vec())
            });
            assert_eq!(found, needed);
            assert!(runs < 200, "{runs} runs");
        }
    }

    #[test]
    fn switches_that_no_longer_happen_are_gone_at_once() {
        let all = (0..32).map(numbered).collect();
        // The odd ones happen only after the even ones before them.
        let found = fewest(all, &mut |switches| {
            let happens =
                |switch: &&Switch| switch.access.is_multiple_of(2) || switches.contains(&numbered(switch.access - 1));
            let happened: Vec<Switch> = switches.iter().filter(happens).copied().collect();
            happened.contains(&numbered(9)).then_some(happened)
        });
        assert_eq!(found, [numbered(8), numbered(9)]);
    }
}
