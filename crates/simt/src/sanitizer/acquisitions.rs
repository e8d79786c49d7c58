//! The fences that acquired tensor maps: plain data that the race detector holds, and that
//! [`maps`](crate::sanitizer::asynchronous::maps) reads and changes.

use std::collections::BTreeMap;

/// The running cluster's fences that acquired tensor maps, by the map's address.
#[derive(Default)]
pub(super) struct MapAcquisitions(pub BTreeMap<u64, Acquisitions>);

#[derive(Default)]
pub(super) struct Acquisitions {
    /// What the acquisitions that are no longer listed knew: the latest time in each column of the
    /// clocks. Empty while all are listed.
    pub met: Vec<u32>,
    pub list: Vec<Acquisition>,
}

pub(super) struct Acquisition {
    pub thread: u32,
    pub time: u32,
    /// What the thread knew, for each column of the clocks.
    pub row: Vec<u32>,
}

impl MapAcquisitions {
    /// A cluster starts.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
