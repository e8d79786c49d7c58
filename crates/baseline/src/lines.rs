//! Which line of one run is which line of another. A changed file moves the lines below a change,
//! so numbers say little: lines stay in order, and are paired so that the counters of all pairs
//! differ least.

use std::collections::BTreeSet;

use crate::file::Counters;

/// A line of the run before, one of the run after, or both.
pub type Pair = (Option<usize>, Option<usize>);

/// Beyond this many pairs to choose from, lines are paired in their order.
const MOST: usize = 1 << 20;

/// The pairs, in order.
pub fn pairs(before: &[(String, Counters)], after: &[(String, Counters)]) -> Vec<Pair> {
    let [before, after] = weighted([before, after]);
    let same = |(one, other): &(&Vec<f64>, &Vec<f64>)| one == other;
    let start = before.iter().zip(&after).take_while(same).count();
    let (one, other) = (&before[start..], &after[start..]);
    let end = one.iter().rev().zip(other.iter().rev()).take_while(same).count();
    let (one, other) = (&one[..one.len() - end], &other[..other.len() - end]);
    let both = |(i, j): (usize, usize)| (Some(i), Some(j));
    let mut all: Vec<Pair> = (0..start).zip(0..start).map(both).collect();
    all.extend(middle(one, other).into_iter().map(|(i, j)| (i.map(|i| i + start), j.map(|j| j + start))));
    all.extend((before.len() - end..before.len()).zip(after.len() - end..).map(both));
    all
}

/// The counters of each line in one order, as parts of the larger sum, so that bytes count no more
/// than requests.
fn weighted(sides: [&[(String, Counters)]; 2]) -> [Vec<Vec<f64>>; 2] {
    let counters = || sides.into_iter().flatten().map(|(_, counters)| counters);
    let names: BTreeSet<&String> = counters().flat_map(Counters::keys).collect();
    let sum =
        |name: &String, side: &[(String, Counters)]| side.iter().filter_map(|(_, all)| all.get(name)).sum::<f64>();
    let scales: Vec<(&String, f64)> = names
        .into_iter()
        .map(|name| (name, sides.map(|side| sum(name, side)).into_iter().fold(1e-9, f64::max)))
        .collect();
    sides.map(|side| {
        let line = |(_, all): &(String, Counters)| {
            scales.iter().map(|(name, scale)| all.get(*name).copied().unwrap_or(0.0) / scale).collect()
        };
        side.iter().map(line).collect()
    })
}

#[derive(Clone, Copy)]
enum Step {
    Both,
    Before,
    After,
}

/// The cheapest pairs, as in a comparison of texts: a line without a partner costs all that it
/// counts.
fn middle(before: &[Vec<f64>], after: &[Vec<f64>]) -> Vec<Pair> {
    let (rows, columns) = (before.len(), after.len());
    if rows.saturating_mul(columns) > MOST {
        let of = |count: usize, index: usize| (index < count).then_some(index);
        return (0..rows.max(columns)).map(|index| (of(rows, index), of(columns, index))).collect();
    }
    let alone = |line: &Vec<f64>| line.iter().sum::<f64>();
    let apart =
        |one: &Vec<f64>, other: &Vec<f64>| one.iter().zip(other).map(|(one, other)| (one - other).abs()).sum::<f64>();
    let mut steps = vec![Step::After; (rows + 1) * (columns + 1)];
    let mut costs: Vec<f64> = vec![0.0];
    for line in after {
        costs.push(costs[costs.len() - 1] + alone(line));
    }
    for (i, one) in before.iter().enumerate() {
        let mut next = vec![costs[0] + alone(one)];
        steps[(i + 1) * (columns + 1)] = Step::Before;
        for (j, other) in after.iter().enumerate() {
            let both = costs[j] + apart(one, other);
            let (without, step) = match (costs[j + 1] + alone(one), next[j] + alone(other)) {
                (gone, new) if gone < new => (gone, Step::Before),
                (_, new) => (new, Step::After),
            };
            next.push(without.min(both));
            steps[(i + 1) * (columns + 1) + j + 1] = if both <= without { Step::Both } else { step };
        }
        costs = next;
    }
    let (mut i, mut j) = (rows, columns);
    let mut all = Vec::new();
    while (i, j) != (0, 0) {
        all.push(match steps[i * (columns + 1) + j] {
            Step::Both => {
                (i, j) = (i - 1, j - 1);
                (Some(i), Some(j))
            }
            Step::Before => {
                i -= 1;
                (Some(i), None)
            }
            Step::After => {
                j -= 1;
                (None, Some(j))
            }
        });
    }
    all.reverse();
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::file::tests::counters;

    fn lines(all: &[(u32, u32)]) -> Vec<(String, Counters)> {
        let line = |(index, &(instructions, sectors)): (usize, &(u32, u32))| {
            let all = [("instructions", f64::from(instructions)), ("loads.sectors", f64::from(sectors))];
            (format!("a.cu:{index}"), counters(&all))
        };
        all.iter().enumerate().map(line).collect()
    }

    #[test]
    fn a_new_line_moves_the_others() {
        let before = lines(&[(4, 0), (4, 16), (8, 0), (2, 0)]);
        let after = lines(&[(4, 0), (1, 0), (4, 128), (8, 0), (2, 0)]);
        let expected =
            [(Some(0), Some(0)), (None, Some(1)), (Some(1), Some(2)), (Some(2), Some(3)), (Some(3), Some(4))];
        assert_eq!(pairs(&before, &after), expected);
        let back = expected.map(|(one, other)| (other, one));
        assert_eq!(pairs(&after, &before), back);
    }

    #[test]
    fn long_lists_are_paired_in_their_order() {
        let long = |first: u32| lines(&(0..1500).map(|index| (first + index, 0)).collect::<Vec<_>>());
        let all = pairs(&long(1), &long(5000));
        assert!(all.len() == 1500 && all.iter().all(|(one, other)| one == other));
    }

    proptest! {
        #[test]
        fn each_line_is_in_one_pair(
            before in prop::collection::vec((0u32..4, 0u32..4), 0..9),
            after in prop::collection::vec((0u32..4, 0u32..4), 0..9),
        ) {
            let all = pairs(&lines(&before), &lines(&after));
            let of = |side: fn(&Pair) -> Option<usize>| all.iter().filter_map(side).collect::<Vec<_>>();
            prop_assert_eq!(of(|pair| pair.0), (0..before.len()).collect::<Vec<_>>());
            prop_assert_eq!(of(|pair| pair.1), (0..after.len()).collect::<Vec<_>>());
            prop_assert!(all.iter().all(|pair| *pair != (None, None)));
            let same = pairs(&lines(&before), &lines(&before));
            prop_assert!(same.iter().all(|(one, other)| one == other));
        }
    }
}
