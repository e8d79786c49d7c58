//! Formats numbers for people: memory sizes, times, percentages and ratios. Tables, reports and
//! messages call it. Pure.

/// Bytes in milliseconds as GB/s (10^9 bytes).
pub fn gigabytes_per_second(bytes: u64, milliseconds: f64) -> f64 {
    bytes as f64 / milliseconds / 1e6
}

/// A number of things: `1 byte`, `2 bytes`.
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A size in bytes with a binary prefix, three digits: `512 B`, `1.50 GiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1024.0;
    let mut unit = 0;
    // 1023.95 would be printed as "1024".
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", three_digits(value), UNITS[unit])
}

/// A time in milliseconds with the unit that suits it: `950 ns`, `12.3 us`, `4.56 ms`, `1.20 s`.
pub fn milliseconds(time: f64) -> String {
    let (value, unit) = if time < 0.001 {
        (time * 1e6, "ns")
    } else if time < 1.0 {
        (time * 1e3, "us")
    } else if time < 1000.0 {
        (time, "ms")
    } else {
        (time / 1e3, "s")
    };
    format!("{} {unit}", three_digits(value))
}

/// At least three significant digits and no exponent: `0.123`, `4.56`, `78.9`, `1234`.
pub fn three_digits(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude < 0.9995 {
        format!("{value:.3}")
    } else if magnitude < 9.995 {
        format!("{value:.2}")
    } else if magnitude < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// A percentage with three significant digits: `12.5 %`, `100 %`.
pub fn percent(value: f64) -> String {
    format!("{} %", three_digits(value))
}

/// A ratio of times in words: `1.35 times as fast` or `3.11 times as slow`, and `as fast` if the
/// two differ by at most 2 %. The sentence continues with "as".
pub fn as_fast(ratio: f64) -> String {
    if (ratio - 1.0).abs() <= 0.02 {
        "as fast".to_owned()
    } else if ratio > 1.0 {
        format!("{} times as fast", three_digits(ratio))
    } else {
        format!("{} times as slow", three_digits(1.0 / ratio))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_words() {
        assert_eq!(
            [1.35, 1.015, 0.985, 0.5].map(as_fast),
            ["1.35 times as fast", "as fast", "as fast", "2.00 times as slow"]
        );
    }

    #[test]
    fn sizes() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (1024 * 1024 - 1, "1.00 MiB"),
            (52_428_800, "50.0 MiB"),
            (150_000_000_000, "140 GiB"),
            (u64::MAX, "16.0 EiB"),
        ];
        for (count, text) in cases {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn times() {
        let cases = [(0.0005, "500 ns"), (0.0123, "12.3 us"), (4.5678, "4.57 ms"), (1200.0, "1.20 s")];
        for (time, text) in cases {
            assert_eq!(milliseconds(time), text);
        }
    }
}
