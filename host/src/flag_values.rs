//! Values of flags: their defaults, and parsers of numbers, sizes and block shapes. Each parser
//! rejects bad input and says what it accepts. The flags of `host run`, of the labs and of the
//! limits use them. Pure.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Command};
use device::CacheConfig;

/// The flags' defaults.
pub fn defaults<O: Args>() -> O {
    // Every flag has a default; a test checks that for each lab.
    let matches =
        O::augment_args(Command::new("defaults").no_binary_name(true)).get_matches_from(std::iter::empty::<&str>());
    O::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// A parser of whole numbers from `least` to `most`.
pub fn whole_number<T>(least: T, most: T) -> impl Fn(&str) -> Result<T, String> + Clone
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

/// A number of bytes; the suffixes K, M, G and T multiply by powers of 1024.
pub fn bytes(text: &str) -> Result<u64, String> {
    let wrong =
        || format!("'{text}' is not a number of bytes; give a whole number, or one with K, M, G or T, as in 512M");
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
    number.ok_or_else(|| format!("'{text}' is too large; the limit is 16777215T"))
}

/// As [`bytes`], but at least 1.
pub fn some_bytes(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        0 => Err("give at least 1 byte".to_owned()),
        bytes => Ok(bytes),
    }
}

/// As [`bytes`], but at most 32 bits.
pub fn bytes32(text: &str) -> Result<u32, String> {
    bytes(text)?.try_into().map_err(|_| format!("'{text}' is too large; the limit is {}", u32::MAX))
}

/// A parser of powers of two from `least` to `most`.
pub fn power_of_two(least: u32, most: u32) -> impl Fn(&str) -> Result<u32, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number: &u32| number.is_power_of_two());
        number
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| format!("give a power of two from {least} to {most}"))
    }
}

/// A number above 0.
pub fn positive_number(text: &str) -> Result<f32, String> {
    let number = text.parse().ok().filter(|number: &f32| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| "give a number above 0".to_owned())
}

/// A number of seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .filter(|seconds: &f64| (0.001..=86_400.0).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "give a number of seconds from 0.001 to 86400".to_owned())
}

/// The values of a list, each once, in order: a value that is given twice is one variant.
pub fn each_once<T: PartialEq>(values: Vec<T>) -> Vec<T> {
    let mut once = Vec::with_capacity(values.len());
    for value in values {
        if !once.contains(&value) {
            once.push(value);
        }
    }
    once
}

/// A parser of a kernel's preference between L1 cache and shared memory.
pub fn cache_config() -> impl TypedValueParser<Value = CacheConfig> {
    let named = |name: String| match name.as_str() {
        "shared" => CacheConfig::Shared,
        "l1" => CacheConfig::L1,
        "equal" => CacheConfig::Equal,
        _ => CacheConfig::None,
    };
    PossibleValuesParser::new(["none", "shared", "l1", "equal"]).map(named)
}

/// The shape of a block.
pub fn block_shape(text: &str) -> Result<[u32; 2], String> {
    let problem = || "give X,Y: two numbers from 1 up, with at most 1024 threads in all".to_owned();
    let (x, y) = text.split_once([',', 'x']).ok_or_else(problem)?;
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|&n| n > 0);
    let shape = [number(x).ok_or_else(problem)?, number(y).ok_or_else(problem)?];
    match shape[0].checked_mul(shape[1]) {
        Some(..=1024) => Ok(shape),
        _ => Err(problem()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_and_positive_numbers() {
        assert_eq!((power_of_two(64, 1024)("64"), power_of_two(64, 1024)("1024")), (Ok(64), Ok(1024)));
        for text in ["32", "2048", "96", "0", "-64", "x", ""] {
            assert_eq!(power_of_two(64, 1024)(text), Err("give a power of two from 64 to 1024".into()), "{text}");
        }
        assert_eq!(positive_number("0.25"), Ok(0.25));
        for text in ["0", "-1", "nan", "inf", "1e60", "", "x"] {
            assert_eq!(positive_number(text), Err("give a number above 0".into()), "{text}");
        }
    }

    #[test]
    fn a_value_given_twice_counts_once() {
        assert_eq!(each_once(vec![8, 1, 8, 0, 1]), [8, 1, 0]);
    }

    #[test]
    fn block_shapes_are_read() {
        assert_eq!(block_shape("32,8"), Ok([32, 8]));
        assert_eq!(block_shape("16x16"), Ok([16, 16]));
        for text in ["", "32", "0,8", "32,0", "64,32", "-1,2", "a,b", "1,2,3", "4294967295,2"] {
            assert!(block_shape(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bytes_have_units() {
        assert_eq!(bytes("0"), Ok(0));
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("3k"), Ok(3072));
        assert_eq!(bytes("512M"), Ok(512 << 20));
        assert_eq!(bytes("16777215T"), Ok(16_777_215 << 40));
        for text in ["", "M", "-1", "+1", "1.5G", "1MB", "\u{20ac}"] {
            assert!(bytes(text).unwrap_err().contains("is not a number of bytes"), "{text}");
        }
        for text in ["16777216T", "18446744073709551616"] {
            assert!(bytes(text).unwrap_err().contains("is too large"), "{text}");
        }
        assert_eq!((some_bytes("1"), some_bytes("0K")), (Ok(1), Err("give at least 1 byte".into())));
        assert_eq!(bytes32("48K"), Ok(48 << 10));
        assert_eq!(bytes32("4G"), Err("'4G' is too large; the limit is 4294967295".into()));
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
