//! How often one may ask: a bucket for each student or address, which fills with time. Pure, with
//! the time given.
//!
//! *Invariant:* it keeps at most [`MOST`] buckets, whoever asks.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The most buckets. Full ones are forgotten first.
const MOST: usize = 50_000;

/// The least time between two searches for full buckets.
const SEARCH: Duration = Duration::from_secs(1);

/// How many requests at once, and how many more each minute.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    pub burst: u32,
    pub each_minute: u32,
}

/// The buckets, by whom they are for.
#[derive(Debug)]
pub struct Limiter<K> {
    rate: Rate,
    buckets: Mutex<Buckets<K>>,
}

#[derive(Debug)]
struct Buckets<K> {
    of: HashMap<K, Bucket>,
    searched: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// What is left, and when that was so.
    left: f64,
    at: Duration,
}

impl<K: Eq + Hash> Limiter<K> {
    pub fn new(rate: Rate) -> Self {
        Self { rate, buckets: Mutex::new(Buckets { of: HashMap::new(), searched: None }) }
    }

    /// Whether one more is allowed now, which is then taken.
    pub fn takes(&self, key: K, now: Duration) -> bool {
        let Rate { burst, each_minute } = self.rate;
        let full = f64::from(burst);
        let filled = |bucket: &Bucket| {
            let passed = now.saturating_sub(bucket.at).as_secs_f64();
            (bucket.left + passed * f64::from(each_minute) / 60.0).min(full)
        };
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.of.len() >= MOST && !buckets.of.contains_key(&key) {
            if buckets.searched.is_none_or(|at| now.saturating_sub(at) >= SEARCH) {
                buckets.searched = Some(now);
                buckets.of.retain(|_, bucket| filled(bucket) < full);
            }
            if buckets.of.len() >= MOST {
                return false;
            }
        }
        let left = buckets.of.get(&key).map_or(full, filled);
        let allowed = left >= 1.0;
        buckets.of.insert(key, Bucket { left: if allowed { left - 1.0 } else { left }, at: now });
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { burst: 3, each_minute: 60 };

    #[test]
    fn a_bucket_is_emptied_and_fills_with_time() {
        let limiter = Limiter::new(RATE);
        let ask = |key, seconds| limiter.takes(key, Duration::from_secs(seconds));
        assert_eq!([0; 4].map(|at| ask("a", at)), [true, true, true, false]);
        assert!(ask("b", 0));
        assert_eq!([1, 1, 3, 3, 3].map(|at| ask("a", at)), [true, false, true, true, false]);
        // It holds no more than at first, and a clock that goes back does no harm.
        assert_eq!([900, 900, 900, 900, 2].map(|at| ask("a", at)), [true, true, true, false, false]);
    }

    #[test]
    fn buckets_are_bounded() {
        let limiter = Limiter::new(RATE);
        assert!((0..MOST).all(|key| limiter.takes(key, Duration::ZERO)));
        assert!(!limiter.takes(MOST, Duration::ZERO) && limiter.takes(7, Duration::ZERO));
        assert!(limiter.takes(MOST, Duration::from_secs(2)));
        assert!(limiter.buckets.lock().unwrap().of.len() <= 2);
    }
}
