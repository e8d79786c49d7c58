//! Looks for an order with few interruptions in which a result differs.

use simt::orders::{DrawnOrder, Strategy};

/// A run in an order whose result differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Differing<T> {
    /// The order.
    pub order: DrawnOrder,
    /// Where the result differs.
    pub place: T,
    /// How often warps were interrupted.
    pub interruptions: u64,
}

/// What is said of a simpler order in which warps are interrupted so often.
pub fn likewise(interruptions: u64) -> String {
    let times = match interruptions {
        0 => "without interruptions".to_owned(),
        1 => "with one interruption".to_owned(),
        times => format!("with {times} interruptions"),
    };
    format!("Likewise, {times}")
}

/// Tries simpler orders than that of a run whose result differs, and returns the run with the
/// fewest interruptions. `run` runs in an order: if the same result differs there, it returns
/// where, and how often warps were interrupted. `points` is the number of accesses that other
/// threads may see; with 0, no other order is tried.
///
/// # Errors
///
/// Those of `run`.
pub fn simplest<T, E>(
    found: Differing<T>,
    (seed, points): (u64, u64),
    run: &mut dyn FnMut(DrawnOrder) -> Result<Option<(T, u64)>, E>,
) -> Result<Differing<T>, E> {
    let mut simplest = found;
    for order in candidates(seed, points) {
        // No later one has fewer.
        if simplest.interruptions == 0 {
            break;
        }
        if let Some((place, interruptions)) = run(order)?
            && interruptions < simplest.interruptions
        {
            simplest = Differing { order, place, interruptions };
        }
    }
    Ok(simplest)
}

/// Simpler orders than most that are drawn, the simplest first: the last block first, then warps
/// in the order of priorities, of which one changes at one of `points` accesses, or none does.
fn candidates(seed: u64, points: u64) -> Vec<DrawnOrder> {
    if points == 0 {
        return Vec::new();
    }
    let with = |index: u64, depth| DrawnOrder::new(seed.wrapping_add(index), Strategy::Priorities { depth, points });
    let last_first = DrawnOrder::nth(seed, 0, 0);
    std::iter::once(last_first)
        .chain((0..8).map(|index| with(index, 1)))
        .chain((0..40).map(|index| with(index, 2)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_interruptions_win_and_none_ends_the_search() {
        let found = Differing { order: DrawnOrder::nth(1, 5, 9), place: 'a', interruptions: 7 };
        let mut tried = 0;
        let left = simplest(found, (1, 9), &mut |_| {
            tried += 1;
            Ok::<_, ()>(match tried {
                2 => Some(('b', 3)),
                4 => Some(('c', 5)),
                6 => Some(('d', 0)),
                _ => None,
            })
        });
        assert_eq!((left.map(|it| it.place), tried), (Ok('d'), 6));
        let alone = simplest(found, (1, 0), &mut |_| Err(()));
        assert_eq!(alone, Ok(found));
    }
}
