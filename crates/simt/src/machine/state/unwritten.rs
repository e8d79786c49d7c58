//! What is known of reads of uninitialised local memory, and of shuffles from lanes that do not
//! take part, for the sanitizer. A warp owns this; [`written`](crate::machine::written) and
//! [`inspect`](crate::machine::inspect) fill and read it.

use std::collections::HashMap;

use crate::lanes::{WideRow, lanes};

/// A partly written value that a lane has read to store it elsewhere.
pub(crate) struct Incomplete {
    pub lane: usize,
    /// The instructions that read it, and that will store it.
    pub read_at: u32,
    pub stored_at: u32,
    pub address: u64,
    pub width: u32,
    /// The written bytes, one bit each.
    pub bytes: u16,
}

/// A warp's loads of uninitialised memory, and its shuffles of undefined values.
#[derive(Default)]
pub(crate) struct UnwrittenLoads {
    /// One for each instruction.
    pub list: Vec<UnwrittenLoad>,
    /// What the current load has loaded; not in `list` yet.
    pub current: Vec<LoadedBy>,
    /// What the next store leaves unwritten in local memory.
    pub storing: Option<Storing>,
    /// Where such values were stored to local memory: lane and address, and the load to blame.
    pub stored: HashMap<(usize, u64), u32>,
}

/// A load of uninitialised memory, or a shuffle from lanes that do not take part.
pub(crate) struct UnwrittenLoad {
    pub place: u32,
    /// Bytes that each lane loads; `None` for a shuffle.
    pub width: Option<u32>,
    /// The last address that each lane loaded from; for a shuffle, the lane.
    pub addresses: Box<WideRow>,
    /// The lanes that got such a value, and those of them that were reported.
    pub lanes: u32,
    pub reported: u32,
}

/// What a lane has loaded, and which elements were not written.
pub(crate) struct LoadedBy {
    pub lane: usize,
    pub address: u64,
    pub element: u32,
    pub elements: u32,
}

/// The unwritten values that a store is about to store to local memory.
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

    /// Whether there are any such loads.
    #[inline(always)]
    pub fn any(&self) -> bool {
        !self.list.is_empty()
    }

    /// Whether the current load is one.
    pub fn has_loaded(&self) -> bool {
        !self.current.is_empty()
    }

    /// Takes what the current load has loaded, by lane.
    pub fn take_loaded(&mut self) -> Vec<LoadedBy> {
        std::mem::take(&mut self.current)
    }

    /// The load to blame for a loaded element: this one, or the one that loaded the value before it
    /// was stored there.
    pub fn blamed(&mut self, (place, width): (u32, u32), by: &LoadedBy, element: u32) -> u32 {
        if let Some(&load) = self.stored.get(&(by.lane, by.address + u64::from(element * by.element))) {
            return load;
        }
        let index = self.at(place, Some(width));
        self.list[index].got(by.lane, by.address);
        index as u32
    }

    /// The shuffle to blame for the values that some lanes get from lanes that do not take part.
    pub fn shuffled(&mut self, place: u32, mask: u32, source: impl Fn(usize) -> u32) -> u32 {
        let index = self.at(place, None);
        lanes(mask).for_each(|lane| self.list[index].got(lane, source(lane).into()));
        index as u32
    }

    /// The index of an instruction in the list, which it joins unless it is there.
    fn at(&mut self, place: u32, width: Option<u32>) -> usize {
        self.list.iter().position(|load| load.place == place).unwrap_or_else(|| {
            self.list.push(UnwrittenLoad { place, width, addresses: Box::new([0; 32]), lanes: 0, reported: 0 });
            self.list.len() - 1
        })
    }
}

impl UnwrittenLoad {
    /// A lane has got an undefined value from this address.
    fn got(&mut self, lane: usize, address: u64) {
        if self.addresses[lane] != address {
            self.reported &= !(1 << lane);
        }
        self.lanes |= 1 << lane;
        self.addresses[lane] = address;
    }
}
