//! Stores of a warp (`st`).

use ptx::Space;

use crate::address::{Access, AccessFault, AccessFaultKind, AllocationSpan};
use crate::lanes::{Registers, Row};
use crate::machine::access::{Shaped, distributed_shared};
use crate::machine::observe::Stored;
use crate::machine::state::{RunningBlock, Split, Warp, Worker};
use crate::machine::transfer::Transfer;
use crate::memory::Memory;
use crate::program::{AddressOperand, Code, MemoryOperation, Store};
use crate::site::AccessAction;

impl Transfer for Store {
    const ACTION: AccessAction = AccessAction::Write;

    #[inline(always)]
    fn operands(&self) -> (&MemoryOperation, &AddressOperand, Stored<'_>) {
        (&self.operation, &self.reach, Stored::Registers(&self.rows[..self.count as usize & 7]))
    }

    #[inline(always)]
    fn is_word(&self) -> bool {
        self.operation.element == 4 && self.count == 1
    }

    #[inline(always)]
    fn begin(&self, registers: &Registers<'_>, rows: &mut [Row; 4]) {
        collect(registers, self, rows);
    }

    #[inline(always)]
    fn end(&self, _: &mut Registers<'_>, _: &[Row; 4], _: u32) {}

    #[inline(always)]
    fn refused(&self, _: &Code, _: &mut Warp, _: &Split, _: u32) {}

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
            true => std::slice::from_ref(registers.word(self.rows[0])),
            false => rows,
        };
        match found.space {
            Space::Shared => block.shared.store(found.shape, found.lowest, rows),
            _ => memory.store(found.shape, found.lowest, rows),
        }
    }

    fn by_lane(worker: &mut Worker, warp: &mut Warp, space: Space, access: &Access) -> Result<(), AccessFault> {
        let rows = &worker.rows;
        match space {
            Space::Local => warp.local.store(access, rows),
            Space::Parameter => Err(read_only_parameters(access, worker.launched.parameters.len())),
            Space::Shared => worker.block.shared.store_each(access, rows),
            Space::ClusterShared => distributed_shared(worker, access)?.store_each(access, rows),
            _ => worker.launched.memory.store_each(access, rows),
        }
    }
}

/// Collects the stored values in rows of words.
#[inline(always)]
pub(super) fn collect(registers: &Registers<'_>, store: &Store, rows: &mut [Row; 4]) {
    for element in 0..store.count as usize & 7 {
        let source = store.rows[element & 3];
        match store.operation.element {
            8 => {
                let values = registers.wide(source);
                for lane in 0..32 {
                    rows[(2 * element) & 3][lane] = values[lane] as u32;
                    rows[(2 * element + 1) & 3][lane] = (values[lane] >> 32) as u32;
                }
            }
            4 => rows[element & 3] = *registers.word(source),
            _ => insert(registers, store, rows, element),
        }
    }
}

/// Inserts a narrow element into the stored words.
fn insert(registers: &Registers<'_>, store: &Store, rows: &mut [Row; 4], element: usize) {
    let bits = store.operation.element * 8;
    let at = element as u32 * bits;
    let values = registers.word(store.rows[element & 3]);
    let row = &mut rows[(at / 32) as usize & 3];
    let ones = u32::MAX >> (32 - bits) << (at % 32);
    for lane in 0..32 {
        row[lane] = row[lane] & !ones | values[lane] << (at % 32) & ones;
    }
}

fn read_only_parameters(access: &Access, bytes: usize) -> AccessFault {
    let lane = access.mask.trailing_zeros() & 31;
    let allocation = AllocationSpan { address: 0, bytes: bytes as u64 };
    AccessFault { lane, address: access.addresses[lane as usize], kind: AccessFaultKind::ReadOnly { allocation } }
}
