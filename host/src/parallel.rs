//! Divides work among all cores. Results come in the order of the parts, so they do not depend on the number of threads.
//! Random data, comparisons and references use it. The parts share no mutable state.

use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, ScopedJoinHandle, available_parallelism};

use bytemuck::Pod;

/// Runs `each` on every part, on up to as many threads as there are cores; returns the results in the parts' order.
pub(crate) fn for_each<P: Sync, T: Send>(parts: &[P], each: impl Fn(&P) -> T + Sync) -> Vec<T> {
    let each = &each;
    std::thread::scope(|scope| {
        let workers: Vec<_> = parts
            .iter()
            .map(|part| match Builder::new().spawn_scoped(scope, move || each(part)) {
                Ok(worker) => Worker::Thread(worker),
                // The system starts no more threads: do it on this one.
                Err(_) => Worker::Done(each(part)),
            })
            .collect();
        workers.into_iter().map(Worker::result).collect()
    })
}

/// Fills `data` in parts: `fill` is called with each part and the index of its first element.
pub(crate) fn fill<T: Send>(data: &mut [T], fill: impl Fn(usize, &mut [T]) + Sync) {
    let parts = ranges(data.len(), 1);
    let mut rest = data;
    let mut parts_of_data = Vec::with_capacity(parts.len());
    for range in parts {
        let (part, behind) = rest.split_at_mut(range.len());
        // Each part is locked once, by the thread that fills it.
        parts_of_data.push((range.start, Mutex::new(part)));
        rest = behind;
    }
    for_each(&parts_of_data, |(first, part)| {
        fill(*first, &mut part.lock().unwrap_or_else(PoisonError::into_inner));
    });
}

/// Zeros in memory whose pages are already mapped. The system maps a page when it is first touched; on one core that takes longer
/// than a GPU takes to fill the page.
pub(crate) fn zeros<T: Pod>(length: usize) -> Vec<T> {
    let mut data = vec![T::zeroed(); length];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut data);
    if bytes.len() >= LARGE {
        fill(bytes, |_, part| part.iter_mut().step_by(PAGE).for_each(|byte| *byte = 0));
    }
    data
}

/// The size in bytes from which a thread per core pays off.
const LARGE: usize = 1 << 24;

/// The smallest page size in use, in bytes.
const PAGE: usize = 4096;

/// Divides `length` into ranges for the machine's cores. Their lengths, except the last, are multiples of `unit`.
pub(crate) fn ranges(length: usize, unit: usize) -> Vec<std::ops::Range<usize>> {
    let threads = available_parallelism().map_or(1, usize::from);
    let part = length.div_ceil(threads).next_multiple_of(unit.max(1)).max(1);
    (0..length).step_by(part).map(|first| first..(first + part).min(length)).collect()
}

/// A result, or the thread that computes it.
enum Worker<'scope, T> {
    Thread(ScopedJoinHandle<'scope, T>),
    Done(T),
}

impl<T> Worker<'_, T> {
    fn result(self) -> T {
        match self {
            Self::Thread(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Self::Done(result) => result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_parts_order() {
        let parts: Vec<usize> = (0..100).collect();
        assert_eq!(for_each(&parts, |part| part * part), parts.iter().map(|part| part * part).collect::<Vec<_>>());
    }

    #[test]
    fn every_element_is_filled() {
        for length in [0, 1, 1000] {
            let mut data = vec![0; length];
            fill(&mut data, |first, part| (first..).zip(part).for_each(|(index, element)| *element = index));
            assert_eq!(data, (0..length).collect::<Vec<_>>());
        }
        let zeros: Vec<u32> = zeros(LARGE);
        assert!(zeros.len() == LARGE && zeros.iter().all(|&element| element == 0));
    }

    #[test]
    fn ranges_cover_everything_once() {
        for (length, unit) in [(0, 1), (1, 64), (1000, 1), (1000, 64), (64, 64)] {
            let ranges = ranges(length, unit);
            assert_eq!(ranges.iter().cloned().flatten().collect::<Vec<_>>(), (0..length).collect::<Vec<_>>());
            assert!(ranges.iter().all(|range| range.start.is_multiple_of(unit)));
        }
    }
}
