//! What is known of local memory that threads read before anything wrote it, for the sanitizer: see
//! [`written`](crate::machine::written).

use std::collections::HashMap;

use crate::lanes::WideRow;

/// A value of which not all bytes were written, and that a lane has read to store it elsewhere.
pub(crate) struct Incomplete {
    pub lane: usize,
    /// The instructions that have read it, and that are to store it.
    pub read_at: u32,
    pub stored_at: u32,
    pub address: u64,
    pub width: u32,
    /// The bytes that were written, a bit each.
    pub bytes: u16,
}

/// Loads of what nothing had written, of a warp.
#[derive(Default)]
pub(crate) struct UnwrittenLoads {
    /// By their instructions: one for each.
    pub list: Vec<UnwrittenLoad>,
    /// What the load that is being executed has loaded: not yet in `list`.
    pub current: Vec<LoadedBy>,
    /// What the store that is about to be executed leaves in local memory.
    pub storing: Option<Storing>,
    /// Where such values are in local memory: the lane and the address, and the load that is blamed.
    pub stored: HashMap<(usize, u64), u32>,
}

/// A load of what nothing had written.
pub(crate) struct UnwrittenLoad {
    pub place: u32,
    pub width: u32,
    /// The address that each lane has loaded from last.
    pub addresses: Box<WideRow>,
    /// The lanes that have, and those of them that were reported.
    pub lanes: u32,
    pub reported: u32,
}

/// What a lane has loaded, and the elements that nothing wrote.
pub(crate) struct LoadedBy {
    pub lane: usize,
    pub address: u64,
    pub element: u32,
    pub elements: u32,
}

/// What a store to local memory is about to store that nothing wrote.
pub(crate) struct Storing {
    pub place: u32,
    /// For each element, the lanes, and the load to blame.
    pub elements: Vec<(u32, u32)>,
}

impl UnwrittenLoads {
    /// The warp begins a block.
    pub fn clear(&mut self) {
        if self.any() {
            *self = Self::default();
        }
    }

    /// Whether there are any.
    #[inline(always)]
    pub fn any(&self) -> bool {
        !self.list.is_empty()
    }

    /// Whether the load that is being executed is one.
    pub fn has_loaded(&self) -> bool {
        !self.current.is_empty()
    }

    /// What it has loaded, by lane.
    pub fn take_loaded(&mut self) -> Vec<LoadedBy> {
        std::mem::take(&mut self.current)
    }

    /// The load to blame for what a lane has loaded, from here on: this one, or the one that loaded the value before it was
    /// stored there.
    pub fn blamed(&mut self, (place, width): (u32, u32), by: &LoadedBy, element: u32) -> u32 {
        if let Some(&load) = self.stored.get(&(by.lane, by.address + u64::from(element * by.element))) {
            return load;
        }
        let index = self.list.iter().position(|load| load.place == place).unwrap_or_else(|| {
            self.list.push(UnwrittenLoad { place, width, addresses: Box::new([0; 32]), lanes: 0, reported: 0 });
            self.list.len() - 1
        });
        let load = &mut self.list[index];
        if load.addresses[by.lane] != by.address {
            load.reported &= !(1 << by.lane);
        }
        load.lanes |= 1 << by.lane;
        load.addresses[by.lane] = by.address;
        index as u32
    }
}
