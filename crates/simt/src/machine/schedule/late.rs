//! Which store instructions are late in a drawn order: see
//! [`DrawnOrder::late`](crate::orders::DrawnOrder::late).

use ptx::Space;

use crate::program::{Action, Code};

/// The indices in [`Code::places`] of the instructions whose stores may be late, in the order of
/// the text. None if no thread can notice without a race: nothing in the kernel is atomic, nor
/// reads strongly.
pub(super) fn stores(code: &Code) -> Vec<u32> {
    if !is_noticed(code) {
        return Vec::new();
    }
    let may_be_late = |action: &Action| match action {
        Action::Store(store) => {
            let order = &store.operation.order;
            is_seen(store.reach.space) && order.releases.is_none() && !order.volatile
        }
        _ => false,
    };
    let stores = code.instructions.iter().filter(|instruction| may_be_late(&instruction.action));
    let mut places: Vec<u32> = stores.map(|instruction| instruction.place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// Whether a thread can notice without a race in which order others see its accesses: something in
/// the kernel is atomic, or reads strongly.
pub(super) fn is_noticed(code: &Code) -> bool {
    let notices = |action: &Action| match action {
        Action::Store(_) => false,
        other => other.access().is_some_and(|(operation, reach)| operation.order.strong && is_seen(reach.space)),
    };
    code.instructions.iter().any(|instruction| notices(&instruction.action))
}

/// Whether other threads may see what is in this state space.
fn is_seen(space: Space) -> bool {
    matches!(space, Space::Global | Space::Shared | Space::Generic)
}

/// For each place, whether its stores are late with this value of `late`; empty if none is.
pub(super) fn of(stores: &[u32], places: usize, late: u32) -> Vec<bool> {
    let Some(pattern) = late.checked_sub(1) else { return Vec::new() };
    let (bit, value) = (pattern / 2, u64::from(pattern % 2 == 0));
    let mut all = vec![false; places];
    for (number, &place) in (0u64..).zip(stores) {
        all[place as usize] = number.checked_shr(bit).unwrap_or(0) & 1 == value;
    }
    all
}

/// The largest value of `late` that is needed for so many instructions.
pub(super) fn most(stores: usize) -> u32 {
    match stores {
        0 => 0,
        // The only one is late with 2.
        _ => 2 * (usize::BITS - (stores - 1).leading_zeros()).max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::{most, of};

    #[test]
    fn each_two_instructions_are_apart_in_both_directions() {
        for count in 1..20u32 {
            let stores: Vec<u32> = (0..count).map(|number| 3 * number + 1).collect();
            let all: Vec<Vec<bool>> = (0..=most(count as usize)).map(|late| of(&stores, 64, late)).collect();
            assert!(all[0].is_empty());
            for &one in &stores {
                assert!(all[1..].iter().any(|late| late[one as usize]), "{count}: {one}");
                for &other in stores.iter().filter(|&&other| other != one) {
                    let apart = |late: &Vec<bool>| late[one as usize] && !late[other as usize];
                    assert!(all[1..].iter().any(apart), "{count}: {one}, {other}");
                }
            }
            assert!(all[1..].iter().all(|late| (0..64).all(|place| stores.contains(&place) || !late[place as usize])));
        }
        assert_eq!(most(0), 0);
        // Any number that a user may give.
        assert_eq!(of(&[0, 1], 2, u32::MAX), [false, false]);
        assert_eq!(of(&[0, 1], 2, u32::MAX - 1), [true, true]);
    }
}
