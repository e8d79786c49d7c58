//! Numbers as flags have them: what is no such number is refused with what would be one, in the same words everywhere.

use std::fmt::Display;
use std::str::FromStr;

/// What reads a whole number from `least` to `most`.
pub(crate) fn whole_number<T>(least: T, most: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static,
{
    move |text| {
        text.parse()
            .ok()
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| format!("give a whole number from {least} to {most}"))
    }
}

/// A number of bytes, in units of 1024, 1024^2, 1024^3 or 1024^4 if a letter says so.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("'{text}' is no number of bytes; give a whole number, or one with K, M, G or T, as in 512M");
    let (digits, shift) = match text.chars().last() {
        Some('k' | 'K') => (&text[..text.len() - 1], 10),
        Some('m' | 'M') => (&text[..text.len() - 1], 20),
        Some('g' | 'G') => (&text[..text.len() - 1], 30),
        Some('t' | 'T') => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    if digits.is_empty() || digits.contains(|character: char| !character.is_ascii_digit()) {
        return Err(wrong());
    }
    let number = digits.parse().ok().and_then(|number: u64| number.checked_mul(1 << shift));
    number.ok_or_else(|| format!("'{text}' is too large; 16777215T is the most"))
}

/// The same where 32 bits hold the number.
pub(crate) fn bytes32(text: &str) -> Result<u32, String> {
    bytes(text)?.try_into().map_err(|_| format!("'{text}' is too large; {} is the most", u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        assert_eq!(bytes("0"), Ok(0));
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("3k"), Ok(3072));
        assert_eq!(bytes("512M"), Ok(512 << 20));
        assert_eq!(bytes("16777215T"), Ok(16_777_215 << 40));
        for text in ["", "M", "-1", "+1", "1.5G", "1MB", "\u{20ac}"] {
            assert!(bytes(text).unwrap_err().contains("is no number of bytes"), "{text}");
        }
        for text in ["16777216T", "18446744073709551616"] {
            assert!(bytes(text).unwrap_err().contains("is too large"), "{text}");
        }
        assert_eq!(bytes32("48K"), Ok(48 << 10));
        assert_eq!(bytes32("4G"), Err("'4G' is too large; 4294967295 is the most".into()));
    }

    #[test]
    fn whole_numbers_have_bounds() {
        let percent = whole_number(1, 100u8);
        assert_eq!((percent("1"), percent("100")), (Ok(1), Ok(100)));
        for text in ["0", "101", "256", "-1", "1.5", "", "x"] {
            assert_eq!(percent(text), Err("give a whole number from 1 to 100".into()), "{text}");
        }
    }
}
