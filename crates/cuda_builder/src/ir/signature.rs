//! Signatures of kernels and exported statics: texts in statics, which `#[kernel]` makes.
//!
//! They are no part of the program: `ptx::with_signatures` makes comments of them.

use super::definition::Definition;
use super::lexer::{Kind, tokens};

/// The prefix of the symbol of a signature.
pub(super) const SIGNATURE: &str = "__coalesce_signature__";

/// The name of the kernel or static that a signature is for, and its text.
pub(super) fn signature<'a>(definition: &Definition<'a>) -> Option<(&'a str, String)> {
    let name = definition.name.strip_prefix(SIGNATURE)?;
    let text = tokens(definition.initialiser).find(|token| token.kind == Kind::String)?.text;
    let text = String::from_utf8(bytes(text.trim_start_matches('c').trim_matches('"'))?).ok()?;
    // It becomes a comment of one line.
    (!text.contains(char::is_control)).then_some((name, text))
}

/// The bytes of a string, in which `\22` is a byte in hexadecimal, and `\\` a backslash.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let (byte, taken) = match (first, behind) {
            (b'\\', [b'\\', ..]) => (b'\\', 2),
            (b'\\', [high, low, ..]) => (u8::from_str_radix(str::from_utf8(&[*high, *low]).ok()?, 16).ok()?, 3),
            (b'\\', _) => return None,
            (byte, _) => (*byte, 1),
        };
        bytes.push(byte);
        rest = &rest[taken..];
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<(&str, String)> {
        signature(&Definition::read(line).unwrap())
    }

    #[test]
    fn a_text_of_any_form_is_read() {
        let line = r#"@__coalesce_signature__f = constant [9 x i8] c"safe\22 \C3\A9", section ".signature", align 1"#;
        assert_eq!(read(&line.replace("\\\\", "\\")), Some(("f", "safe\" \u{e9}".to_owned())));
        let packed =
            r#"@__coalesce_signature__my__f = constant <{ [3 x i8] }> <{ [3 x i8] c"a\5C\\" }>, section ".signature""#;
        assert_eq!(read(packed), Some(("my__f", "a\\\\".to_owned())));
    }

    #[test]
    fn what_is_no_text_is_none() {
        for (name, value) in [
            ("__coalesce_signature__f", "c\"a\\0Ab\""),
            ("__coalesce_signature__f", "c\"\\FF\""),
            ("__coalesce_signature__f", "c\"\\zz\""),
            ("__coalesce_signature__f", "c\"a\\\""),
            ("__coalesce_signature__f", "zeroinitializer"),
            ("f", "c\"safe\""),
        ] {
            let line = format!("@{name} = constant [4 x i8] {value}, section \".signature\", align 1");
            assert_eq!(read(&line), None, "{line}");
        }
    }
}
