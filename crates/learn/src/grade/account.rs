//! The time that a student's files may take together. [`crate::grade`] has an account for each
//! student.

use std::sync::{Condvar, Mutex};

use wording::several;

/// The time that a student's files may take together, so that one student's do not keep the others
/// waiting: files that take long each cost no more than a class's files do.
pub struct Account {
    limit: u64,
    /// What the files that are judged have taken, and what those may take that are being judged.
    used: Mutex<Used>,
    /// Some were judged.
    paid: Condvar,
}

#[derive(Default)]
struct Used {
    spent_ms: u64,
    taken: u64,
}

/// Seconds that a file may take. What it does not take is given back.
pub struct Taken<'a> {
    account: &'a Account,
    /// How many.
    pub seconds: u64,
    spent_ms: u64,
}

impl Account {
    /// An account with this limit, in seconds.
    pub fn of(limit: u64) -> Self {
        Self { limit, used: Mutex::default(), paid: Condvar::new() }
    }

    /// Takes what a file may take: this, or what is left if that is less. Waits as long as files
    /// that are being judged may leave too little. `None`: nothing is left.
    pub fn take(&self, wanted: u64) -> Option<Taken<'_>> {
        let mut used = self.used.lock().expect("no job panics");
        loop {
            let left = self.limit.saturating_sub(used.spent_ms.div_ceil(1000));
            let seconds = wanted.min(left);
            if seconds == 0 {
                return None;
            }
            if used.taken + seconds <= left {
                used.taken += seconds;
                return Some(Taken { account: self, seconds, spent_ms: 0 });
            }
            used = self.paid.wait(used).expect("no job panics");
        }
    }

    /// What is said when nothing is left.
    pub fn empty(&self) -> String {
        format!(
            "the student's files together took the {} of --student-time-limit: this one was not judged to its end",
            several(self.limit as usize, "second")
        )
    }
}

impl Taken<'_> {
    /// Says what the file took.
    pub fn pay(mut self, seconds: f64) {
        self.spent_ms = (1e3 * seconds) as u64;
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut used = self.account.used.lock().expect("no job panics");
        used.taken -= self.seconds;
        used.spent_ms += self.spent_ms;
        self.account.paid.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_empty_once_the_limit_is_paid() {
        let account = Account::of(3);
        let left = || account.take(u64::MAX).map(|taken| taken.seconds);
        let pay = |seconds| account.take(1).expect("some is left").pay(seconds);
        assert_eq!(left(), Some(3));
        // A second that has begun is not given again.
        pay(0.001);
        assert_eq!(left(), Some(2));
        pay(1.0);
        assert_eq!(left(), Some(1));
        pay(0.999);
        assert_eq!(left(), Some(1));
        pay(1e6);
        assert_eq!(left(), None);
        assert!(account.empty().starts_with("the student's files together took the 3 seconds of --student-time-limit"));
        assert_eq!(Account::of(u64::MAX).take(u64::MAX).map(|taken| taken.seconds), Some(u64::MAX));
    }

    #[test]
    fn files_that_are_judged_at_once_share_an_account() {
        let account = Account::of(10);
        let first = account.take(6).expect("all is left");
        let second = account.take(4).expect("four seconds are left");
        let third = std::thread::scope(|scope| {
            let third = scope.spawn(|| account.take(6).map(|taken| taken.seconds));
            first.pay(0.5);
            second.pay(3.5);
            third.join().expect("it ends")
        });
        assert_eq!(third, Some(6));
        let mut all: Vec<Taken<'_>> = (0..2).filter_map(|_| account.take(3)).collect();
        assert_eq!(all.len(), 2);
        all.drain(..).for_each(|taken| taken.pay(9.0));
        assert!(account.take(1).is_none());
    }
}
