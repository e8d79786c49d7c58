//! An output whose reader may close it early, as `head` does. The rest is then discarded; the
//! program does and returns the same. `cli` writes all results through it.

use std::io::{ErrorKind, Result, Write};

/// Writes until the reader closes the output, then discards.
pub(crate) struct UntilClosed<W> {
    output: W,
    closed: bool,
}

impl<W: Write> UntilClosed<W> {
    pub fn new(output: W) -> Self {
        Self { output, closed: false }
    }

    /// Tries `write`. Returns `otherwise` once the reader has closed the output.
    fn unless_closed<T>(&mut self, otherwise: T, write: impl FnOnce(&mut W) -> Result<T>) -> Result<T> {
        if self.closed {
            return Ok(otherwise);
        }
        match write(&mut self.output) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(otherwise)
            }
            written => written,
        }
    }
}

impl<W: Write> Write for UntilClosed<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.unless_closed(bytes.len(), |output| output.write(bytes))
    }

    fn flush(&mut self) -> Result<()> {
        self.unless_closed((), Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accepts this many writes, then fails.
    struct Fails(usize, ErrorKind);

    impl Write for Fails {
        fn write(&mut self, bytes: &[u8]) -> Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or(self.1)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> Result<()> {
            if self.0 == 0 { Err(self.1.into()) } else { Ok(()) }
        }
    }

    #[test]
    fn a_reader_may_go_and_a_full_disk_is_an_error() {
        let mut gone = UntilClosed::new(Fails(1, ErrorKind::BrokenPipe));
        for _ in 0..3 {
            gone.write_all(b"line\n").unwrap();
        }
        gone.flush().unwrap();
        let mut full = UntilClosed::new(Fails(1, ErrorKind::StorageFull));
        full.write_all(b"line\n").unwrap();
        assert_eq!(full.write_all(b"line\n").unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(full.flush().unwrap_err().kind(), ErrorKind::StorageFull);
    }
}
