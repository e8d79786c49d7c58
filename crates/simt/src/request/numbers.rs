//! Encodes requests as lists of numbers in a fixed order, for files.

use super::recorded::{Mechanism, Request, RequestedMemory, Run};
use crate::instruction::AccessKind;
use crate::model::CacheHint;
use crate::texture::Touched;

const KINDS: [AccessKind; 5] =
    [AccessKind::Load, AccessKind::Store, AccessKind::Atomic, AccessKind::Reduction, AccessKind::Copy];

const MEMORIES: [RequestedMemory; 7] = [
    RequestedMemory::Global,
    RequestedMemory::Local,
    RequestedMemory::Constant,
    RequestedMemory::Shared,
    RequestedMemory::Distributed,
    RequestedMemory::Texture,
    RequestedMemory::Surface,
];

const HINTS: [CacheHint; 3] = [CacheHint::None, CacheHint::Cached, CacheHint::Bypass];

fn place<T: PartialEq>(all: &[T], one: &T) -> u64 {
    all.iter().position(|other| other == one).unwrap_or(0) as u64
}

impl Request {
    /// All of it as numbers.
    pub fn numbers(&self) -> Vec<u64> {
        let [x, y, z] = self.position.map(u64::from);
        let (kind, memory) = (place(&KINDS, &self.kind), place(&MEMORIES, &self.memory));
        let mut numbers = vec![self.instruction.into(), kind, memory, self.block, x, y, z, self.warp.into(), self.step];
        numbers.extend([self.mask, self.width].map(u64::from));
        numbers.extend(self.addresses);
        match &self.mechanism {
            Mechanism::Plain(hint) => numbers.extend([0, place(&HINTS, hint)]),
            Mechanism::Copy { mask, addresses, fills, at_l2_only } => {
                numbers.extend([1, u64::from(*mask), u64::from(*fills), u64::from(*at_l2_only)]);
                numbers.extend(addresses.iter());
            }
            Mechanism::Rows(count) => numbers.extend([2, u64::from(*count)]),
            Mechanism::Bulk(runs) => {
                numbers.push(3);
                numbers.extend(runs.iter().flat_map(|run| [u64::from(run.lane), run.address, u64::from(run.bytes)]));
            }
            Mechanism::Elements(elements) => {
                numbers.push(4);
                numbers.extend(elements.iter().flat_map(|touched| {
                    let &Touched { group, sector, address, lane, within } = touched;
                    let is_known = u64::from(address.is_some());
                    [u64::from(group), sector, is_known, address.unwrap_or(0), u64::from(lane), u64::from(within)]
                }));
            }
        }
        numbers
    }

    /// The request of such numbers; `None` if they are of none.
    pub fn of_numbers(numbers: &[u64]) -> Option<Self> {
        let (fixed, rest) = numbers.split_first_chunk::<11>()?;
        let &[instruction, kind, memory, block, x, y, z, warp, step, mask, width] = fixed;
        let (&addresses, rest) = rest.split_first_chunk::<32>()?;
        let (mechanism, rest) = rest.split_first()?;
        let mechanism = match (mechanism, rest) {
            (0, &[hint]) => Mechanism::Plain(*HINTS.get(usize::try_from(hint).ok()?)?),
            (1, rest) => {
                let (&[mask, fills, at_l2_only], rest) = rest.split_first_chunk::<3>()?;
                let addresses = Box::new(<[u64; 32]>::try_from(rest).ok()?);
                Mechanism::Copy { mask: small(mask)?, addresses, fills: fills != 0, at_l2_only: at_l2_only != 0 }
            }
            (2, &[count]) => Mechanism::Rows(small(count)?),
            (3, rest) => Mechanism::Bulk(list(rest, |&[lane, address, bytes]| {
                Some(Run { lane: lane_of(lane)? as u8, address, bytes: small(bytes)? })
            })?),
            (4, rest) => Mechanism::Elements(list(rest, |&[group, sector, is_known, address, lane, within]| {
                let address = (is_known != 0).then_some(address);
                Some(Touched { group: small(group)?, sector, address, lane: lane_of(lane)?, within: small(within)? })
            })?),
            _ => return None,
        };
        Some(Self {
            instruction: small(instruction)?,
            kind: *KINDS.get(usize::try_from(kind).ok()?)?,
            memory: *MEMORIES.get(usize::try_from(memory).ok()?)?,
            block,
            position: [small(x)?, small(y)?, small(z)?],
            warp: small(warp)?,
            step,
            mask: small(mask)?,
            width: small(width)?,
            addresses,
            mechanism,
        })
    }
}

fn small(number: u64) -> Option<u32> {
    u32::try_from(number).ok()
}

fn lane_of(number: u64) -> Option<u32> {
    small(number).filter(|&lane| lane < 32)
}

/// A list of things that are so many numbers each.
fn list<T, const COUNT: usize>(numbers: &[u64], one: impl Fn(&[u64; COUNT]) -> Option<T>) -> Option<Vec<T>> {
    let (parts, rest) = numbers.as_chunks::<COUNT>();
    if rest.is_empty() { parts.iter().map(one).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_kept_as_numbers() {
        let addresses = std::array::from_fn(|lane| 4 * lane as u64);
        let plain = Request::new(AccessKind::Atomic, RequestedMemory::Shared, 8, 0xff, addresses);
        let elements = Touched { group: 1, sector: 2, address: None, lane: 31, within: 5 };
        let mechanisms = [
            Mechanism::Plain(CacheHint::Bypass),
            Mechanism::Copy { mask: 3, addresses: Box::new(addresses), fills: true, at_l2_only: false },
            Mechanism::Rows(4),
            Mechanism::Bulk(vec![Run { lane: 7, address: 1 << 40, bytes: 128 }; 2]),
            Mechanism::Elements(vec![elements, Touched { address: Some(9), ..elements }]),
        ];
        for mechanism in mechanisms {
            let request = Request {
                mechanism,
                block: 1 << 40,
                position: [1, 2, 3],
                warp: 4,
                step: 5,
                instruction: 6,
                ..plain.clone()
            };
            let numbers = request.numbers();
            assert_eq!(Request::of_numbers(&numbers).as_ref(), Some(&request));
            // Numbers that are missing, too many, or too large.
            for length in 0..43 {
                assert_eq!(Request::of_numbers(&numbers[..length]), None);
            }
            for place in [0, 1, 2, 7, 9, 10, 43] {
                let mut broken = numbers.clone();
                broken[place] = u64::MAX;
                assert_eq!(Request::of_numbers(&broken), None);
            }
        }
    }
}
