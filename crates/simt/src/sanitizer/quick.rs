//! The fast paths of the race detector, for accesses that race with nothing: the cells were
//! accessed by no thread, by the same thread, or before all threads of the block met. Each does
//! what [`Races::lanes`](super::Races::lanes) would do, for many cells at once, and must leave the
//! same shadow behind: the tests in `same` compare the two.

use super::clocks::Clocks;
use super::shadow::{Mark, ROW, Shadow, Stamps};
use super::stamp::{Stamp, THREAD, WARP};
use super::touch::Reached;
use crate::address::Runs;
use crate::sanitizer::now::Now;
use crate::site::AccessAction;

/// Cells of a row that neighbouring lanes access.
#[derive(Clone, Copy)]
struct Part {
    /// The first cell.
    at: usize,
    count: usize,
    /// The stamp of the lane that has the first cell.
    stamp: u64,
    /// Each lane has 2 to the power of this many cells.
    spread: u32,
}

impl Part {
    /// The chunks of the row that contain some of them.
    #[inline(always)]
    fn chunks(self) -> std::ops::Range<usize> {
        self.at / CHUNK..(self.at + self.count).div_ceil(CHUNK)
    }

    #[inline(always)]
    fn has(self, cell: usize) -> bool {
        (cell >= self.at) & (cell < self.at + self.count)
    }

    /// The stamp of one of its cells.
    #[inline(always)]
    fn stamp(self, cell: usize) -> u64 {
        self.stamp.wrapping_add((cell as u64).wrapping_sub(self.at as u64) >> (self.spread & 63))
    }
}

/// What an access does, and what is known of the whole allocation.
#[derive(Clone, Copy)]
struct How {
    /// Whether it reads; otherwise it writes.
    reads: bool,
    /// Whether no earlier write matters. Never set for writes, whose lanes may conflict with each
    /// other.
    writes_are_fine: bool,
    /// Whether no earlier read matters to this write.
    reads_are_fine: bool,
}

/// Cells that are compared together.
const CHUNK: usize = 8;
type Chunks = [[u64; CHUNK]; ROW / CHUNK];

/// From this many cells on, comparing the whole row is faster.
const MANY: u32 = 8;

/// An access that does not synchronise. Returns the lanes from the first one that needs the
/// general path.
#[inline(always)]
pub(super) fn quick(shadow: &mut Shadow, clocks: &Clocks, shift: u32, reached: &Reached) -> u32 {
    // Otherwise several neighbours may share a cell, or memory of any size is being freed.
    if !matches!(reached.lanes.width >> shift, 1 | 2 | 4 | 8 | 16) {
        return reached.lanes.mask;
    }
    let now = Now::new(clocks, reached.allocation);
    let stamp = Stamp::new(reached.time, 0, reached.operation.place, reached.warp * 32);
    let spread = (reached.lanes.width >> shift).trailing_zeros() & 31;
    let reads = reached.operation.action == AccessAction::Read;
    let [last_write, last_read] = &mut shadow.last;
    let (own, others) = if reads { (last_read, last_write) } else { (last_write, last_read) };
    *own = stamp.0.max(*own);
    let others_are_fine = now.is_fine_for_all(*others);
    let how = How { reads, writes_are_fine: reads && others_are_fine, reads_are_fine: !reads && others_are_fine };
    let mut rest = reached.lanes.mask;
    let first = reached.cell(0, shift);
    if reached.lanes.is_consecutive() && first.is_multiple_of(ROW) {
        for part in 0..1 << spread {
            let mark = Mark::of_lanes(stamp, (part << 5) >> spread, spread);
            if !whole_row(shadow, first / ROW + part as usize, mark, how, now) {
                break;
            }
            rest = (u64::from(u32::MAX) << (((part + 1) << 5) >> spread)) as u32;
        }
    }
    let Runs { follows, repeats } = reached.lanes.runs;
    let alone = !(follows | follows >> 1 | repeats | repeats >> 1);
    let cells = 1 << spread;
    let mut in_rows = true;
    while rest != 0 {
        let lane = rest.trailing_zeros() & 31;
        let cell = reached.cell(lane as usize, shift);
        let stamp = stamp.0 + u64::from(lane);
        let mut done = 1;
        if alone >> lane & 1 == 1 {
            for cell in cell..cell + cells {
                if !one(shadow, clocks, cell, stamp, how, now) {
                    return rest;
                }
            }
            rest &= rest - 1;
            continue;
        }
        let in_a_row = reached.lanes.runs.in_a_row(lane);
        if in_rows && in_a_row << spread >= MANY {
            let count = ((in_a_row << spread) as usize).min(ROW - cell % ROW);
            let part = Part { at: cell % ROW, count, stamp, spread };
            in_rows = part_of_row(shadow, cell / ROW, part, how, now);
            if !in_rows {
                continue;
            }
            done = count as u32 >> spread;
        } else {
            if how.reads {
                done = reached.lanes.runs.alike(lane);
            }
            for cell in cell..cell + cells {
                if !one_for_many(shadow, clocks, cell, stamp, done, how, now) {
                    return rest;
                }
            }
        }
        rest &= (u64::MAX << (lane + done)) as u32;
    }
    0
}

/// How earlier stamps of a row relate to an access.
#[derive(PartialEq, Eq)]
enum Earlier {
    /// All are fine.
    Fine,
    /// None is fine, and all are by one warp at one time.
    Other,
    /// Some may be fine.
    Mixed,
}

#[inline(always)]
fn earlier(stamps: &Stamps, before: Mark, mark: Mark, now: Now) -> Earlier {
    if before.0 == 0 || !before.is_per_cell() && now.is_fine(before.0, mark.0) {
        return Earlier::Fine;
    }
    if !before.is_per_cell() {
        let own = (before.0 ^ mark.0) & WARP == 0 && before.0 >= now.from;
        return if own { Earlier::Mixed } else { Earlier::Other };
    }
    let mut fine = true;
    for (cell, &entry) in stamps.row(before).iter().enumerate() {
        fine &= now.is_fine(entry, mark.of_cell(cell));
    }
    if fine { Earlier::Fine } else { Earlier::Mixed }
}

/// An access to a whole row. Returns whether it was handled.
#[inline(always)]
fn whole_row(shadow: &mut Shadow, row: usize, mark: Mark, how: How, now: Now) -> bool {
    let (row, stamps) = shadow.row(row);
    let [write, first, second] = row;
    if !how.writes_are_fine && earlier(stamps, *write, mark, now) != Earlier::Fine {
        return false;
    }
    if !how.reads {
        let fine = how.reads_are_fine
            || earlier(stamps, *first, mark, now) == Earlier::Fine
                && earlier(stamps, *second, mark, now) == Earlier::Fine;
        if fine {
            stamps.set(write, mark);
        }
        return fine;
    }
    match earlier(stamps, *first, mark, now) {
        Earlier::Fine => stamps.set(first, mark),
        Earlier::Mixed => return false,
        Earlier::Other => match earlier(stamps, *second, mark, now) {
            Earlier::Fine => stamps.set(second, mark),
            Earlier::Mixed => return false,
            Earlier::Other if now.is_older(first.0) => (*second, *first) = (*first, mark),
            Earlier::Other => return now.all_know_the_same,
        },
    }
    true
}

/// Whether all earlier stamps of some cells of a row are fine, and whether none is. `or_older`:
/// "none" also requires that no stamp is of another block.
#[inline(always)]
fn are_fine(stamps: &Stamps, before: Mark, part: Part, or_older: bool, now: Now) -> (bool, bool) {
    if before.0 == 0 || !before.is_per_cell() && now.is_ordered(before.0) {
        return (true, false);
    }
    let mut room = [0; ROW];
    let chunks: &Chunks = bytemuck::cast_ref(stamps.of(before, &mut room));
    let (mut all, mut none) = (true, true);
    for index in part.chunks() {
        for (at, &entry) in chunks[index % chunks.len()].iter().enumerate() {
            let cell = index * CHUNK + at;
            let fine = now.is_fine(entry, part.stamp(cell));
            all &= !part.has(cell) | fine;
            none &= !part.has(cell) | !(fine | or_older & now.is_older(entry));
        }
    }
    (all, none)
}

#[inline(always)]
fn set_part(stamps: &mut Stamps, mark: &mut Mark, part: Part) {
    let chunks: &mut Chunks = bytemuck::cast_mut(stamps.per_cell(mark));
    for index in part.chunks() {
        for (at, entry) in chunks[index % (ROW / CHUNK)].iter_mut().enumerate() {
            let cell = index * CHUNK + at;
            *entry = if part.has(cell) { part.stamp(cell) } else { *entry };
        }
    }
}

/// An access to some cells of a row. Returns whether it was handled.
#[inline(always)]
fn part_of_row(shadow: &mut Shadow, row: usize, part: Part, how: How, now: Now) -> bool {
    let (row, stamps) = shadow.row(row);
    let [write, first, second] = row;
    if !how.writes_are_fine && !are_fine(stamps, *write, part, false, now).0 {
        return false;
    }
    if !how.reads {
        let fine = how.reads_are_fine
            || are_fine(stamps, *first, part, false, now).0 && are_fine(stamps, *second, part, false, now).0;
        if fine {
            set_part(stamps, write, part);
        }
        return fine;
    }
    let (all, none) = are_fine(stamps, *first, part, true, now);
    if all {
        set_part(stamps, first, part);
        return true;
    }
    if !now.all_know_the_same {
        return false;
    }
    // Two reads are already kept.
    if none && are_fine(stamps, *second, part, false, now).1 {
        return true;
    }
    let mut rooms = [[0; ROW]; 2];
    let [first_room, second_room] = &mut rooms;
    let (firsts, seconds) = (stamps.of(*first, first_room), stamps.of(*second, second_room));
    let (mut new_firsts, mut new_seconds) = (*firsts, *seconds);
    let (mut first_changes, mut second_changes) = (false, false);
    for cell in 0..ROW {
        let (first, second, stamp) = (firsts[cell], seconds[cell], part.stamp(cell));
        let (first_is_fine, second_is_fine) = (now.is_fine(first, stamp), now.is_fine(second, stamp));
        let moves = !first_is_fine & !second_is_fine & now.is_older(first);
        let to_first = part.has(cell) & (first_is_fine | moves);
        let to_second = part.has(cell) & !first_is_fine & (second_is_fine | moves);
        first_changes |= to_first;
        second_changes |= to_second;
        new_firsts[cell] = if to_first { stamp } else { first };
        let kept = if moves { first } else { stamp };
        new_seconds[cell] = if to_second { kept } else { second };
    }
    if first_changes {
        *stamps.per_cell(first) = new_firsts;
    }
    if second_changes {
        *stamps.per_cell(second) = new_seconds;
    }
    true
}

/// An access of one lane to one cell. Returns whether it was handled.
#[inline(always)]
fn one(shadow: &mut Shadow, clocks: &Clocks, cell: usize, stamp: u64, how: How, now: Now) -> bool {
    let ([write, first, second], stamps) = shadow.row(cell / ROW);
    let at = cell % ROW;
    if !how.writes_are_fine && !now.is_fine(stamps.of_cell(*write, at).0, stamp) {
        return false;
    }
    if !how.reads {
        let fine = how.reads_are_fine
            || now.is_fine(stamps.of_cell(*first, at).0, stamp) && now.is_fine(stamps.of_cell(*second, at).0, stamp);
        if fine {
            stamps.per_cell(write)[at] = stamp;
        }
        return fine;
    }
    let old_first = stamps.of_cell(*first, at);
    if now.is_fine(old_first.0, stamp) {
        stamps.per_cell(first)[at] = stamp;
        return true;
    }
    let old_second = stamps.of_cell(*second, at);
    if now.is_fine(old_second.0, stamp) {
        stamps.per_cell(second)[at] = stamp;
    } else if now.is_older(old_first.0) {
        // A read of another block: the present block may write later, and its own read would hide
        // the race.
        stamps.per_cell(second)[at] = old_first.0;
        stamps.per_cell(first)[at] = stamp;
    } else {
        return now.all_know_the_same
            || clocks.is_present(old_first) && (now.is_older(old_second.0) || clocks.is_present(old_second));
    }
    true
}

/// [`one`] for neighbouring lanes that share the cell. Once two reads are kept, further ones change
/// nothing.
#[inline(always)]
fn one_for_many(shadow: &mut Shadow, clocks: &Clocks, cell: usize, stamp: u64, lanes: u32, how: How, now: Now) -> bool {
    for lane in 0..u64::from(lanes) {
        if lane == 2 {
            let ([_, first, second], stamps) = shadow.row(cell / ROW);
            let (first, second) = (stamps.of_cell(*first, cell % ROW).0, stamps.of_cell(*second, cell % ROW).0);
            let stays = |entry: u64| {
                let other = (entry & THREAD).wrapping_sub((stamp + lane) & THREAD) < u64::from(lanes) - lane;
                !now.is_ordered(entry) && !other
            };
            if stays(first) && stays(second) && !now.is_older(first) && now.all_know_the_same {
                return true;
            }
        }
        if !one(shadow, clocks, cell, stamp + lane, how, now) {
            return false;
        }
    }
    true
}
