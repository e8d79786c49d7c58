//! Which sizes are tried: drawn ones, and those at which kernels are often wrong.

use common::random::Random;

use super::contract::{Range, Sizes};

/// Nothing, one, next to a warp and to blocks of usual sizes, odd, prime.
const AWKWARD: [u64; 12] = [0, 1, 2, 31, 32, 33, 97, 255, 257, 1000, 1021, 1025];

/// So many combinations of sizes: of each, the least and the largest, awkward ones, and drawn ones,
/// in an order that is drawn for each. The last has the largest of each, at which counters and
/// times are compared.
pub fn drawn<'a>(
    ranges: impl Iterator<Item = (&'a String, &'a Range)>,
    count: usize,
    random: &mut Random,
) -> Vec<Sizes> {
    let mut cases = vec![Sizes::new(); count.max(1)];
    for (name, range) in ranges {
        let Range { min, max, multiple } = *range;
        let least = min.next_multiple_of(multiple);
        let largest = max / multiple * multiple;
        let fits = |size: u64| Some(size.next_multiple_of(multiple)).filter(|size| (least..=largest).contains(size));
        let mut sizes: Vec<u64> = vec![least];
        for size in AWKWARD.into_iter().chain([largest.saturating_sub(1)]).filter_map(fits) {
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
        // What one run leaves out, another seed has.
        shuffle(&mut sizes[1..], random);
        let others = cases.len() - 1;
        sizes.truncate(others.saturating_sub(others / 4).max(1));
        while sizes.len() < others {
            let steps = (largest - least) / multiple;
            sizes.push(least + random.next_u64() % (steps + 1) * multiple);
        }
        shuffle(&mut sizes, random);
        for (case, size) in cases.iter_mut().zip(sizes.into_iter().take(others).chain([largest])) {
            case.insert(name.clone(), size);
        }
    }
    cases
}

fn shuffle(sizes: &mut [u64], random: &mut Random) {
    for at in (1..sizes.len()).rev() {
        sizes.swap(at, (random.next_u64() % (at as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awkward_and_drawn_sizes_are_tried() {
        let ranges = |range| [("n".to_owned(), range), ("m".to_owned(), range)];
        let of = |range, count, seed| {
            let ranges = ranges(range);
            let ranges = ranges.iter().map(|(name, range)| (name, range));
            let cases = drawn(ranges, count, &mut Random::new(seed));
            cases.iter().map(|case| (case["n"], case["m"])).collect::<Vec<_>>()
        };
        let range = Range { min: 0, max: 4096, multiple: 1 };
        let cases = of(range, 24, 1);
        assert_eq!((cases.len(), cases[23]), (24, (4096, 4096)));
        for awkward in [0, 1, 33, 97, 1021, 4095] {
            assert!(cases.iter().any(|case| case.0 == awkward), "{awkward}: {cases:?}");
        }
        assert_eq!(cases, of(range, 24, 1));
        assert_ne!(cases, of(range, 24, 2));
        let few = of(Range { min: 1, max: 96, multiple: 32 }, 8, 1);
        assert!(few.iter().all(|case| [32, 64, 96].contains(&case.0)), "{few:?}");
        assert_eq!(of(range, 1, 1), [(4096, 4096)]);
    }
}
