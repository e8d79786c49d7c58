//! Byte offsets to lines and columns. There is one table per text, which the parser uses for
//! errors; [`Module`](super::Module) keeps it for [`line_column`](super::Module::line_column).

use std::sync::{Arc, OnceLock};

/// A range of bytes of the module's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// The lines of a text: where they start, which is found out when it is first asked for. Most runs
/// of a long text never ask.
#[derive(Clone, Debug)]
pub(crate) struct LineTable {
    text: Arc<str>,
    starts: OnceLock<Vec<u32>>,
}

impl PartialEq for LineTable {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl LineTable {
    /// The table of a text of less than 4 GiB.
    pub fn new(text: Arc<str>) -> Self {
        Self { text, starts: OnceLock::new() }
    }

    fn starts(&self) -> &[u32] {
        self.starts.get_or_init(|| {
            let mut starts = vec![0];
            let mut start = 0;
            // `find` is the standard library's, and thus optimised where this crate is not.
            while let Some(length) = self.text[start..].find('\n') {
                start += length + 1;
                starts.push(start as u32);
            }
            starts
        })
    }

    /// The line (from 1) of a byte of the text.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts().partition_point(|&start| start <= offset) as u32
    }

    /// The line and column (both from 1) of a byte of the text. A byte beyond the end counts as the
    /// end.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let offset = (offset as usize).min(self.text.len());
        let line = self.line(offset as u32);
        let start = self.starts()[line as usize - 1] as usize;
        let characters = self.text.as_bytes()[start..offset].iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        (line, characters as u32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::LineTable;

    #[test]
    fn lines_and_columns_count_from_one_and_columns_count_characters() {
        let table = LineTable::new("ab\n\n\u{e9}x\n".into());
        let at = |offset| table.line_column(offset);
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(2), (1, 3));
        assert_eq!(at(3), (2, 1));
        assert_eq!(at(4), (3, 1));
        assert_eq!(at(6), (3, 2));
        assert_eq!(at(7), (3, 3));
        assert_eq!(at(8), (4, 1));
        assert_eq!(at(900), (4, 1));
        assert_eq!(LineTable::new("".into()).line_column(0), (1, 1));
    }
}
