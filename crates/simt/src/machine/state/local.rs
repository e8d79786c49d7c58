//! The local memory of a warp's threads: each thread has its own, at the same addresses. A warp
//! owns it; loads, stores and spills access it, and the sanitizer tracks here what was written.
//!
//! It is laid out as on the hardware: the same word of all 32 lanes is contiguous, so a warp that
//! accesses one variable touches consecutive memory.

use crate::address::{Access, AccessFault, AccessFaultKind, AllocationSpan};
use crate::coalesce;
use crate::coalesce::Sectors;
use crate::lanes::{Row, blend, lanes};

/// The local memory of a warp's threads.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct LocalMemory {
    rows: Vec<Row>,
    bytes: u64,
    /// For each word and each of its bytes, the lanes that have written it; empty if this is not
    /// tracked.
    written: Vec<[u32; 4]>,
}

impl LocalMemory {
    /// Resets it to `bytes` zeroed bytes for each thread.
    pub fn reset(&mut self, bytes: u64) {
        self.rows.clear();
        self.written.clear();
        self.bytes = 0;
        self.grow(bytes);
    }

    /// Grows it to at least `bytes` bytes for each thread.
    pub fn grow(&mut self, bytes: u64) {
        self.bytes = self.bytes.max(bytes);
        let rows = self.bytes.div_ceil(4) as usize;
        if self.rows.len() < rows {
            self.rows.resize(rows, [0; 32]);
        }
    }

    /// Why a thread cannot access `width` bytes at `address`.
    pub fn refuses(&self, address: u64, width: u32) -> Option<AccessFaultKind> {
        if !address.is_multiple_of(u64::from(width)) {
            return Some(AccessFaultKind::Misaligned { width });
        }
        let inside = address.checked_add(u64::from(width)).is_some_and(|end| end <= self.bytes);
        let nearest = Some(AllocationSpan { address: 0, bytes: self.bytes });
        (!inside).then_some(AccessFaultKind::OutOfBounds { nearest })
    }

    fn check(&self, access: &Access) -> Result<(), AccessFault> {
        for lane in lanes(access.mask) {
            let address = access.addresses[lane];
            if let Some(kind) = self.refuses(address, access.width) {
                return Err(AccessFault { lane: lane as u32, address, kind });
            }
        }
        Ok(())
    }

    /// Like [`Memory::load`](crate::Memory).
    pub fn load(&self, access: &Access, rows: &mut [Row; 4]) -> Result<(), AccessFault> {
        self.check(access)?;
        for lane in lanes(access.mask) {
            let address = access.addresses[lane] as usize;
            let (first, shift) = (address / 4, address % 4 * 8);
            match access.width {
                1 => rows[0][lane] = self.rows[first][lane] >> shift & 0xff,
                2 => rows[0][lane] = self.rows[first][lane] >> shift & 0xffff,
                width => {
                    let words = &self.rows[first..first + width as usize / 4];
                    for (row, word) in rows.iter_mut().zip(words) {
                        row[lane] = word[lane];
                    }
                }
            }
        }
        Ok(())
    }

    /// Like [`Memory::store`](crate::Memory).
    pub fn store(&mut self, access: &Access, rows: &[Row; 4]) -> Result<(), AccessFault> {
        self.check(access)?;
        for lane in lanes(access.mask) {
            let address = access.addresses[lane] as usize;
            let (first, shift) = (address / 4, address % 4 * 8);
            let mut insert = |ones: u32| {
                let word = &mut self.rows[first][lane];
                *word = *word & !(ones << shift) | (rows[0][lane] & ones) << shift;
            };
            match access.width {
                1 => insert(0xff),
                2 => insert(0xffff),
                width => {
                    let words = &mut self.rows[first..first + width as usize / 4];
                    for (word, row) in words.iter_mut().zip(rows) {
                        word[lane] = row[lane];
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes one word of each active lane, if it exists.
    pub fn set_word(&mut self, address: u64, mask: u32, values: &Row) {
        if let Some(row) = self.rows.get_mut(address as usize / 4) {
            blend(row, mask, values);
        }
    }

    /// Whether a lane has written these bytes.
    pub fn has(&self, lane: usize, address: u64, bytes: u32) -> bool {
        (address..address + u64::from(bytes)).all(|at| {
            let word = self.written.get(at as usize / 4);
            word.is_some_and(|word| word[at as usize % 4] >> lane & 1 == 1)
        })
    }

    /// Marks bytes as written by these lanes. They must exist.
    pub fn mark(&mut self, mask: u32, address: u64, bytes: u32) {
        let end = (address + u64::from(bytes)).div_ceil(4) as usize;
        if self.written.len() < end {
            self.written.resize(end, [0; 4]);
        }
        for at in address..address + u64::from(bytes) {
            self.written[at as usize / 4][at as usize % 4] |= mask;
        }
    }

    /// Marks a lane's byte as not written.
    pub fn forget(&mut self, lane: usize, address: u64) {
        if let Some(word) = self.written.get_mut(address as usize / 4) {
            word[address as usize % 4] &= !(1 << lane);
        }
    }

    /// The sectors that an access touches in the hardware's layout.
    pub fn sectors(&self, access: &Access) -> Sectors {
        let mut total = Sectors::default();
        for word in 0..u64::from(access.width.div_ceil(4)) {
            let part =
                coalesce::sectors(&Access::new(access.mask, &access.backing_addresses(word), access.width.min(4)));
            total.sectors += part.sectors;
            total.bytes += part.bytes;
        }
        total
    }
}
