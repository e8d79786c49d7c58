//! Writes to the standard output and the standard error. Every command shows its text through it.
//!
//! *Invariant:* an output that cannot be written is an error, never a panic.

use std::io::{ErrorKind, Write};

use crate::error::{Error, Result};

/// Shows a text on the standard output. A reader that has gone away, such as `head`, is no error.
///
/// # Errors
///
/// [`Error::Output`], for instance on a full disk.
pub fn write_out(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::Output(error)),
        _ => Ok(()),
    }
}

/// Shows a text on the standard error, if that can be written.
pub fn write_note(text: &str) {
    let mut out = anstream::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// A text of strangers without what would change how the rest is shown: control characters, and
/// marks of direction. Only line breaks stay, and the joiners after letters of scripts that have them.
pub fn plain(text: &str) -> String {
    let mut before = ' ';
    let plain = |c: char| match (c, std::mem::replace(&mut before, c)) {
        ('\u{200c}' | '\u{200d}', '\u{300}'..='\u{1fff}' | '\u{2c00}'..) => c,
        (c, _) => alone(c),
    };
    text.chars().map(plain).collect()
}

/// A character of [`plain`], whatever is before it.
fn alone(c: char) -> char {
    match c {
        '\n' => c,
        '\t' => ' ',
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => {
            REPLACED
        }
        c if c.is_control() => REPLACED,
        c => c,
    }
}

/// In place of a character that is not shown.
pub const REPLACED: char = '\u{fffd}';

/// [`write_out`] with a format, without a newline.
macro_rules! show {
    ($($argument:tt)*) => { $crate::terminal::write_out(&format!($($argument)*)) };
}

/// [`write_out`] with a format and a newline.
macro_rules! show_line {
    () => { $crate::terminal::write_out("\n") };
    ($($argument:tt)*) => { $crate::terminal::write_out(&format!("{}\n", format_args!($($argument)*))) };
}

/// [`write_note`] with a format and a newline.
macro_rules! note {
    ($($argument:tt)*) => { $crate::terminal::write_note(&format!("{}\n", format_args!($($argument)*))) };
}

pub(crate) use {note, show, show_line};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_text_leaves_the_rest_as_it_is() {
        assert_eq!(plain("Zo\u{eb} \u{1f980}\n\ta\u{301}"), "Zo\u{eb} \u{1f980}\n a\u{301}");
        for c in "\r\u{7}\u{1b}\u{7f}\u{9b}\u{61c}\u{200b}\u{200e}\u{2028}\u{202e}\u{2066}\u{2069}\u{feff}".chars() {
            assert_eq!(plain(&format!("a{c}b")), "a\u{fffd}b", "{c:?}");
        }
        // A name of Persian; and nothing that is not a joiner.
        assert_eq!(plain("\u{6cc}\u{200c}\u{631}"), "\u{6cc}\u{200c}\u{631}");
        assert_eq!(plain("\u{200c}=1 \u{200d}\u{200d}"), "\u{fffd}=1 \u{fffd}\u{fffd}");
    }
}
