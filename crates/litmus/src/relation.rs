//! Relations between the events of an execution, as matrices of bits. An execution has at most
//! [`MOST_EVENTS`].

/// The most events of an execution: the bits of a row.
pub const MOST_EVENTS: usize = 64;

/// A set of events.
pub type Set = u64;

/// A relation: for each event, the set of those that it is related to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Relation(Vec<Set>);

/// The events of a set, in order.
pub fn members(set: Set) -> impl Iterator<Item = usize> {
    (0..MOST_EVENTS).filter(move |event| set >> event & 1 == 1)
}

impl Relation {
    /// The empty relation between so many events.
    pub fn empty(events: usize) -> Self {
        Self(vec![0; events])
    }

    /// The relation that holds where `holds` says so.
    pub fn of(events: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        let row = |from| (0..events).filter(|&to| holds(from, to)).fold(0, |row, to| row | 1 << to);
        Self((0..events).map(row).collect())
    }

    /// Relates two events.
    pub fn insert(&mut self, from: usize, to: usize) {
        self.0[from] |= 1 << to;
    }

    /// Whether two events are related.
    pub fn holds(&self, from: usize, to: usize) -> bool {
        self.0[from] >> to & 1 == 1
    }

    /// The pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.0.iter().enumerate().flat_map(|(from, &row)| members(row).map(move |to| (from, to)))
    }

    /// What is in either.
    pub fn union(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    /// What is in both.
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    /// What is in this and not in the other.
    pub fn without(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }

    /// From `a` to `c` if this relates `a` to some `b`, and `other` that to `c`.
    pub fn then(&self, other: &Self) -> Self {
        Self(self.0.iter().map(|&row| members(row).fold(0, |all, middle| all | other.0[middle])).collect())
    }

    /// The pairs that lead from one set to another.
    pub fn between(&self, from: Set, to: Set) -> Self {
        Self(self.0.iter().enumerate().map(|(event, &row)| if from >> event & 1 == 1 { row & to } else { 0 }).collect())
    }

    /// Each event related to itself, too.
    pub fn or_same(mut self) -> Self {
        for (event, row) in self.0.iter_mut().enumerate() {
            *row |= 1 << event;
        }
        self
    }

    /// The smallest transitive relation that has these pairs.
    pub fn closure(mut self) -> Self {
        for middle in 0..self.0.len() {
            let reached = self.0[middle];
            for row in &mut self.0 {
                if *row >> middle & 1 == 1 {
                    *row |= reached;
                }
            }
        }
        self
    }

    /// The pairs turned round.
    pub fn inverse(&self) -> Self {
        Self::of(self.0.len(), |from, to| self.holds(to, from))
    }

    /// Whether no event is related to itself.
    pub fn is_irreflexive(&self) -> bool {
        (0..self.0.len()).all(|event| !self.holds(event, event))
    }

    /// Whether no event leads back to itself.
    pub fn is_acyclic(&self) -> bool {
        self.clone().closure().is_irreflexive()
    }

    /// Whether it has no pairs.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&row| row == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_are_composed_and_closed() {
        let next = Relation::of(5, |from, to| to == from + 1);
        assert!(next.is_acyclic() && !next.is_empty());
        let two = next.then(&next);
        assert_eq!(two.pairs().collect::<Vec<_>>(), [(0, 2), (1, 3), (2, 4)]);
        assert_eq!(next.clone().closure(), Relation::of(5, |from, to| from < to));
        assert_eq!(next.inverse().then(&next).pairs().collect::<Vec<_>>(), [(1, 1), (2, 2), (3, 3), (4, 4)]);
        assert_eq!(next.between(0b10, 0b1100).pairs().collect::<Vec<_>>(), [(1, 2)]);
        let mut circle = next.clone();
        circle.insert(4, 0);
        assert!(circle.is_irreflexive() && !circle.is_acyclic());
        assert!(!next.clone().or_same().is_irreflexive());
        assert_eq!(next.union(&two).intersection(&two), two);
    }
}
