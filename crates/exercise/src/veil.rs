//! Texts that nobody should read in passing: `goals.toml` explains its own answers, and a browser
//! shows whatever a page loads. A veil hides nothing from someone who wants to know.

use std::fmt::Write as _;

/// The text under a veil: letters and digits.
pub fn on(text: &str) -> String {
    text.bytes().rev().fold(String::with_capacity(2 * text.len()), |mut veiled, byte| {
        let _ = write!(veiled, "{byte:02x}");
        veiled
    })
}

/// The text without its veil; `None` if it had none.
pub fn off(veiled: &str) -> Option<String> {
    let digits = |at: usize| u8::from_str_radix(veiled.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..veiled.len()).step_by(2).rev().map(digits).collect();
    String::from_utf8(bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_veil_comes_off_again() {
        let text = "why = \"5 sectors, of 32 × 1 bytes\"\n";
        assert!(!on(text).contains("sector"));
        assert_eq!(off(&on(text)).as_deref(), Some(text));
        assert_eq!((off("7"), off("xy"), off("")), (None, None, Some(String::new())));
    }
}
