//! The sectors of global memory that a warp's access touches.

use crate::address::Access;

/// Bytes of a sector.
pub const SECTOR_BYTES: u32 = 32;
/// What a request to global or local memory moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sectors {
    /// Distinct 32-byte sectors touched.
    pub sectors: u32,
    /// Distinct bytes requested.
    pub bytes: u32,
}

/// The sectors that an access touches. Its addresses must be aligned to its width.
#[inline(always)]
pub(crate) fn sectors(access: &Access) -> Sectors {
    let width = access.width;
    let active = access.mask.count_ones();
    if active == 0 {
        return Sectors::default();
    }
    if access.is_consecutive() {
        let first = access.addresses[0];
        let bytes = 32 * width;
        let sectors = (first + u64::from(bytes) - 1) / 32 - first / 32 + 1;
        return Sectors { sectors: sectors as u32, bytes };
    }
    let mut elements = access.filled();
    let shift = width.trailing_zeros();
    for element in &mut elements {
        *element >>= shift;
    }
    let bytes = distinct(&elements) * width;
    let shift = SECTOR_BYTES.trailing_zeros() - shift;
    for element in &mut elements {
        *element >>= shift;
    }
    Sectors { sectors: distinct(&elements), bytes }
}

/// The number of different addresses in an access.
pub(crate) fn addresses(access: &Access) -> u32 {
    sectors(access).bytes / access.width
}

/// The sectors that an atomic operation moves: lanes that share a word take turns, and each turn
/// counts a sector.
pub(crate) fn atomic_sectors(access: &Access) -> Sectors {
    let turns = turns_of_sectors(access).map(|(_, turns)| turns).sum();
    Sectors { sectors: turns, ..sectors(access) }
}

/// The sectors that an atomic operation touches, as addresses divided by the sector size, and the
/// turns of each: the number of lanes on its most shared word.
pub(crate) fn turns_of_sectors(access: &Access) -> impl Iterator<Item = (u64, u32)> {
    let mut found = [(0u64, 0u32); 32];
    let mut count = 0;
    for lane in (0..32).filter(|lane| access.mask >> lane & 1 == 1) {
        let address = access.addresses[lane];
        let same = (0..32).fold(0, |same, other| same | u32::from(access.addresses[other] == address) << other);
        let turns = (same & access.mask).count_ones();
        let sector = address / u64::from(SECTOR_BYTES);
        match found[..count].iter_mut().find(|(other, _)| *other == sector) {
            Some((_, most)) => *most = turns.max(*most),
            None => {
                found[count] = (sector, turns);
                count += 1;
            }
        }
    }
    found.into_iter().take(count)
}

/// Number of distinct values.
#[inline(always)]
fn distinct(values: &[u64; 32]) -> u32 {
    let mut changes = 0u32;
    let mut rising = true;
    for index in 1..32 {
        changes += u32::from(values[index] != values[index - 1]);
        rising &= values[index] >= values[index - 1];
    }
    if rising {
        return changes + 1;
    }
    // Values close together: a bit for each, without branches.
    let (mut low, mut high) = (u64::MAX, 0);
    for &value in values {
        low = low.min(value);
        high = high.max(value);
    }
    if high - low < 64 {
        let mut seen = 0u64;
        for &value in values {
            seen |= 1 << ((value - low) & 63);
        }
        return seen.count_ones();
    }
    distinct_unordered(values)
}

/// [`distinct`] for values in any order.
fn distinct_unordered(values: &[u64; 32]) -> u32 {
    const BITS: u64 = 1024;
    let low = values.iter().copied().min().unwrap_or(0);
    let high = values.iter().copied().max().unwrap_or(0);
    if high - low < BITS {
        let mut seen = [0u64; (BITS / 64) as usize];
        for value in values {
            let bit = value - low;
            seen[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        return seen.iter().map(|word| word.count_ones()).sum();
    }
    let mut sorted = *values;
    sorted.sort_unstable();
    1 + sorted.windows(2).filter(|pair| pair[0] != pair[1]).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(address: impl Fn(u64) -> u64) -> [u64; 32] {
        std::array::from_fn(|lane| address(lane as u64))
    }

    #[test]
    fn sectors_of_the_lectures_patterns() {
        // (address of a lane, width, sectors, distinct bytes): aligned, misaligned, same word,
        // stride 2, one sector a lane.
        type Case = (fn(u64) -> u64, u32, u32, u32);
        let cases: [Case; 8] = [
            (|lane| 4 * lane, 4, 4, 128),
            (|lane| 4 * lane + 4, 4, 5, 128),
            (|_| 64, 4, 1, 4),
            (|lane| 8 * lane, 4, 8, 128),
            (|lane| 128 * lane, 4, 32, 128),
            (|lane| 4 * (lane ^ 5), 4, 4, 128),
            (|lane| 16 * lane, 16, 16, 512),
            (|lane| 1 << (5 + lane), 1, 32, 32),
        ];
        for (address, width, sectors_expected, bytes) in cases {
            let addresses = lanes(address);
            let access = Access::new(u32::MAX, &addresses, width);
            assert_eq!(sectors(&access), Sectors { sectors: sectors_expected, bytes }, "{addresses:?}");
        }
    }

    #[test]
    fn lanes_of_an_atomic_operation_on_one_word_take_turns() {
        // An H200's counts (`l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum`, and the same for
        // atom), 2026-11-21: as many neighbouring lanes share a word, and the words are 4 or 32
        // bytes apart.
        for (together, close, apart) in [(1, 4, 32), (2, 4, 32), (4, 4, 32), (8, 8, 32), (16, 16, 32), (32, 32, 32)] {
            for (step, expected) in [(4, close), (32, apart)] {
                let addresses = lanes(|lane| 4096 + lane / together * step);
                let access = Access::new(u32::MAX, &addresses, 4);
                assert_eq!(atomic_sectors(&access).sectors, expected, "{together} lanes a word, {step} bytes");
            }
        }
        assert_eq!(atomic_sectors(&Access::new(0, &[0; 32], 4)), Sectors::default());
    }

    #[test]
    fn only_active_lanes_count() {
        let addresses = lanes(|lane| 1000 * 4 * lane);
        assert_eq!(sectors(&Access::new(0, &addresses, 4)), Sectors::default());
        assert_eq!(sectors(&Access::new(0b1011, &addresses, 4)), Sectors { sectors: 3, bytes: 12 });
    }

    #[test]
    fn counting_agrees_with_a_set_in_any_order() {
        let mut state = 1u64;
        for round in 0..2000 {
            let spread = 1 << (round % 40);
            let width = 1 << (round % 5);
            let addresses = lanes(|_| 0).map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 20) % spread * u64::from(width)
            });
            let mask = if round % 3 == 0 { u32::MAX } else { (state >> 13) as u32 };
            let active: Vec<u64> = (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane| addresses[lane]).collect();
            let sector_set: std::collections::BTreeSet<u64> = active.iter().map(|address| address / 32).collect();
            let element_set: std::collections::BTreeSet<u64> = active.iter().copied().collect();
            let counted = sectors(&Access::new(mask, &addresses, width));
            assert_eq!(counted.sectors as usize, sector_set.len());
            assert_eq!(counted.bytes as usize, element_set.len() * width as usize);
        }
    }
}
