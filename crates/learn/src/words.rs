//! Counted words in messages: `1 size`, `2 sizes`. Most messages of this crate use it. Pure.

/// `1 size`, `2 sizes`.
pub fn several(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_no_s() {
        assert_eq!((several(1, "size"), several(2, "size")), ("1 size".to_owned(), "2 sizes".to_owned()));
    }
}
