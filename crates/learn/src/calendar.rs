//! Dates of the Gregorian calendar. Pure.

/// The year, month and day of a day, which is counted from 1970-01-01.
pub fn date(day: i64) -> [i64; 3] {
    // Days are counted from March of the year 0, so that the day of a leap year comes last.
    let days = day + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    [year, month, of_year - (153 * from_march + 2) / 5 + 1]
}

/// Whether a text is a date such as 2026-11-29.
pub fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let has = |(part, length): (&&str, usize)| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() != 3 || !parts.iter().zip([4, 2, 2]).all(has) {
        return false;
    }
    let [year, month, day] = [0, 1, 2].map(|at| parts[at].parse::<i64>().unwrap_or(0));
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1..=12).contains(&month) && (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_one_of_the_calendar() {
        for date in ["2026-11-29", "2024-02-29", "2000-02-29", "1970-01-31", "9999-12-31"] {
            assert!(is_date(date), "{date}");
        }
        for text in [
            "9999-99-99",
            "2026-02-29",
            "2100-02-29",
            "2026-11-31",
            "2026-00-01",
            "2026-01-00",
            "2026-1-01",
            "+026-01-01",
            "2026-01-01-",
            "",
            "today",
            "2026-11-2\u{669}",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (day, expected) in [
            (0, [1970, 1, 1]),
            (58, [1970, 2, 28]),
            (59, [1970, 3, 1]),
            (11_016, [2000, 2, 29]),
            (19_782, [2024, 2, 29]),
            (20_788, [2026, 12, 1]),
            (-1, [1969, 12, 31]),
            (47_540, [2100, 2, 28]),
            (47_541, [2100, 3, 1]),
        ] {
            assert_eq!(date(day), expected);
        }
    }
}
