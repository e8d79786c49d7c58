//! Transactions of global memory: what one request of a warp costs, by architecture.
//!
//! Sources: CUDA C programming guide, "Compute Capability 1.x" to "5.x", sections "Global Memory"
//! (the guide of CUDA 4.2 has the rules of 1.x in full). The lectures' table of access patterns is
//! a test here.

use super::gpu::{LINE_BYTES, TransactionRule};
use crate::address::Access;
use crate::coalesce;
use crate::lanes::lanes;

/// Bytes that the copy engine moves at once.
const BULK_BYTES: u32 = 128;

/// What a request costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Transactions {
    /// Transactions, each of 32, 64 or 128 bytes.
    pub count: u32,
    /// Bytes that they move.
    pub bytes: u32,
    /// Bytes that the lanes ask for, each once.
    pub asked: u32,
}

/// Where a request goes, which decides what moves on 2.x and 3.x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// A load through L1.
    ThroughL1,
    /// A load past L1.
    PastL1,
    /// A store, which always goes past L1.
    Store,
}

/// The transactions of a request.
pub(super) fn of(rule: TransactionRule, access: &Access, route: Route) -> Transactions {
    let coalesce::Sectors { sectors, bytes: asked } = coalesce::sectors(access);
    if rule == TransactionRule::Sectors {
        return Transactions { count: sectors, bytes: sectors * 32, asked };
    }
    let mut total = Transactions { asked, ..Transactions::default() };
    list(rule, access, route, |_, bytes| {
        total.count += 1;
        total.bytes += bytes;
    });
    total
}

/// Lists the transactions of an access: the address and the bytes of each.
pub(crate) fn list(rule: TransactionRule, access: &Access, route: Route, mut each: impl FnMut(u64, u32)) {
    let halves = coalesce::groups(access.mask, 16);
    match (rule, route) {
        (TransactionRule::Strict, _) => halves.for_each(|half| strict(access, half, &mut each)),
        (TransactionRule::Segments, _) => halves.for_each(|half| segments(access, half, &mut each)),
        (TransactionRule::LinesAndSectors, Route::ThroughL1) => distinct_units(access, rule, 128, &mut each),
        (TransactionRule::LinesAndSectors, Route::Store) => stored(access, rule, &mut each),
        (TransactionRule::LinesAndSectors, Route::PastL1) | (TransactionRule::Sectors, _) => {
            distinct_units(access, rule, 32, &mut each);
        }
    }
}

/// Compute capability 1.0 and 1.1: the k-th thread of the half warp must access the k-th word of an
/// aligned segment. Threads may be inactive; bytes and 16-bit words never coalesce.
fn strict(access: &Access, half: u32, each: &mut impl FnMut(u64, u32)) {
    let width = u64::from(access.width);
    let first_lane = half.trailing_zeros() / 16 * 16;
    let segment = 16 * width;
    let start = access.addresses[(half.trailing_zeros() & 31) as usize] / segment * segment;
    let in_order =
        lanes(half).all(|lane| access.addresses[lane] == start + (lane as u64 - u64::from(first_lane)) * width);
    match access.width {
        4 | 8 if in_order => each(start, 16 * access.width),
        16 if in_order => [start, start + 128].into_iter().for_each(|start| each(start, 128)),
        _ => lanes(half).for_each(|lane| each(access.addresses[lane] / 32 * 32, 32)),
    }
}

/// Compute capability 1.2 and 1.3: segments of 32 bytes for 1-byte words, 64 for 2-byte words, 128
/// for all others, from the lowest active thread on; a segment with only one half in use is halved,
/// down to 32 bytes.
fn segments(access: &Access, half: u32, each: &mut impl FnMut(u64, u32)) {
    let mut left = half;
    while left != 0 {
        let first = access.addresses[(left.trailing_zeros() & 31) as usize];
        let mut size: u64 = match access.width {
            1 => 32,
            2 => 64,
            _ => 128,
        };
        let segment = first / size;
        let mut served = 0;
        let (mut low, mut high) = (u64::MAX, 0);
        for lane in lanes(left) {
            let address = access.addresses[lane];
            if address / size == segment {
                served |= 1 << lane;
                low = low.min(address);
                high = high.max(address + u64::from(access.width) - 1);
            }
        }
        while size > 32 && low / (size / 2) == high / (size / 2) {
            size /= 2;
        }
        each(low / size * size, size as u32);
        left &= !served;
    }
}

/// Compute capability 2.x and 3.x: a request of 8-byte words is two, of half warps, and one of
/// 16-byte words four, of quarter warps; each requests the distinct lines or sectors that it
/// touches: aligned pieces of `unit` bytes. No lane touches two, since words are aligned. Later, a
/// request is one, of the whole warp.
fn distinct_units(access: &Access, rule: TransactionRule, unit: u32, each: &mut impl FnMut(u64, u32)) {
    for group in coalesce::groups(access.mask, rule.lanes_per_request(access.width)) {
        let mut units = [0u64; 32];
        let mut count = 0;
        for lane in lanes(group) {
            let piece = access.addresses[lane] / u64::from(unit);
            if !units[..count].contains(&piece) {
                units[count] = piece;
                count += 1;
                each(piece * u64::from(unit), unit);
            }
        }
    }
}

/// Compute capability 2.x and 3.x: a store's transaction has one, two or four sectors of a line,
/// side by side and aligned to their size (Micikevicius, "GPU Performance Analysis and
/// Optimization", GTC 2012). That three sectors of a line take two transactions, of two sectors and
/// of one, is an assumption: only bytes in sectors that are written move.
fn stored(access: &Access, rule: TransactionRule, each: &mut impl FnMut(u64, u32)) {
    for group in coalesce::groups(access.mask, rule.lanes_per_request(access.width)) {
        // The lines in the order of their first lane, with a bit for each sector.
        let mut lines = [(0u64, 0u8); 32];
        let mut count = 0;
        for lane in lanes(group) {
            let address = access.addresses[lane];
            let (line, sector) = (address / LINE_BYTES, 1 << (address % LINE_BYTES / 32));
            match lines[..count].iter_mut().find(|(known, _)| *known == line) {
                Some((_, sectors)) => *sectors |= sector,
                None => {
                    lines[count] = (line, sector);
                    count += 1;
                }
            }
        }
        for (line, sectors) in &lines[..count] {
            let start = line * LINE_BYTES;
            if *sectors == 0b1111 {
                each(start, 128);
                continue;
            }
            for (half, offset) in [(sectors & 0b11, 0), (sectors >> 2, 64)] {
                match half {
                    0 => {}
                    0b11 => each(start + offset, 64),
                    one => each(start + offset + u64::from(one >> 1) * 32, 32),
                }
            }
        }
    }
}

/// The lines in which the copy engine reads or writes these bytes, and a bit for each sector of the
/// line: it goes in parts of [`BULK_BYTES`] from the first byte on.
pub(crate) fn bulk_lines(address: u64, bytes: u32) -> impl Iterator<Item = (u64, u8)> {
    (0..bytes).step_by(BULK_BYTES as usize).flat_map(move |offset| {
        let start = address.saturating_add(offset.into());
        let end = start.saturating_add((bytes - offset).min(BULK_BYTES).into());
        let mut at = start;
        std::iter::from_fn(move || {
            let line = at / LINE_BYTES;
            let last = end.checked_sub(1).filter(|_| at < end)?.min(line * LINE_BYTES + (LINE_BYTES - 1));
            let touched = at % LINE_BYTES / 32..=last % LINE_BYTES / 32;
            at = last + 1;
            Some((line, touched.fold(0u8, |sectors, sector| sectors | 1 << sector)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x7000_0000_0000;

    fn on(rule: TransactionRule, route: Route, width: u32, address: impl Fn(u64) -> u64) -> (u32, u32) {
        let addresses = std::array::from_fn(|lane| BASE + address(lane as u64));
        let found = of(rule, &Access::new(u32::MAX, &addresses, width), route);
        (found.count, found.bytes)
    }

    /// A warp's pattern of the lectures, for 4-byte words.
    type Pattern = fn(u64) -> u64;
    const ALIGNED: Pattern = |lane| 4 * lane;
    const PERMUTED: Pattern = |lane| 4 * (lane ^ 13);
    const MISALIGNED: Pattern = |lane| 4 * lane + 4;
    const SAME_WORD: Pattern = |_| 64;
    const SCATTERED: Pattern = |lane| 4096 * lane;

    #[test]
    fn the_table_of_course_row_4() {
        // (pattern, bytes requested, Fermi through L1: transactions and bus use, past L1 and on
        // everything later)
        type Row = (Pattern, f64, (u32, f64), (u32, f64));
        let rows: [Row; 5] = [
            (ALIGNED, 128.0, (1, 100.0), (4, 100.0)),
            (PERMUTED, 128.0, (1, 100.0), (4, 100.0)),
            (MISALIGNED, 128.0, (2, 50.0), (5, 80.0)),
            (SAME_WORD, 4.0, (1, 3.125), (1, 12.5)),
            (SCATTERED, 128.0, (32, 128.0 / (128.0 * 32.0) * 100.0), (32, 128.0 / (32.0 * 32.0) * 100.0)),
        ];
        for (pattern, asked, lines, sectors) in rows {
            let use_of = |(count, bytes): (u32, u32)| (count, asked * 100.0 / f64::from(bytes));
            assert_eq!(use_of(on(TransactionRule::LinesAndSectors, Route::ThroughL1, 4, pattern)), lines);
            assert_eq!(use_of(on(TransactionRule::LinesAndSectors, Route::PastL1, 4, pattern)), sectors);
            assert_eq!(use_of(on(TransactionRule::Sectors, Route::ThroughL1, 4, pattern)), sectors);
        }
    }

    #[test]
    fn strict_half_warps_of_g80() {
        let of = |width, pattern: Pattern| on(TransactionRule::Strict, Route::PastL1, width, pattern);
        assert_eq!(of(4, ALIGNED), (2, 128));
        // In order or not at all: a permutation, a shift, one word for all.
        assert_eq!(of(4, PERMUTED), (32, 1024));
        assert_eq!(of(4, MISALIGNED), (32, 1024));
        assert_eq!(of(4, SAME_WORD), (32, 1024));
        assert_eq!(of(8, |lane| 8 * lane), (2, 256));
        assert_eq!(of(16, |lane| 16 * lane), (4, 512));
        assert_eq!(of(1, |lane| lane), (32, 1024));
        // Aligned to the half warp's 64 bytes is enough.
        assert_eq!(of(4, |lane| 4 * lane + 64), (2, 128));
        // Inactive threads do no harm.
        let addresses = std::array::from_fn(|lane| BASE + 4 * lane as u64);
        let found = super::of(TransactionRule::Strict, &Access::new(0x8421_8421, &addresses, 4), Route::PastL1);
        assert_eq!(found, Transactions { count: 2, bytes: 128, asked: 32 });
    }

    #[test]
    fn segments_of_gt200_shrink() {
        let of = |width, pattern: Pattern| on(TransactionRule::Segments, Route::PastL1, width, pattern);
        // Two half warps, 64 bytes each.
        assert_eq!(of(4, ALIGNED), (2, 128));
        assert_eq!(of(4, PERMUTED), (2, 128));
        // Words 1..=16: within 128 bytes, but across the middle. Words 17..=32: 60 bytes of one
        // segment, 4 of the next.
        assert_eq!(of(4, MISALIGNED), (3, 128 + 64 + 32));
        assert_eq!(of(4, SAME_WORD), (2, 64));
        assert_eq!(of(4, SCATTERED), (32, 1024));
        // Stride 2: a half warp spreads over 128 bytes.
        assert_eq!(of(4, |lane| 8 * lane), (2, 256));
        assert_eq!(of(8, |lane| 8 * lane), (2, 256));
        assert_eq!(of(16, |lane| 16 * lane), (4, 512));
        assert_eq!(of(1, |lane| lane), (2, 64));
        assert_eq!(of(2, |lane| 2 * lane), (2, 64));
    }

    #[test]
    fn wide_words_of_fermi_are_several_requests() {
        let of = |width, pattern: Pattern| on(TransactionRule::LinesAndSectors, Route::ThroughL1, width, pattern);
        assert_eq!(of(8, |lane| 8 * lane), (2, 256));
        assert_eq!(of(16, |lane| 16 * lane), (4, 512));
        // The same line for all: once for each part of the request.
        assert_eq!(of(16, |_| 0), (4, 512));
    }

    #[test]
    fn stores_of_fermi_are_one_two_or_four_sectors() {
        let of = |width, pattern: Pattern| on(TransactionRule::LinesAndSectors, Route::Store, width, pattern);
        // The lecture's three: a line, 64 bytes of it, and 192 bytes with a sector here and there.
        assert_eq!(of(4, ALIGNED), (1, 128));
        assert_eq!(of(2, |lane| 2 * lane), (1, 64));
        assert_eq!(of(4, |lane| [0, 96, 160][lane as usize % 3]), (3, 96));
        // A pair that is not aligned is two; three sectors are a pair and one.
        assert_eq!(of(4, |lane| 32 + lane % 2 * 32), (2, 64));
        assert_eq!(of(4, |lane| lane % 3 * 32), (2, 96));
        assert_eq!(of(4, MISALIGNED), (2, 160));
        assert_eq!(of(4, SCATTERED), (32, 1024));
        // A request for each half or quarter of the warp, each with its own line.
        assert_eq!(of(8, |lane| 8 * lane), (2, 256));
        assert_eq!(of(16, |lane| 16 * lane), (4, 512));
    }

    #[test]
    fn no_lane_no_transaction() {
        let addresses = [BASE; 32];
        for rule in [
            TransactionRule::Strict,
            TransactionRule::Segments,
            TransactionRule::LinesAndSectors,
            TransactionRule::Sectors,
        ] {
            for route in [Route::ThroughL1, Route::PastL1, Route::Store] {
                assert_eq!(of(rule, &Access::new(0, &addresses, 4), route), Transactions::default());
            }
        }
    }
}
