//! Obfuscates texts that give answers away: the goals of a prediction contain its answers, and
//! students have that file, or a page that loads it. Obfuscation only; not security.

use std::fmt::Write as _;

/// The text as hexadecimal digits of its bytes, the last byte first.
pub fn obfuscate(text: &str) -> String {
    text.bytes().rev().fold(String::with_capacity(2 * text.len()), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// The text that was obfuscated; `None` if [`obfuscate`] cannot have written this.
pub fn reveal(obfuscated: &str) -> Option<String> {
    let digits = |at: usize| u8::from_str_radix(obfuscated.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..obfuscated.len()).step_by(2).rev().map(digits).collect();
    String::from_utf8(bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_obfuscated_text_is_revealed() {
        let text = "why = \"5 sectors, of 32 × 1 bytes\"\n";
        assert!(!obfuscate(text).contains("sector"));
        assert_eq!(reveal(&obfuscate(text)).as_deref(), Some(text));
        assert_eq!((reveal("7"), reveal("xy"), reveal("")), (None, None, Some(String::new())));
    }
}
