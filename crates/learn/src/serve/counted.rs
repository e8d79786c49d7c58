//! How many there may be at once: in all, and of one.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Those that are open, by whom they are for. Clones count the same.
#[derive(Debug)]
pub struct Counted<K> {
    open: Arc<Mutex<HashMap<K, usize>>>,
    most: usize,
    most_of_one: usize,
}

/// One of them, until it is dropped.
#[derive(Debug)]
pub struct Open<K: Eq + Hash> {
    of: Arc<Mutex<HashMap<K, usize>>>,
    key: Option<K>,
}

impl<K: Clone + Eq + Hash> Counted<K> {
    pub fn new(most: usize, most_of_one: usize) -> Self {
        Self { open: Arc::default(), most, most_of_one }
    }

    /// One more; `None` if there are too many.
    pub fn open(&self, key: K) -> Option<Open<K>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let own = open.get(&key).copied().unwrap_or(0);
        if own >= self.most_of_one || open.values().sum::<usize>() >= self.most {
            return None;
        }
        open.insert(key.clone(), own + 1);
        Some(Open { of: Arc::clone(&self.open), key: Some(key) })
    }
}

impl<K: Eq + Hash> Drop for Open<K> {
    fn drop(&mut self) {
        let mut open = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(key) = self.key.take() else { return };
        match open.get(&key).map_or(0, |own| own - 1) {
            0 => open.remove(&key),
            left => open.insert(key, left),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_so_many_and_all_have_so_many() {
        let counted = Counted::new(4, 3);
        let mut open: Vec<_> = (0..3).map(|_| counted.open("anna").unwrap()).collect();
        assert!(counted.open("anna").is_none());
        open.push(counted.open("ben").unwrap());
        assert!(counted.open("cleo").is_none());
        open.remove(0);
        assert!(counted.open("anna").is_some());
        drop(open);
        assert!(counted.open.lock().unwrap().is_empty());
    }
}
