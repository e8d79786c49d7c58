//! Loads of a warp (`ld`).

use ptx::Space;

use crate::address::{Access, AccessFault};
use crate::lanes::{Registers, Row, WideRow, lanes};
use crate::machine::access::{Shaped, check_parameter, distributed_shared};
use crate::machine::inspect;
use crate::machine::observe::Stored;
use crate::machine::state::{RunningBlock, Split, Warp, Worker};
use crate::machine::transfer::Transfer;
use crate::memory::Memory;
use crate::program::{AddressOperand, Code, Load, MemoryOperation};
use crate::site::AccessAction;

impl Transfer for Load {
    const ACTION: AccessAction = AccessAction::Read;

    #[inline(always)]
    fn operands(&self) -> (&MemoryOperation, &AddressOperand, Stored<'_>) {
        (&self.operation, &self.reach, Stored::Unknown)
    }

    #[inline(always)]
    fn is_word(&self) -> bool {
        self.operation.element == 4 && self.count == 1 && !self.wide
    }

    #[inline(always)]
    fn begin(&self, _: &Registers<'_>, _: &mut [Row; 4]) {}

    #[inline(always)]
    fn end(&self, registers: &mut Registers<'_>, rows: &[Row; 4], mask: u32) {
        for element in 0..self.count as usize & 7 {
            let d = self.rows[element & 3];
            match self.operation.element {
                4 if !self.wide => registers.set_word(d, mask, &rows[element & 3]),
                8 => {
                    let (low, high) = (&rows[(2 * element) & 3], &rows[(2 * element + 1) & 3]);
                    let mut values: WideRow = [0; 32];
                    for lane in 0..32 {
                        values[lane] = u64::from(high[lane]) << 32 | u64::from(low[lane]);
                    }
                    registers.set_wide(d, mask, &values);
                }
                _ => extract(registers, self, rows, element, mask),
            }
        }
    }

    /// Refused lanes get zeros.
    #[cold]
    fn refused(&self, code: &Code, warp: &mut Warp, split: &Split, lanes: u32) {
        if warp.unwritten.has_loaded() {
            inspect::loaded(code, warp, split, (self.operation.place, self.operation.width));
        }
        if lanes == 0 {
            return;
        }
        for &d in &self.rows[..self.count as usize & 7] {
            match self.wide {
                true => warp.registers.set_wide(d, lanes, &[0; 32]),
                false => warp.registers.set_word(d, lanes, &[0; 32]),
            }
        }
    }

    #[inline(always)]
    fn at_once(
        &self,
        memory: &Memory,
        block: &RunningBlock,
        found: Shaped,
        registers: &mut Registers<'_>,
        rows: &mut [Row; 4],
    ) -> bool {
        let rows = match self.is_word() {
            true => std::slice::from_mut(registers.word_mut(self.rows[0])),
            false => rows,
        };
        match found.space {
            Space::Shared => block.shared.load(found.shape, found.lowest, rows),
            _ => memory.load(found.shape, found.lowest, rows),
        }
    }

    fn by_lane(worker: &mut Worker, warp: &mut Warp, space: Space, access: &Access) -> Result<(), AccessFault> {
        let mut rows = worker.rows;
        let done = match space {
            Space::Local => warp.local.load(access, &mut rows),
            Space::Parameter => load_parameter(&worker.launched.parameters, access, &mut rows),
            Space::Shared => worker.block.shared.load_each(access, &mut rows),
            Space::ClusterShared => distributed_shared(worker, access)?.load_each(access, &mut rows),
            _ => worker.launched.memory.load_each(access, &mut rows),
        };
        worker.rows = rows;
        done
    }
}

/// Extracts a narrow element from the loaded words, and extends it.
fn extract(registers: &mut Registers<'_>, load: &Load, rows: &[Row; 4], element: usize, mask: u32) {
    let bits = load.operation.element * 8;
    let at = element as u32 * bits;
    let (row, shift) = (&rows[(at / 32) as usize & 3], at % 32);
    let mut values: WideRow = [0; 32];
    for lane in 0..32 {
        let moved = u64::from(row[lane] >> shift) << (64 - bits);
        values[lane] = if load.signed { (moved as i64 >> (64 - bits)) as u64 } else { moved >> (64 - bits) };
    }
    let d = load.rows[element & 3];
    if load.wide {
        registers.set_wide(d, mask, &values);
    } else {
        registers.set_word(d, mask, &values.map(|value| value as u32));
    }
}

/// Reads the kernel's parameters at computed addresses.
pub(super) fn load_parameter(parameters: &[u8], access: &Access, rows: &mut [Row; 4]) -> Result<(), AccessFault> {
    for lane in lanes(access.mask) {
        let address = access.addresses[lane];
        if let Some(kind) = check_parameter(address, access.width, parameters.len() as u64) {
            return Err(AccessFault { lane: lane as u32, address, kind });
        }
        let bytes = &parameters[address as usize..][..access.width as usize];
        for (row, word) in rows.iter_mut().zip(bytes.chunks(4)) {
            row[lane] = word.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte));
        }
    }
    Ok(())
}
