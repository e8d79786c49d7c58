//! Times on pages: in UTC, as text that every browser shows, and marked up so that a script shows
//! the reader's own time.

use class::{DAY, Millis};
use maud::{Markup, html};

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
    /// Days are counted from March of the year 0, so that the day of a leap year comes last.
    fn of(time: Millis) -> Self {
        let (days, rest) = (time.div_euclid(DAY) + 719_468, time.rem_euclid(DAY) / 1000);
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        let day = of_year - (153 * from_march + 2) / 5 + 1;
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
    fn dates_are_those_of_the_calendar() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (19_782, "2024-02-29"),
            (20_788, "2026-12-01"),
            (-1, "1969-12-31"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(days * DAY), expected);
        }
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
