//! Collects what the threads of a launch print with `vprintf`, which every `printf` of a kernel
//! calls. Blocks print to a [`BlockOutput`], workers pass these to the launch, and the host takes
//! the text from an [`Output`].
//!
//! A GPU collects the output of all blocks in a buffer of a fixed size, in no particular order, and
//! the driver prints it when the host synchronises. Here a launch's output is in the order of its
//! blocks, and within a block in the order of its warps' turns, lane by lane: the same on any
//! number of host threads.
//!
//! The buffer holds 1 MiB, as on a GPU. Here the start is kept and the rest is dropped; a GPU
//! overwrites the first bytes with the last.

pub(crate) mod format;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The bytes that an [`Output`] keeps by default: the size of a GPU's buffer (CUDA programming
/// guide, "Formatted Output").
pub const DEFAULT_OUTPUT_LIMIT: usize = 1 << 20;

/// Receives what the threads of launches print.
///
/// It keeps the first bytes, up to a limit, and counts the rest. After a trap, it has what the
/// blocks up to the faulting one printed.
#[derive(Debug)]
pub struct Output {
    limit: usize,
    printed: Mutex<Printed>,
}

/// What was printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The bytes that were kept.
    pub bytes: Vec<u8>,
    /// How many bytes beyond the limit were dropped.
    pub lost: u64,
}

impl Printed {
    /// The bytes as text. Invalid UTF-8 is replaced by U+FFFD.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    fn push(&mut self, bytes: &[u8], limit: usize) {
        let room = limit.saturating_sub(self.bytes.len()).min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..room]);
        self.lost += (bytes.len() - room) as u64;
    }
}

impl Output {
    /// Keeps up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit, printed: Mutex::default() }
    }

    /// What was printed since the last call.
    pub fn take(&self) -> Printed {
        std::mem::take(&mut *self.printed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds what was printed elsewhere.
    pub(crate) fn add(&self, printed: &Printed) {
        let mut all = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(&printed.bytes, self.limit);
        all.lost += printed.lost;
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }
}

impl Default for Output {
    fn default() -> Self {
        Self::new(DEFAULT_OUTPUT_LIMIT)
    }
}

/// What one block prints while it runs.
#[derive(Debug, Default)]
pub(crate) struct BlockOutput(Printed);

impl BlockOutput {
    /// Adds what a thread prints.
    pub fn print(&mut self, bytes: &[u8], limit: usize) {
        self.0.push(bytes, limit);
    }

    fn is_empty(&self) -> bool {
        self.0.bytes.is_empty() && self.0.lost == 0
    }
}

/// What the blocks of a launch have printed, in any order of completion.
#[derive(Debug, Default)]
pub(crate) struct LaunchOutput {
    blocks: Mutex<PrintedByBlock>,
}

#[derive(Debug, Default)]
struct PrintedByBlock {
    by_index: BTreeMap<u64, Printed>,
    bytes: usize,
}

impl LaunchOutput {
    /// Takes the output of a block that has ended. Keeps at most `limit` bytes: those of the lowest
    /// blocks.
    pub fn add(&self, block: u64, output: &mut BlockOutput, limit: usize) {
        if output.is_empty() {
            return;
        }
        let printed = std::mem::take(&mut output.0);
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.bytes += printed.bytes.len();
        blocks.by_index.insert(block, printed);
        let mut beyond = blocks.bytes.saturating_sub(limit);
        blocks.bytes -= beyond;
        for printed in blocks.by_index.values_mut().rev() {
            let cut = beyond.min(printed.bytes.len());
            printed.bytes.truncate(printed.bytes.len() - cut);
            printed.lost += cut as u64;
            beyond -= cut;
            if beyond == 0 {
                break;
            }
        }
    }

    /// Passes on what the blocks up to `last` printed.
    pub fn finish(self, last: u64, output: &Output) {
        let blocks = self.blocks.into_inner().unwrap_or_else(PoisonError::into_inner);
        blocks.by_index.range(..=last).for_each(|(_, printed)| output.add(printed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_in_the_order_of_blocks_and_the_first_bytes_are_kept() {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let launch = LaunchOutput::default();
            for block in order {
                let mut output = BlockOutput::default();
                output.print(format!("block {block}\n").as_bytes(), 10);
                launch.add(block, &mut output, 10);
            }
            let output = Output::new(10);
            launch.finish(u64::MAX, &output);
            let printed = output.take();
            assert_eq!((printed.text().as_str(), printed.lost), ("block 0\nbl", 14), "{order:?}");
            assert_eq!(output.take(), Printed::default());
        }
    }

    #[test]
    fn blocks_above_one_that_faulted_are_left_out() {
        let launch = LaunchOutput::default();
        for block in 0..4 {
            let mut output = BlockOutput::default();
            output.print(&[b'0' + block as u8], 100);
            launch.add(block, &mut output, 100);
        }
        let output = Output::default();
        launch.finish(2, &output);
        assert_eq!(output.take().text(), "012");
    }
}
