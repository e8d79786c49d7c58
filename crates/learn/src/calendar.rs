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

#[cfg(test)]
mod tests {
    use super::*;

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
