//! Formats the output of a kernel's `printf` (CUDA programming guide, "Formatted Output"; C17,
//! 7.21.6.1).
//!
//! The driver has the host's `printf` write the text, so the forms are those of C:
//! `%[flags][width][.precision][size]type` with the flags `#`, `0`, `-`, `+` and space, `*` for
//! width and precision, the sizes `hh`, `h`, `l`, `ll`, `j`, `z`, `t` and the types `d i o u x X c
//! s p f F e E g G a A %`. Anything else is printed verbatim.

/// Provides the arguments and strings of a format.
pub(crate) trait Source {
    /// Why something cannot be read.
    type Error;

    /// The next argument, of 4 or 8 bytes.
    fn argument(&mut self, bytes: u32) -> Result<u64, Self::Error>;

    /// The bytes of a string up to its zero, or up to `limit`.
    fn string(&mut self, address: u64, limit: usize) -> Result<Vec<u8>, Self::Error>;
}

/// The most bytes of a string that are read: a string longer than the whole output buffer is the
/// program's error.
pub(crate) const STRING_LIMIT: usize = 1 << 20;
/// The widest field, and the most digits. Rust formats at most `u16::MAX` digits, and `%g` asks for
/// a few more than it is given.
const FIELD_LIMIT: usize = 65_000;

/// A conversion specification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Conversion {
    alternate: bool,
    zero: bool,
    left: bool,
    plus: bool,
    space: bool,
    width: usize,
    precision: Option<usize>,
    /// Bytes of an integer: 1 and 2 are passed as 4.
    bytes: u32,
}

/// Writes the text of a format and its arguments to `out`, about [`STRING_LIMIT`] bytes at most.
/// Returns the number of arguments used.
pub(crate) fn format<S: Source>(format: &[u8], source: &mut S, out: &mut Vec<u8>) -> Result<u32, S::Error> {
    let mut taken = 0;
    let mut rest = format;
    while let Some(at) = rest.iter().position(|&byte| byte == b'%') {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let (length, consumed) = convert(rest, source, out)?;
        taken += consumed;
        rest = &rest[length..];
        if out.len() >= STRING_LIMIT {
            return Ok(taken);
        }
    }
    out.extend_from_slice(rest);
    Ok(taken)
}

/// Writes the conversion that `text` starts with. Returns its length and the number of arguments
/// used.
fn convert<S: Source>(text: &[u8], source: &mut S, out: &mut Vec<u8>) -> Result<(usize, u32), S::Error> {
    let mut conversion = Conversion { bytes: 4, ..Conversion::default() };
    let mut at = 1;
    let mut taken = 0;
    let byte = |at: usize| text.get(at).copied().unwrap_or(0);
    loop {
        match byte(at) {
            b'#' => conversion.alternate = true,
            b'0' => conversion.zero = true,
            b'-' => conversion.left = true,
            b'+' => conversion.plus = true,
            b' ' => conversion.space = true,
            _ => break,
        }
        at += 1;
    }
    let number = |at: &mut usize| {
        let mut value = 0usize;
        while byte(*at).is_ascii_digit() {
            value = value.saturating_mul(10).saturating_add(usize::from(byte(*at) - b'0'));
            *at += 1;
        }
        value.min(FIELD_LIMIT)
    };
    if byte(at) == b'*' {
        let width = source.argument(4)? as i32;
        conversion.left |= width < 0;
        conversion.width = (width.unsigned_abs() as usize).min(FIELD_LIMIT);
        (at, taken) = (at + 1, taken + 1);
    } else {
        conversion.width = number(&mut at);
    }
    if byte(at) == b'.' {
        at += 1;
        if byte(at) == b'*' {
            let precision = source.argument(4)? as i32;
            conversion.precision = usize::try_from(precision).ok().map(|precision| precision.min(FIELD_LIMIT));
            (at, taken) = (at + 1, taken + 1);
        } else {
            conversion.precision = Some(number(&mut at));
        }
    }
    let sizes: [(&[u8], u32); 8] =
        [(b"hh", 1), (b"h", 2), (b"ll", 8), (b"l", 8), (b"j", 8), (b"z", 8), (b"t", 8), (b"L", 8)];
    let rest = text.get(at..).unwrap_or_default();
    if let Some((name, bytes)) = sizes.iter().find(|(name, _)| rest.starts_with(name)) {
        conversion.bytes = *bytes;
        at += name.len();
    }
    let kind = byte(at);
    at += 1;
    let argument = |source: &mut S| source.argument(conversion.bytes.max(4));
    match kind {
        b'%' => {
            out.push(b'%');
            return Ok((at, taken));
        }
        b'd' | b'i' => signed(&conversion, argument(source)?, out),
        b'u' | b'o' | b'x' | b'X' => unsigned(&conversion, kind, argument(source)?, out),
        b'c' => pad(&conversion, &[], &[argument(source)? as u8], false, out),
        b's' => {
            let address = source.argument(8)?;
            let limit = conversion.precision.unwrap_or(STRING_LIMIT);
            let bytes = if address == 0 { b"(null)".to_vec() } else { source.string(address, limit)? };
            pad(&conversion, &[], &bytes[..bytes.len().min(limit)], false, out);
        }
        b'p' => match source.argument(8)? {
            0 => pad(&conversion, &[], b"(nil)", false, out),
            address => pad(&conversion, &[], format!("{address:#x}").as_bytes(), false, out),
        },
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            float(&conversion, kind, f64::from_bits(source.argument(8)?), out);
        }
        _ => {
            let end = at.min(text.len());
            out.extend_from_slice(&text[..end]);
            return Ok((end, taken));
        }
    }
    Ok((at, taken + 1))
}

/// Writes a sign or prefix and digits in a field. `zeros`: the field may be filled with zeros.
fn pad(conversion: &Conversion, prefix: &[u8], digits: &[u8], zeros: bool, out: &mut Vec<u8>) {
    let missing = conversion.width.saturating_sub(prefix.len() + digits.len());
    let fill = |out: &mut Vec<u8>, byte| out.extend(std::iter::repeat_n(byte, missing));
    let zeros = zeros && conversion.zero && !conversion.left;
    if !conversion.left && !zeros {
        fill(out, b' ');
    }
    out.extend_from_slice(prefix);
    if zeros {
        fill(out, b'0');
    }
    out.extend_from_slice(digits);
    if conversion.left {
        fill(out, b' ');
    }
}

/// The sign of a number, by the flags.
fn sign(conversion: &Conversion, negative: bool) -> &'static [u8] {
    match (negative, conversion.plus, conversion.space) {
        (true, ..) => b"-",
        (false, true, _) => b"+",
        (false, false, true) => b" ",
        _ => b"",
    }
}

/// Digits, padded with zeros to the precision. Zero with precision 0 has no digits.
fn digits_of(conversion: &Conversion, digits: String, zero: bool) -> String {
    match conversion.precision {
        Some(0) if zero => String::new(),
        Some(precision) => format!("{digits:0>precision$}"),
        None => digits,
    }
}

fn signed(conversion: &Conversion, argument: u64, out: &mut Vec<u8>) {
    let value = match conversion.bytes {
        1 => i64::from(argument as i8),
        2 => i64::from(argument as i16),
        4 => i64::from(argument as i32),
        _ => argument as i64,
    };
    let digits = digits_of(conversion, value.unsigned_abs().to_string(), value == 0);
    pad(conversion, sign(conversion, value < 0), digits.as_bytes(), conversion.precision.is_none(), out);
}

fn unsigned(conversion: &Conversion, kind: u8, argument: u64, out: &mut Vec<u8>) {
    let value = if conversion.bytes == 8 { argument } else { argument & ((1 << (8 * conversion.bytes)) - 1) };
    let digits = match kind {
        b'o' => format!("{value:o}"),
        b'x' => format!("{value:x}"),
        b'X' => format!("{value:X}"),
        _ => value.to_string(),
    };
    let mut digits = digits_of(conversion, digits, value == 0);
    let mut prefix: &[u8] = b"";
    if conversion.alternate {
        match kind {
            b'o' if !digits.starts_with('0') => digits.insert(0, '0'),
            b'x' if value != 0 => prefix = b"0x",
            b'X' if value != 0 => prefix = b"0X",
            _ => {}
        }
    }
    pad(conversion, prefix, digits.as_bytes(), conversion.precision.is_none(), out);
}

fn float(conversion: &Conversion, kind: u8, value: f64, out: &mut Vec<u8>) {
    let upper = kind.is_ascii_uppercase();
    let mut prefix = sign(conversion, value.is_sign_negative()).to_vec();
    let magnitude = value.abs();
    if !value.is_finite() {
        let name = if value.is_nan() { "nan" } else { "inf" };
        let name = if upper { name.to_uppercase() } else { name.to_owned() };
        return pad(conversion, &prefix, name.as_bytes(), false, out);
    }
    let precision = conversion.precision.unwrap_or(6);
    let mut text = match kind.to_ascii_lowercase() {
        b'f' => fixed(magnitude, precision, conversion.alternate),
        b'e' => exponential(magnitude, precision, conversion.alternate),
        b'g' => general(magnitude, precision, conversion.alternate),
        _ => {
            prefix.extend_from_slice(b"0x");
            hexadecimal(magnitude, conversion.precision, conversion.alternate)
        }
    };
    if upper {
        text.make_ascii_uppercase();
        prefix.make_ascii_uppercase();
    }
    pad(conversion, &prefix, text.as_bytes(), true, out);
}

fn fixed(value: f64, precision: usize, point: bool) -> String {
    let point = if point && precision == 0 { "." } else { "" };
    format!("{value:.precision$}{point}")
}

/// The digits of `%e`, and its exponent.
fn scientific(value: f64, precision: usize) -> (String, i32) {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

fn with_exponent(digits: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

fn exponential(value: f64, precision: usize, point: bool) -> String {
    let (mut digits, exponent) = scientific(value, precision);
    if point && precision == 0 {
        digits.push('.');
    }
    with_exponent(&digits, exponent)
}

fn general(value: f64, precision: usize, alternate: bool) -> String {
    let precision = precision.max(1);
    let (digits, exponent) = scientific(value, precision - 1);
    let trim = |text: String| match text.contains('.') && !alternate {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    if exponent >= -4 && exponent < precision as i32 {
        return trim(fixed(value, (precision as i32 - 1 - exponent) as usize, alternate));
    }
    let digits = if alternate && precision == 1 { digits + "." } else { digits };
    with_exponent(&trim(digits), exponent)
}

/// `1.8p+1`: the mantissa in hexadecimal digits, rounded to nearest even if there are fewer than
/// 13.
fn hexadecimal(value: f64, precision: Option<usize>, point: bool) -> String {
    const DIGITS: usize = 13;
    let bits = value.to_bits();
    let (exponent, mantissa) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let (mut lead, exponent) = match (exponent, mantissa) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1, exponent - 1023),
    };
    let mut fraction = mantissa;
    let mut digits = DIGITS;
    match precision {
        Some(wanted) if wanted < DIGITS => {
            let drop = 4 * (DIGITS - wanted) as u32;
            let whole = u64::from(lead == 1) << 52 | fraction;
            let (kept, rest, half) = (whole >> drop, whole & ((1 << drop) - 1), 1 << (drop - 1));
            let rounded = kept + u64::from(rest > half || rest == half && kept & 1 == 1);
            (lead, fraction, digits) = (rounded >> (4 * wanted), rounded & ((1 << (4 * wanted)) - 1), wanted);
        }
        Some(_) => {}
        None => {
            while digits > 0 && fraction & 15 == 0 {
                (fraction, digits) = (fraction >> 4, digits - 1);
            }
        }
    }
    let mut text = lead.to_string();
    if digits > 0 || point || precision.is_some_and(|precision| precision > 0) {
        text.push('.');
    }
    if digits > 0 {
        text.push_str(&format!("{fraction:0digits$x}"));
    }
    text.extend(std::iter::repeat_n('0', precision.map_or(0, |precision| precision.saturating_sub(DIGITS))));
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{text}p{sign}{}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arguments one after the other, and one string at every address.
    struct Given(Vec<u64>);

    impl Source for Given {
        type Error = ();
        fn argument(&mut self, bytes: u32) -> Result<u64, ()> {
            let value = if self.0.is_empty() { return Err(()) } else { self.0.remove(0) };
            Ok(if bytes == 4 { value & 0xffff_ffff } else { value })
        }
        fn string(&mut self, _: u64, limit: usize) -> Result<Vec<u8>, ()> {
            Ok(b"warp"[..limit.min(4)].to_vec())
        }
    }

    fn text(form: &str, arguments: &[u64]) -> String {
        let mut out = Vec::new();
        let mut given = Given(arguments.to_vec());
        assert_eq!(format(form.as_bytes(), &mut given, &mut out), Ok(arguments.len() as u32), "{form}");
        String::from_utf8(out).unwrap()
    }

    /// Each expectation is what glibc's `printf` writes.
    #[test]
    fn integers() {
        let minus = -5i64 as u64;
        assert_eq!(text("[%d]", &[minus]), "[-5]");
        assert_eq!(text("[%5d|%-5d|%05d|%+d|% d]", &[7, 7, 7, 7, 7]), "[    7|7    |00007|+7| 7]");
        assert_eq!(text("[%.3d|%6.3d|%06.3d|%.0d]", &[7, 7, 7, 0]), "[007|   007|   007|]");
        assert_eq!(text("[%u|%lu|%llu]", &[u64::MAX, u64::MAX, 1]), "[4294967295|18446744073709551615|1]");
        assert_eq!(text("[%ld|%lld|%hd|%hhd]", &[minus, minus, 0x1_8000, 0x180]), "[-5|-5|-32768|-128]");
        assert_eq!(text("[%x|%X|%#x|%#X|%#x|%o|%#o]", &[255, 255, 255, 255, 0, 8, 8]), "[ff|FF|0xff|0XFF|0|10|010]");
        assert_eq!(text("[%#010x|%08X|%-#8x|]", &[0xbeef, 0xbeef, 0xbeef]), "[0x0000beef|0000BEEF|0xbeef  |]");
        assert_eq!(text("[%*d|%-*d|%*d|%.*d]", &[5, 7, 5, 7, -5i64 as u64, 7, 3, 7]), "[    7|7    |7    |007]");
    }

    #[test]
    fn characters_strings_and_pointers() {
        assert_eq!(text("[%c|%3c|%-3c]", &[65, 66, 67]), "[A|  B|C  ]");
        assert_eq!(text("[%s|%6s|%-6s|%.2s|%6.2s]", &[1, 1, 1, 1, 1]), "[warp|  warp|warp  |wa|    wa]");
        assert_eq!(text("[%s|%p|%p|%12p]", &[0, 0, 0x7000_0010, 0x10]), "[(null)|(nil)|0x70000010|        0x10]");
        assert_eq!(text("100%% %% %q %", &[]), "100% % %q %");
    }

    #[test]
    fn floats() {
        let of = |form: &str, value: f64| text(form, &[value.to_bits()]);
        assert_eq!(of("%f", 1.5), "1.500000");
        assert_eq!(of("%.0f", 2.5), "2");
        assert_eq!(of("%#.0f", 3.5), "4.");
        assert_eq!(of("%.3f", -0.0005), "-0.001");
        assert_eq!(of("%10.2f", 3.25159), "      3.25");
        assert_eq!(of("%-10.2f|", 3.25159), "3.25      |");
        assert_eq!(of("%010.2f", -3.25159), "-000003.25");
        assert_eq!(of("%f", 1e22), "10000000000000000000000.000000");
        assert_eq!(of("%e", 12345.678), "1.234568e+04");
        assert_eq!(of("%.0e", 12345.678), "1e+04");
        assert_eq!(of("%E", 1e-300), "1.000000E-300");
        assert_eq!(of("%e", 0.0), "0.000000e+00");
        assert_eq!(of("%g", 0.0001), "0.0001");
        assert_eq!(of("%g", 0.00001), "1e-05");
        assert_eq!(of("%g", 123456.0), "123456");
        assert_eq!(of("%g", 1234567.0), "1.23457e+06");
        assert_eq!(of("%#g", 1.5), "1.50000");
        assert_eq!(of("%.3g", 999.9), "1e+03");
        assert_eq!(of("%G", 1e-10), "1E-10");
        assert_eq!(of("%g", 0.0), "0");
        assert_eq!(of("%a", 3.0), "0x1.8p+1");
        assert_eq!(of("%a", 1.0), "0x1p+0");
        assert_eq!(of("%A", -0.1), "-0X1.999999999999AP-4");
        assert_eq!(of("%.2a", 1.999), "0x2.00p+0");
        assert_eq!(of("%.1a", 1.96875), "0x2.0p+0");
        assert_eq!(of("%.0a", 1.5), "0x2p+0");
        assert_eq!(of("%a", 5e-324), "0x0.0000000000001p-1022");
        assert_eq!(of("%a", 0.0), "0x0p+0");
        assert_eq!(of("%.15a", 1.0), "0x1.000000000000000p+0");
        assert_eq!(of("%5f", f64::INFINITY), "  inf");
        assert_eq!(of("%05f", f64::NEG_INFINITY), " -inf");
        assert_eq!(of("%F", f64::NAN), "NAN");
        assert_eq!(of("%+.1f", 0.25), "+0.2");
    }

    #[test]
    fn no_field_is_too_wide() {
        let length = |form: &str, arguments: &[u64]| {
            let mut out = Vec::new();
            format(form.as_bytes(), &mut Given(arguments.to_vec()), &mut out).unwrap();
            out.len()
        };
        for kind in ["d", "x", "s", "c", "p", "f", "e", "g", "a", "G", "#g"] {
            let (flag, kind) = if let Some(kind) = kind.strip_prefix('#') { ("#", kind) } else { ("", kind) };
            for value in [0, 1, 0.0001f64.to_bits(), f64::MAX.to_bits(), f64::NAN.to_bits()] {
                for form in ["99999999999999999999", ".2147483647", "2147483647.2147483647", ".65535", ".65536"] {
                    let length = length(&format!("%{flag}{form}{kind}"), &[value]);
                    assert!(length <= 2 * FIELD_LIMIT, "{form}{kind}: {length}");
                }
            }
            let starred = length(&format!("%{flag}*.*{kind}"), &[i32::MAX as u64, i32::MIN as u64, 1]);
            assert_eq!(starred, FIELD_LIMIT, "{kind}");
        }
        // Each of many fields is wide.
        assert!(length(&"%65000d".repeat(1000), &[1; 1000]) < STRING_LIMIT + FIELD_LIMIT);
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        assert_eq!(format(b"%d %d", &mut Given(vec![1]), &mut Vec::new()), Err(()));
    }
}
