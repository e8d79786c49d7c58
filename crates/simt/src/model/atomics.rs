//! Contention of an instruction's atomic operations in L2, which executes those on one sector one
//! after the other. So does each slice of L2 with the operations on all of its sectors.
//!
//! The mapping of addresses to slices was found on an H100 (2026-11-27) by atomic operations on
//! several words: their time shows how many slices share the work. Neighbouring pairs of lines
//! belong to different slices, 4 KiB to eight of them in turns of 1 KiB for two, and pages 4 KiB
//! apart to different ones. Atomic operations spread over all of L2 keep about 64 slices busy.

/// Slices, and those of a page.
const SLICES: usize = 64;
const OF_PAGE: u64 = 8;
/// Lines of a page of 4 KiB.
const PAGE_LINES: u64 = 32;

/// The atomic operations of an instruction: which sectors they go to, if few get many (Misra and
/// Gries 1982), and which slices.
pub(super) struct Meetings {
    all: u64,
    sectors: Vec<(u64, u64)>,
    slices: [u64; SLICES],
}

impl Default for Meetings {
    fn default() -> Self {
        Self { all: 0, sectors: Vec::new(), slices: [0; SLICES] }
    }
}

/// Sectors that are counted; one that gets a larger part than its inverse is among them.
const COUNTED: usize = 16;

/// Of an instruction's atomic operations, the parts that meet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Busiest {
    /// In the sector with most.
    pub sector: f64,
    /// In the slice with most.
    pub slice: f64,
}

impl Meetings {
    /// L2 did an operation on a sector.
    pub fn add(&mut self, sector: u64) {
        self.all += 1;
        self.slices[slice(sector / 4)] += 1;
        if let Some((_, count)) = self.sectors.iter_mut().find(|(known, _)| *known == sector) {
            *count += 1;
        } else if self.sectors.len() < COUNTED {
            self.sectors.push((sector, 1));
        } else {
            self.sectors.iter_mut().for_each(|(_, count)| *count -= 1);
            self.sectors.retain(|&(_, count)| count > 0);
        }
    }

    /// The parts that meet.
    pub fn busiest(&self) -> Busiest {
        let part = |most: Option<u64>| most.unwrap_or(0) as f64 / self.all.max(1) as f64;
        Busiest {
            sector: part(self.sectors.iter().map(|&(_, count)| count).max()),
            slice: part(self.slices.iter().copied().max()),
        }
    }
}

/// The slice of a line. Eight pages in a row have all slices; in the next eight they change places.
fn slice(line: u64) -> usize {
    const PAGES: u64 = SLICES as u64 / OF_PAGE;
    let (page, pair) = (line / PAGE_LINES, line % PAGE_LINES / 2);
    let eight = page / PAGES;
    let hash = (eight / OF_PAGE).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    // Of the four bits of a pair's number within the page, the second makes no difference.
    let in_page = (pair & 1 | pair >> 2 << 1) + eight + hash % OF_PAGE;
    ((page + hash / OF_PAGE) % PAGES * OF_PAGE + in_page % OF_PAGE) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slices of so many lines, so many apart.
    fn slices(count: u64, step: u64) -> usize {
        let all: std::collections::BTreeSet<usize> = (0..count).map(|index| slice(index * step)).collect();
        all.len()
    }

    /// As many as the times of an H100 say: lines beside each other, and pages.
    #[test]
    fn lines_are_in_as_many_slices_as_an_h100_has_at_work() {
        let close = [1, 2, 4, 8, 16, 32, 256].map(|lines| slices(lines, 1));
        assert_eq!(close, [1, 1, 2, 2, 4, 8, 64]);
        assert_eq!([2, 4, 8, 16, 64].map(|pages| slices(pages, 32)), [2, 4, 8, 16, 64]);
        assert!([8, 64, 512].iter().all(|pages| slices(1024, 32 * pages) > 48));
    }

    #[test]
    fn the_busiest_sector_and_slice_are_found() {
        let mut meetings = Meetings::default();
        (0..1000).for_each(|index| meetings.add(if index % 4 == 0 { 7 } else { 4 * 32 * index }));
        let Busiest { sector, slice } = meetings.busiest();
        assert!((sector - 0.25).abs() < 0.07 && (0.25..0.35).contains(&slice), "{sector} {slice}");
        assert_eq!(Meetings::default().busiest(), Busiest::default());
    }
}
