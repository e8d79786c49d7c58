//! What each thread does, and what its output should be.

use device::POISON;
use kernels::access::{self as kernel, Pattern};

use super::Access;
use super::table::{Options, Side};

/// What each thread does.
#[derive(Clone, Copy)]
pub(super) enum Task {
    /// Loads the pattern's element.
    Load(Pattern),
    /// Stores to the pattern's element.
    Store(Pattern),
    /// Loads `a[scale * i + shift]` and `a[i]`.
    Difference { scale: u32, shift: u32 },
}

impl Task {
    /// The last element that it touches, for this many threads.
    pub(super) fn last(self, threads: u32) -> u64 {
        match self {
            Self::Load(pattern) | Self::Store(pattern) => {
                let i = match pattern.scatter_bits {
                    0 => threads.next_multiple_of(32) - 1,
                    bits => (1 << bits) - 1,
                };
                u64::from(i) * u64::from(pattern.stride) + u64::from(pattern.offset)
            }
            Self::Difference { scale, shift } => u64::from(threads) * u64::from(scale) + u64::from(shift),
        }
    }
}

/// The tasks that the flags request, by name.
pub(super) fn tasks(options: &Options, threads: u32, is_gpu: bool) -> Vec<(String, Task)> {
    let (all, aligned) = (options.all, Pattern::ALIGNED);
    let scatter_bits = threads.max(32).next_power_of_two().ilog2();
    let strides = match (options.stride.as_slice(), all) {
        ([], true) => &[2, 3, 8, 16, 32],
        ([], false) => &[2, 8][..],
        (strides, _) => strides,
    };
    let strides = strides.iter().map(|&stride| (format!("stride {stride}"), Pattern { stride, ..aligned }, false));
    let named = |name: &str, pattern, extra| (name.to_owned(), pattern, extra);
    let patterns = [
        named("aligned", aligned, false),
        named("permuted", Pattern { exchange: 5, ..aligned }, false),
        named("misaligned", Pattern { offset: 1, ..aligned }, false),
        named("one word", Pattern { stride: 0, ..aligned }, is_gpu),
    ];
    // Each thread in a cache line of its own; and anywhere.
    let scattered = [
        named("scattered", Pattern { stride: 32, scatter_bits, ..aligned }, false),
        named("random", Pattern { scatter_bits, ..aligned }, true),
    ];
    let patterns = patterns.into_iter().chain(strides).chain(scattered).filter(|(.., extra)| all || !extra);
    let patterns: Vec<_> = patterns.collect();
    let mut tasks = Vec::new();
    for side in options.sides.chosen() {
        let of_side = |(name, pattern, _): &(String, Pattern, bool)| match side.of {
            Side::Loads => (format!("load {name}"), Task::Load(*pattern)),
            Side::Stores => (format!("store {name}"), Task::Store(*pattern)),
        };
        tasks.extend(patterns.iter().map(of_side));
        if all && side.of == Side::Loads {
            tasks.push(("load a[i+1]-a[i]".to_owned(), Task::Difference { scale: 1, shift: 1 }));
            tasks.push(("load a[64i]-a[i]".to_owned(), Task::Difference { scale: 64, shift: 0 }));
        }
    }
    tasks
}

impl Access {
    /// The elements of a task's output.
    pub(super) fn written(&self, task: Task) -> usize {
        match task {
            Task::Store(_) => self.stored,
            _ => self.threads as usize,
        }
    }

    /// The expected output: poison where nothing is written.
    pub(super) fn expected(&self, task: Task) -> Vec<u32> {
        let mut output = vec![u32::from_le_bytes([POISON; 4]); self.written(task)];
        for i in 0..self.threads {
            match task {
                Task::Load(pattern) => output[i as usize] = self.elements[pattern.element(i) as usize],
                Task::Store(pattern) => {
                    let element = pattern.element(i);
                    output[element as usize] = kernel::value_at(element, self.seed);
                }
                Task::Difference { scale, shift } => {
                    let other = self.elements[(scale * i + shift) as usize];
                    output[i as usize] = other.wrapping_sub(self.elements[i as usize]);
                }
            }
        }
        output
    }
}
