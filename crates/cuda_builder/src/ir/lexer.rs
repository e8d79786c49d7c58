//! Splits textual LLVM IR into tokens without loss: the tokens' texts, joined, are the input.
//!
//! It distinguishes only what the rewrite needs: names of globals, strings and comments (in which
//! an `@` is not a name), brackets (to find the end of a type or an initialiser) and words. See the
//! LLVM Language Reference, "Identifiers".

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `@name` or `@"name"`: a global variable or a function.
    Global,
    /// `"..."` or `c"..."`.
    String,
    /// `; ...` up to the end of the line.
    Comment,
    /// Spaces, tabs and line ends.
    Space,
    /// A run of letters, digits and the like, with its leading sign: `internal`, `i32`, `%x`,
    /// `!dbg`, `#0`.
    Word,
    /// One other character, brackets and commas among them.
    Punctuation,
}

/// A token: a piece of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
}

impl<'a> Token<'a> {
    /// The name of a [`Kind::Global`], without `@` and quotes.
    pub fn name(&self) -> Option<&'a str> {
        (self.kind == Kind::Global).then(|| self.text[1..].trim_matches('"'))
    }
}

/// The tokens of `text`.
pub(crate) fn tokens(text: &str) -> Tokens<'_> {
    Tokens { rest: text }
}

/// Iterator over the tokens of a text.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let first = self.rest.chars().next()?;
        let (kind, length) = match first {
            '@' => (Kind::Global, 1 + name_length(&self.rest[1..])),
            '"' => (Kind::String, string_length(self.rest)),
            'c' if self.rest.as_bytes().get(1) == Some(&b'"') => (Kind::String, 1 + string_length(&self.rest[1..])),
            ';' => (Kind::Comment, self.rest.find('\n').unwrap_or(self.rest.len())),
            _ if first.is_ascii_whitespace() => (Kind::Space, run(self.rest, |c| c.is_ascii_whitespace())),
            '%' | '$' => (Kind::Word, 1 + name_length(&self.rest[1..])),
            '!' | '#' => (Kind::Word, 1 + run(&self.rest[1..], is_name)),
            _ if is_name(first) => (Kind::Word, run(self.rest, is_name)),
            _ => (Kind::Punctuation, first.len_utf8()),
        };
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(Token { kind, text })
    }
}

/// Whether `c` may be in an unquoted name (`[-a-zA-Z$._0-9]`).
fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '$' | '.' | '_')
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// The length of a name, which is quoted if it has other characters.
fn name_length(text: &str) -> usize {
    if text.starts_with('"') { string_length(text) } else { run(text, is_name) }
}

/// The length of the string at the start of `text`, quotes included. A quote within it is written
/// `\22`.
fn string_length(text: &str) -> usize {
    text[1..].find('"').map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globals(text: &str) -> Vec<&str> {
        tokens(text).filter_map(|token| token.name()).collect()
    }

    #[test]
    fn nothing_is_lost() {
        for text in [
            "%_7 = getelementptr inbounds nuw [33 x float], ptr @TILE, i64 %t, !dbg !38 ; @COMMENT\n",
            "@s = constant [2 x i8] c\"@\\22\", align 1",
            "@\"quoted name\" = internal global <{ ptr }> <{ ptr @\"a b\" }>",
            "\"unterminated @X",
            "@",
            "é; ü",
            "",
        ] {
            assert_eq!(tokens(text).map(|token| token.text).collect::<String>(), text);
        }
    }

    #[test]
    fn names_are_found_where_they_are_names() {
        assert_eq!(globals("store ptr @A.1$x, ptr @\"b c\", align 8 ; @C"), ["A.1$x", "b c"]);
        assert_eq!(globals("call void asm sideeffect \"bar @p; // @A\", \"r\"(ptr @B)"), ["B"]);
        assert_eq!(globals("phi ptr [ @A, %bb1 ], [ @B, %\"@C\" ]"), ["A", "B"]);
        assert_eq!(globals("@x = constant [3 x i8] c\"@Y\\00\""), ["x"]);
    }

    #[test]
    fn a_word_that_begins_with_c_is_no_string() {
        let kinds: Vec<_> = tokens("constant c\"a\"").map(|token| token.kind).collect();
        assert_eq!(kinds, [Kind::Word, Kind::Space, Kind::String]);
    }
}
