//! Parses the definition of a global variable: one line of textual LLVM IR.
//!
//! ```text
//! @name = [linkage] [visibility] [unnamed_addr] ... <global | constant> <type> [<initialiser>] [, section "..."] [, align n]
//! ```
//!
//! See the LLVM Language Reference, "Global Variables".

use super::lexer::{Kind, Token, tokens};

/// A global variable's definition, or its declaration if `initialiser` is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition<'a> {
    /// Its name without `@` and quotes.
    pub name: &'a str,
    /// Whether other modules (the host) can find it by name: not `internal` and not `private`.
    pub visible: bool,
    /// Its type: `[4224 x i8]`.
    pub value_type: &'a str,
    /// Its initial value; empty if it is defined elsewhere.
    pub initialiser: &'a str,
    /// The section that the source specifies.
    pub section: Option<&'a str>,
    /// Its alignment in bytes, as text.
    pub align: Option<&'a str>,
}

impl<'a> Definition<'a> {
    /// Parses a line that begins with `@`. `None` if it is not a variable (such as an alias), or
    /// has an unknown form.
    pub fn read(line: &'a str) -> Option<Self> {
        let mut reader = Reader { tokens: Vec::new(), next: 0, line };
        let mut at = 0;
        for token in tokens(line) {
            if !matches!(token.kind, Kind::Space | Kind::Comment) {
                reader.tokens.push((at, token));
            }
            at += token.text.len();
        }

        let name = reader.take()?.name()?;
        (reader.take()?.text == "=").then_some(())?;
        let (mut visible, mut declared) = (true, false);
        loop {
            match reader.take()?.text {
                "global" | "constant" => break,
                "internal" | "private" => visible = false,
                "external" | "extern_weak" => declared = true,
                "alias" | "ifunc" => return None,
                _ => {}
            }
        }
        let value_type = reader.group()?;
        let initialiser = if declared { "" } else { reader.until_comma()? };

        let (mut section, mut align) = (None, None);
        while let Some(token) = reader.take() {
            match token.text {
                "section" => section = Some(reader.take()?.text.trim_matches('"')),
                "align" => align = Some(reader.take()?.text),
                _ => {}
            }
        }
        Some(Definition { name, visible, value_type, initialiser, section, align })
    }

    /// The variable's size in bytes, if its type consists of `[n x i8]` and pointers, as rustc's
    /// types of statics do.
    pub fn bytes(&self) -> u64 {
        let words: Vec<_> = tokens(self.value_type).filter(|token| token.kind == Kind::Word).collect();
        let mut bytes = 0;
        for (index, word) in words.iter().enumerate() {
            bytes += match (word.text, index.checked_sub(2).map(|count| words[count].text)) {
                ("i8", Some(count)) => count.parse().unwrap_or(0),
                ("ptr", _) => 8,
                _ => 0,
            };
        }
        bytes
    }
}

struct Reader<'a> {
    tokens: Vec<(usize, Token<'a>)>,
    next: usize,
    line: &'a str,
}

impl<'a> Reader<'a> {
    fn take(&mut self) -> Option<Token<'a>> {
        let (_, token) = *self.tokens.get(self.next)?;
        self.next += 1;
        Some(token)
    }

    /// A word, or everything from an opening bracket to its closing one.
    fn group(&mut self) -> Option<&'a str> {
        let start = self.tokens.get(self.next)?.0;
        let mut depth = 0_usize;
        loop {
            let token = self.take()?;
            match token.text {
                "[" | "{" | "(" | "<" => depth += 1,
                "]" | "}" | ")" | ">" => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return Some(self.text_from(start));
            }
        }
    }

    /// Everything up to the next comma outside brackets, or the line's end. It must not be empty;
    /// the comma is not consumed.
    fn until_comma(&mut self) -> Option<&'a str> {
        let &(start, first) = self.tokens.get(self.next)?;
        (first.text != ",").then_some(())?;
        while self.tokens.get(self.next).is_some_and(|(_, token)| token.text != ",") {
            self.group()?;
        }
        Some(self.text_from(start))
    }

    /// The line from byte `start` to the end of the last token taken.
    fn text_from(&self, start: usize) -> &'a str {
        let (at, last) = self.tokens[self.next - 1];
        &self.line[start..at + last.text.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_variable() {
        let line = r#"@TILE = internal unnamed_addr global [4224 x i8] undef, section ".shared", align 4"#;
        let expected = Definition {
            name: "TILE",
            visible: false,
            value_type: "[4224 x i8]",
            initialiser: "undef",
            section: Some(".shared"),
            align: Some("4"),
        };
        assert_eq!(Definition::read(line), Some(expected.clone()));
        assert_eq!(expected.bytes(), 4224);
    }

    #[test]
    fn a_structure_with_a_string_and_pointers() {
        let line = r#"@c = constant <{ [4 x i8], ptr, [8 x i8] }> <{ [4 x i8] c"a,\22}", ptr @x, [8 x i8] undef }>, section ".constant", align 8, !dbg !3"#;
        let read = Definition::read(line).unwrap();
        assert!(read.visible);
        assert_eq!(read.value_type, "<{ [4 x i8], ptr, [8 x i8] }>");
        assert_eq!(read.initialiser, r#"<{ [4 x i8] c"a,\22}", ptr @x, [8 x i8] undef }>"#);
        assert_eq!((read.section, read.align), (Some(".constant"), Some("8")));
        assert_eq!(read.bytes(), 4 + 8 + 8);
    }

    #[test]
    fn a_declaration_has_no_initialiser() {
        let read = Definition::read("@dynamic = external local_unnamed_addr global [0 x i8], align 16").unwrap();
        assert_eq!((read.value_type, read.initialiser, read.align), ("[0 x i8]", "", Some("16")));
    }

    #[test]
    fn constant_expressions_are_initialisers_too() {
        let line = "@p = internal global ptr getelementptr (i8, ptr @x, i64 4), align 8";
        assert_eq!(
            Definition::read(line).unwrap().initialiser,
            "ptr getelementptr (i8, ptr @x, i64 4)".strip_prefix("ptr ").unwrap()
        );
    }

    #[test]
    fn what_is_no_variable_is_left_alone() {
        for line in [
            "@a = alias i32, ptr @b",
            "@a",
            "@a = ",
            "@a = global [4 x i8",
            "@a = global [4 x i8] [",
            "@a = global [4 x i8] , > (",
            "@a = global [4 x i8] , align 4",
            "x",
        ] {
            assert_eq!(Definition::read(line), None, "{line}");
        }
    }
}
