//! The registers that each PTX instruction of a kernel reads and writes, for passes that follow
//! values: the order of instructions and the number of live registers (`timing/`). `decode` fills
//! it.

/// For each place of a kernel, what it reads, its guard included, and what it writes: indices of
/// registers in its function.
#[derive(Debug, Default)]
pub(crate) struct PlaceRegisters {
    all: Vec<u32>,
    /// For each place, where its reads end in `all`, and its writes.
    ends: Vec<[u32; 2]>,
}

impl PlaceRegisters {
    /// Adds the next place.
    pub fn push(&mut self, reads: impl Iterator<Item = usize>, writes: impl Iterator<Item = usize>) {
        self.all.extend(reads.map(|register| register as u32));
        let reads_end = self.all.len() as u32;
        self.all.extend(writes.map(|register| register as u32));
        self.ends.push([reads_end, self.all.len() as u32]);
    }

    /// What a place reads.
    pub fn reads(&self, place: usize) -> &[u32] {
        let [reads_end, _] = self.ends[place];
        &self.all[self.start(place)..reads_end as usize]
    }

    /// What a place writes.
    pub fn writes(&self, place: usize) -> &[u32] {
        let [reads_end, end] = self.ends[place];
        &self.all[reads_end as usize..end as usize]
    }

    fn start(&self, place: usize) -> usize {
        place.checked_sub(1).map_or(0, |before| self.ends[before][1] as usize)
    }
}
