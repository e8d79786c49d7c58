//! The lists of the lab, and what its kernels are to compute. Pure.

use common::random::Random;
use kernels::spill::ECHO;

use crate::labs::inputs::HostMatrix;

/// Lists, one in each column of a matrix.
pub(super) struct Lists {
    /// The steps from the first element of each to its last, which the first follows.
    pub steps: usize,
    /// For each element of the matrix the index of the next one of its column.
    pub next: Vec<u32>,
    /// The index of the last element of each list.
    pub ends: Vec<u32>,
}

/// Lists that have one order: those of a warp, whose loads are then coalesced.
const TOGETHER: usize = 32;

impl Lists {
    /// `lists` lists of `steps` steps, in random orders.
    pub fn new(lists: usize, steps: usize, random: &mut Random) -> Self {
        let mut next = vec![0; lists * (steps + 1)];
        let mut ends = vec![0; lists];
        let mut order: Vec<usize> = (0..=steps).collect();
        for first in (0..lists).step_by(TOGETHER) {
            // The first row stays: lists begin there.
            for row in (2..=steps).rev() {
                order.swap(row, 1 + (random.next_u64() % row as u64) as usize);
            }
            let of_warp = first..lists.min(first + TOGETHER);
            for place in 0..=steps {
                let (from, to) = (order[place] * lists, order[(place + 1) % (steps + 1)] * lists);
                of_warp.clone().for_each(|list| next[from + list] = (to + list) as u32);
            }
            of_warp.for_each(|list| ends[list] = (order[steps] * lists + list) as u32);
        }
        Self { steps, next, ends }
    }
}

/// The largest absolute value of each column, if each element has a part of what was `ring` rows
/// before it added.
pub(super) fn peaks(samples: &HostMatrix, ring: usize) -> Vec<f32> {
    let mut echoes = vec![vec![0.0; samples.columns]; ring.min(samples.rows)];
    let mut peaks = vec![0.0_f32; samples.columns];
    for row in 0..samples.rows {
        let places = echoes[row % ring].iter_mut().zip(&mut peaks).zip(samples.row(row));
        for ((echo, peak), sample) in places {
            *echo = sample + ECHO * *echo;
            *peak = peak.max(echo.abs());
        }
    }
    peaks
}

#[cfg(test)]
mod tests {
    use super::{HostMatrix, Lists, Random, peaks};

    /// A list comes through its whole column, and back to its first element.
    #[test]
    fn a_list_has_every_element_of_its_column_once() {
        for (lists, steps) in [(1, 1), (33, 7), (64, 2)] {
            let made = Lists::new(lists, steps, &mut Random::new(5));
            for list in 0..lists {
                let (mut at, mut seen) = (list, vec![false; steps + 1]);
                for step in 0..=steps {
                    assert!(at % lists == list && !std::mem::replace(&mut seen[at / lists], true));
                    assert_eq!(step == steps, at == made.ends[list] as usize);
                    at = made.next[at] as usize;
                }
                assert_eq!(at, list);
            }
        }
    }

    #[test]
    fn an_echo_comes_after_as_many_samples_as_the_ring_has() {
        let samples = HostMatrix { rows: 4, columns: 2, elements: vec![8.0, -1.0, 0.0, 0.0, 5.0, 3.0, 0.0, 0.0] };
        assert_eq!(peaks(&samples, 2), [9.0, 3.0 - 0.5]);
        assert_eq!(peaks(&samples, 16), [8.0, 3.0]);
    }
}
