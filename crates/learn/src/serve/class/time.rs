//! Times on pages: in UTC, as text that every browser shows, and marked up so that a script shows
//! the reader's own time.

use class::{DAY, Millis};
use maud::{Markup, html};

use crate::calendar;

/// A date of the Gregorian calendar, and a time of the day.
#[derive(Debug, PartialEq, Eq)]
struct Utc {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
}

impl Utc {
    fn of(time: Millis) -> Self {
        let (day, rest) = (time.div_euclid(DAY), time.rem_euclid(DAY) / 1000);
        let [year, month, day] = calendar::date(day);
        Self { year, month, day, hour: rest / 3600, minute: rest / 60 % 60, second: rest % 60 }
    }
}

/// A time, for a page.
pub fn time(at: Millis) -> Markup {
    let Utc { year, month, day, hour, minute, second } = Utc::of(at);
    let date = format!("{year:04}-{month:02}-{day:02}");
    html! {
        time datetime=(format!("{date}T{hour:02}:{minute:02}:{second:02}Z")) { (date) " " (format!("{hour:02}:{minute:02}")) " UTC" }
    }
}

/// The date of a time.
pub fn date(at: Millis) -> String {
    let Utc { year, month, day, .. } = Utc::of(at);
    format!("{year:04}-{month:02}-{day:02}")
}

/// How long it is until a time, in words.
pub fn left(until: Millis, now: Millis) -> String {
    let minutes = (until - now).abs() / 60_000;
    let several = |count: i64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    match minutes {
        0..120 => several(minutes, "minute"),
        120..2880 => several(minutes / 60, "hour"),
        _ => several(minutes / 1440, "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_date_and_a_time_of_the_day() {
        let page = time(20_788 * DAY + 86_399_999).into_string();
        assert_eq!(page, "<time datetime=\"2026-12-01T23:59:59Z\">2026-12-01 23:59 UTC</time>");
    }

    #[test]
    fn what_is_left_is_said_in_its_unit() {
        let of = |minutes: i64| left(minutes * 60_000, 0);
        assert_eq!([1, 119, 120, 2879, 2880].map(of), ["1 minute", "119 minutes", "2 hours", "47 hours", "2 days"]);
        assert_eq!(left(0, 60_000), "1 minute");
    }
}
