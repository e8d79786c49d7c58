//! The header of a `.npy` file: a dictionary in Python's notation, which says what the bytes after
//! it are. Pure text to data and back, called by the parent module alone.
//!
//! ```text
//! {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//! ```
//!
//! The format is NumPy's, described in `numpy.lib.format`. Nothing here recurses, so that no
//! header, however deeply it nests, can overflow the stack.

use std::fmt::Write as _;

/// The type of the elements of an array of records: it has no code.
pub const RECORDS: &str = "records";

/// What the dictionary says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// NumPy's code of the type, byte order included, such as `<f4`; [`RECORDS`] for elements that
    /// are not plain numbers.
    pub code: String,
    /// Whether the elements stand column by column (Fortran's order).
    pub by_columns: bool,
    /// Elements in each dimension, the slowest first.
    pub shape: Vec<u64>,
}

/// Why a dictionary is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It is not as NumPy writes it.
    Malformed,
    /// A dimension has more than 2^64 - 1 elements.
    TooLarge,
}

impl Header {
    /// Reads the dictionary.
    pub fn parse(text: &[u8]) -> Result<Self, Problem> {
        let mut rest = Rest(text);
        let (mut code, mut by_columns, mut shape) = (None, None, None);
        rest.expect(b'{')?;
        while !rest.skip(b'}') {
            let key = rest.string()?;
            rest.expect(b':')?;
            match key.as_str() {
                "descr" => code = Some(rest.element_type()?),
                "fortran_order" => by_columns = Some(rest.boolean()?),
                "shape" => shape = Some(rest.numbers()?),
                _ => return Err(Problem::Malformed),
            }
            if !rest.skip(b',') {
                rest.expect(b'}')?;
                break;
            }
        }
        match (rest.next(), code, by_columns, shape) {
            (None, Some(code), Some(by_columns), Some(shape)) => Ok(Self { code, by_columns, shape }),
            _ => Err(Problem::Malformed),
        }
    }

    /// The dictionary as NumPy writes it.
    pub fn text(&self) -> String {
        let mut shape = String::new();
        for (index, size) in self.shape.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            let _ = write!(shape, "{separator}{size}");
        }
        if self.shape.len() == 1 {
            shape.push(',');
        }
        let order = if self.by_columns { "True" } else { "False" };
        format!("{{'descr': '{}', 'fortran_order': {order}, 'shape': ({shape}), }}", self.code)
    }
}

/// The part of the text that is still to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// The next byte that is no blank, which stays.
    fn next(&mut self) -> Option<u8> {
        self.0 = self.0.trim_ascii_start();
        self.0.first().copied()
    }

    /// Whether the next byte is this one; if so it is read.
    fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.next() == Some(byte);
        if is_next {
            self.0 = &self.0[1..];
        }
        is_next
    }

    fn expect(&mut self, byte: u8) -> Result<(), Problem> {
        if self.skip(byte) { Ok(()) } else { Err(Problem::Malformed) }
    }

    /// Reads bytes as long as they belong.
    fn run(&mut self, belongs: impl Fn(u8) -> bool) -> &str {
        let length = self.0.iter().position(|&byte| !belongs(byte)).unwrap_or(self.0.len());
        let (read, rest) = self.0.split_at(length);
        self.0 = rest;
        // Names of fields may be in any encoding; no name that is looked for has such bytes.
        std::str::from_utf8(read).unwrap_or_default()
    }

    /// `'...'` or `"..."`.
    fn string(&mut self) -> Result<String, Problem> {
        let quote = self.next().filter(|quote| b"'\"".contains(quote)).ok_or(Problem::Malformed)?;
        self.expect(quote)?;
        let text = self.run(|byte| byte != quote).to_owned();
        self.expect(quote)?;
        Ok(text)
    }

    /// The code of a plain type; or the list, or tuple, that describes records.
    fn element_type(&mut self) -> Result<String, Problem> {
        let mut depth = 0_usize;
        loop {
            match self.next().ok_or(Problem::Malformed)? {
                b'\'' | b'"' if depth == 0 => return self.string(),
                b'\'' | b'"' => drop(self.string()?),
                byte => {
                    match byte {
                        b'[' | b'(' => depth += 1,
                        b']' | b')' if depth == 1 => {
                            self.expect(byte)?;
                            return Ok(RECORDS.to_owned());
                        }
                        b']' | b')' if depth > 1 => depth -= 1,
                        _ if depth > 0 => {}
                        _ => return Err(Problem::Malformed),
                    }
                    self.expect(byte)?;
                }
            }
        }
    }

    fn boolean(&mut self) -> Result<bool, Problem> {
        self.next();
        match self.run(|byte| byte.is_ascii_alphabetic()) {
            "True" => Ok(true),
            "False" => Ok(false),
            _ => Err(Problem::Malformed),
        }
    }

    /// `()`, `(6,)`, `(2, 3)`.
    fn numbers(&mut self) -> Result<Vec<u64>, Problem> {
        let mut numbers = Vec::new();
        self.expect(b'(')?;
        while !self.skip(b')') {
            self.next();
            let digits = self.run(|byte| byte.is_ascii_digit());
            if digits.is_empty() {
                return Err(Problem::Malformed);
            }
            numbers.push(digits.parse().map_err(|_| Problem::TooLarge)?);
            // Python 2 marks long integers.
            self.skip(b'L');
            if !self.skip(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(code: &str, by_columns: bool, shape: &[u64]) -> Header {
        Header { code: code.to_owned(), by_columns, shape: shape.to_vec() }
    }

    #[test]
    fn the_text_is_numpys() {
        for (header, text) in [
            (header("<f4", false, &[2, 3]), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"),
            (header("|u1", true, &[6]), "{'descr': '|u1', 'fortran_order': True, 'shape': (6,), }"),
            (header(">f8", false, &[]), "{'descr': '>f8', 'fortran_order': False, 'shape': (), }"),
        ] {
            assert_eq!(header.text(), text);
            assert_eq!(Header::parse(text.as_bytes()), Ok(header));
        }
    }

    #[test]
    fn other_writers_spellings_are_read() {
        for (text, expected) in [
            ("{\"shape\":(2L, 3L),\"fortran_order\":False,\"descr\":\"<f4\"}  \n", header("<f4", false, &[2, 3])),
            ("{'shape': (2,3) ,'descr':'<i4', 'fortran_order' : True,}", header("<i4", true, &[2, 3])),
            (
                "{'descr': [('a)', '<f4', (2,)), ('b', '<i4')], 'fortran_order': False, 'shape': (1,)}",
                header(RECORDS, false, &[1]),
            ),
        ] {
            assert_eq!(Header::parse(text.as_bytes()), Ok(expected), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let whole = header("<f4", false, &[2, 3]).text();
        for length in 0..whole.len() {
            assert_eq!(Header::parse(&whole.as_bytes()[..length]), Err(Problem::Malformed), "{}", &whole[..length]);
        }
        let nested = format!("{{'descr': {}", "[".repeat(9000));
        for text in
            [&nested, "{}", "{'descr': 5}", "{'descr': ]}", "{'shape': (2 3)}", &format!("{whole}x"), "{'a': 1}"]
        {
            assert_eq!(Header::parse(text.as_bytes()), Err(Problem::Malformed), "{text}");
        }
        let large = whole.replace('2', "18446744073709551616");
        assert_eq!(Header::parse(large.as_bytes()), Err(Problem::TooLarge));
    }
}
