//! The processor time of processes, so that a file's time limit is the same on a busy machine as on
//! an idle one. Linux says it in `/proc`; elsewhere it is not known, and the clock alone counts.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::time::Duration;

/// Linux says times in hundredths of a second, whatever its own tick is.
const TICKS: u64 = 100;

/// A process that gets no processor ends after so many times its time limit.
const PATIENCE: u32 = 10;

/// Whether the time of a process is up that began so long ago: by the clock, and by the processor
/// time that it has taken, if that is known.
pub fn is_up(elapsed: Duration, limit: Duration, taken: impl FnOnce() -> Option<Duration>) -> bool {
    elapsed >= limit && (elapsed >= limit.saturating_mul(PATIENCE) || taken().is_none_or(|taken| taken >= limit))
}

/// The processor time of this process and of its children that have ended. It can be asked for in a
/// sandbox, too.
pub struct OwnTime(Option<File>);

impl OwnTime {
    /// Opens what the system says of this process.
    pub fn new() -> Self {
        Self(File::open("/proc/self/stat").ok())
    }

    /// `None` if the system does not say.
    pub fn taken(&mut self) -> Option<Duration> {
        let file = self.0.as_mut()?;
        let mut text = String::new();
        file.rewind().and_then(|()| file.read_to_string(&mut text)).ok()?;
        of_stat(&text).map(|(_, taken)| taken)
    }
}

/// The processor time of all processes of a group, and of their children that have ended. `None` if
/// the system does not say.
pub fn of_group(group: u32) -> Option<Duration> {
    let processes = fs::read_dir("/proc").ok()?.filter_map(Result::ok);
    let stats = processes.filter_map(|process| fs::read_to_string(process.path().join("stat")).ok());
    stats.filter_map(|text| of_stat(&text)).filter(|&(of, _)| of == group).map(|(_, taken)| taken).reduce(|a, b| a + b)
}

/// The group and the processor time, of the text of a process's `stat`: those are the third field
/// and the twelfth to the fifteenth behind the name, which may contain anything.
fn of_stat(text: &str) -> Option<(u32, Duration)> {
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let ticks = fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok()).sum::<Option<u64>>()?;
    Some((fields.get(2)?.parse().ok()?, Duration::from_millis(ticks.saturating_mul(1000 / TICKS))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn time_that_others_take_does_not_count() {
        let up = |elapsed, taken: Option<u64>| is_up(seconds(elapsed), seconds(60), || taken.map(seconds));
        assert!(!up(59, Some(200)));
        assert!(up(60, Some(60)));
        assert!(!up(60, Some(59)) && !up(599, Some(3)));
        assert!(up(600, Some(3)));
        assert!(up(60, None) && !up(59, None));
        // Any limit that a user may give.
        assert!(!is_up(seconds(1), seconds(u64::MAX), || None));
    }

    #[test]
    fn names_of_processes_may_contain_anything() {
        let stat = "7 (a) S 1 2) R 1 42 3 4 5 6 7 8 9 10 100 50 30 20 20 0 1";
        assert_eq!(of_stat(stat), Some((42, seconds(2))));
        for wrong in
            ["", "7 (a) R 1", "7 (a) R 1 42 3 4 5 6 7 8 9 10 x 50 30 20", "7 (a) R 1 42 3 4 5 6 7 8 9 10 1 2 3"]
        {
            assert_eq!(of_stat(wrong), None, "{wrong}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_takes_time_and_is_in_a_group() {
        let mut own = OwnTime::new();
        let before = own.taken().expect("Linux says it");
        // Until there is more to see, which takes a hundredth of a second of processor time.
        while own.taken().is_some_and(|now| now == before) {
            std::hint::black_box((0..1 << 16).map(std::hint::black_box).sum::<u64>());
        }
        let group = rustix::process::getpgrp().as_raw_nonzero().get().cast_unsigned();
        assert!(of_group(group).expect("this process is one of them") > Duration::ZERO);
        assert_eq!(of_group(u32::MAX), None);
    }
}
