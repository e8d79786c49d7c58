//! Reduces a kernel to the smallest part that still shows a problem: it removes statements, and
//! replaces others by their contents. The tests call it for a kernel that differs. Pure, except for
//! the check that the caller passes.

use super::*;

/// A way to make a kernel smaller at one statement.
#[derive(Clone, Copy)]
enum Cut {
    /// Remove it and those after it in its list, this many in all.
    Remove(usize),
    /// Replace it by the contents of this arm.
    KeepArm(usize),
    /// Remove its guard, or the second half of its condition.
    Unguard,
}

/// In the order in which they are tried: the largest cuts first.
const CUTS: [Cut; 9] = [
    Cut::Remove(16),
    Cut::Remove(8),
    Cut::Remove(4),
    Cut::Remove(2),
    Cut::Remove(1),
    Cut::KeepArm(0),
    Cut::KeepArm(1),
    Cut::KeepArm(2),
    Cut::Unguard,
];

impl Kernel {
    /// The kernel reduced to what `shows` needs; `shows` must hold for this kernel. A part of a
    /// valid kernel is a valid kernel.
    pub fn reduced(&self, mut shows: impl FnMut(&Self) -> bool) -> Self {
        let mut kept = self.clone();
        let mut attempt = |kept: &mut Self, smaller: Self| {
            if shows(&smaller) {
                *kept = smaller;
            }
        };
        let one_block = Self { grid: [1; 3], ..kept.clone() };
        attempt(&mut kept, one_block);
        loop {
            let before = kept.statements();
            for cut in CUTS {
                // From the end: later statements depend on earlier ones, and not the other way
                // round.
                for index in (0..kept.statements()).rev() {
                    if let Some(smaller) = kept.cut(index, cut) {
                        attempt(&mut kept, smaller);
                    }
                }
            }
            if kept.statements() == before {
                return kept;
            }
        }
    }

    /// The number of statements, including nested ones.
    pub fn statements(&self) -> usize {
        self.functions.iter().chain([&self.body]).map(|list| count(list)).sum()
    }

    /// The kernel with the statement of this number cut in this way, if it can be.
    fn cut(&self, mut index: usize, cut: Cut) -> Option<Self> {
        let mut smaller = self.clone();
        let done =
            (smaller.functions.iter_mut().chain([&mut smaller.body])).find_map(|list| cut_in(list, &mut index, cut))?;
        done.then_some(smaller)
    }
}

fn count(list: &[Statement]) -> usize {
    list.iter().map(|statement| 1 + statement.arms().iter().map(|arm| count(arm)).sum::<usize>()).sum()
}

/// Cuts at the statement that `index` counts down to. `None`: it is not in this list; `false`: it
/// cannot be cut in this way.
fn cut_in(list: &mut Vec<Statement>, index: &mut usize, cut: Cut) -> Option<bool> {
    for at in 0..list.len() {
        if *index == 0 {
            return Some(cut_at(list, at, cut));
        }
        *index -= 1;
        for arm in list[at].arms_mut() {
            if let Some(done) = cut_in(arm, index, cut) {
                return Some(done);
            }
        }
    }
    None
}

fn cut_at(list: &mut Vec<Statement>, at: usize, cut: Cut) -> bool {
    match cut {
        Cut::Remove(many) => {
            let fits = at + many <= list.len();
            if fits {
                list.drain(at..at + many);
            }
            fits
        }
        Cut::KeepArm(arm) => {
            let kept = list[at].arms_mut().into_iter().nth(arm).map(std::mem::take);
            kept.map(|kept| list.splice(at..=at, kept)).is_some()
        }
        Cut::Unguard => list[at].unguard(),
    }
}

impl Statement {
    /// The lists of statements within it.
    fn arms(&self) -> Vec<&Vec<Statement>> {
        match self {
            Self::If { then, otherwise, .. } => vec![then, otherwise],
            Self::Loop { body, .. } => vec![body],
            Self::Switch { arms, .. } => arms.iter().collect(),
            _ => Vec::new(),
        }
    }

    fn arms_mut(&mut self) -> Vec<&mut Vec<Statement>> {
        match self {
            Self::If { then, otherwise, .. } => vec![then, otherwise],
            Self::Loop { body, .. } => vec![body],
            Self::Switch { arms, .. } => arms.iter_mut().collect(),
            _ => Vec::new(),
        }
    }

    /// Removes a guard. Returns whether there was one.
    fn unguard(&mut self) -> bool {
        match self {
            Self::Operate { guard, .. }
            | Self::Load(Access { guard, .. })
            | Self::Store(Access { guard, .. })
            | Self::Atomic { guard, .. }
            | Self::Reduce { guard, .. }
            | Self::Call { choice: guard, .. }
            | Self::Wild { guard, .. } => guard.take().is_some(),
            Self::If { condition, .. } => match *condition {
                Condition::One(_) => false,
                Condition::Both(first, _) | Condition::Either(first, _) => {
                    *condition = Condition::One(first);
                    true
                }
            },
            _ => false,
        }
    }
}
