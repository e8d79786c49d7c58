//! Formats commands as a person would type them, for messages. `build-ptx` and `new-kernels` call
//! it. Pure.

/// A word of a shell command, quoted if necessary.
pub fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:+,@%=".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_shell_would_change_is_quoted() {
        assert_eq!(word("../my-kernels/a_b.c"), "../my-kernels/a_b.c");
        assert_eq!(word("my kernels"), "'my kernels'");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word(""), "''");
    }
}
