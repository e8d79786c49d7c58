//! The lines of a submission that are not its starter's. [`crate::similarity`] exports them.

/// The most pairs of lines that are compared. A file for which there are more stays whole.
const MOST_PAIRS: usize = 1 << 24;

/// The lines that remain when the longest common subsequence with the starter is taken away, that
/// is, what a diff shows as added. Indentation and empty lines do not count.
pub fn own_lines(text: &str, starter: &str) -> String {
    let lines = |text| -> Vec<&str> { str::lines(text).filter(|line| !line.trim().is_empty()).collect() };
    let (own, given) = (lines(text), lines(starter));
    // Among alignments of as many lines, the one with the most lines of the same indentation: it
    // takes the bracket that ends the starter's function, not one inside.
    let weight = |own: &str, given: &str| match own.trim() == given.trim() {
        true => (1 << 12) + u32::from(own.trim_end() == given.trim_end()),
        false => 0,
    };
    let width = given.len() + 1;
    if (own.len() + 1).saturating_mul(width) > MOST_PAIRS {
        return text.to_owned();
    }
    // The weight of what the rests of both have in common, from each line on. At most 2^12 lines are
    // the same.
    let mut common = vec![0u32; (own.len() + 1) * width];
    for i in (0..own.len()).rev() {
        for j in (0..given.len()).rev() {
            let without = common[(i + 1) * width + j].max(common[i * width + j + 1]);
            common[i * width + j] = match weight(own[i], given[j]) {
                0 => without,
                weight => without.max(common[(i + 1) * width + j + 1] + weight),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut rest = String::new();
    while i < own.len() {
        let here = common[i * width + j];
        let pair = if j < given.len() { weight(own[i], given[j]) } else { 0 };
        if pair > 0 && here == common[(i + 1) * width + j + 1] + pair {
            (i, j) = (i + 1, j + 1);
        } else if j < given.len() && here == common[i * width + j + 1] {
            j += 1;
        } else {
            rest += own[i];
            rest.push('\n');
            i += 1;
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTER: &str = "//! Text\n\nfn copy() {\n    // TODO\n}\n";

    #[test]
    fn what_was_added_remains() {
        assert_eq!(own_lines(STARTER, STARTER), "");
        let text = "//! Text\nfn copy() {\n    if a {\n        b();\n    }\n}\n\nfn more() {\n}\n";
        assert_eq!(own_lines(text, STARTER), "    if a {\n        b();\n    }\nfn more() {\n}\n");
        // Formatted otherwise, in another order, with other ends of lines.
        assert_eq!(own_lines("  fn copy() {\r\n\t}\r\n//! Text\r\n", STARTER), "//! Text\n");
        assert_eq!(own_lines("a\nb", ""), "a\nb\n");
        assert_eq!(own_lines("", STARTER), "");
    }

    #[test]
    fn as_few_lines_remain_as_in_a_diff() {
        assert_eq!(own_lines("a\nx\nb\ny\nc\n", "a\nb\nc\n"), "x\ny\n");
        assert_eq!(own_lines("c\na\nb\n", "a\nb\nc\n"), "c\n");
        assert_eq!(own_lines("a\na\na\n", "a\n"), "a\na\n");
    }

    #[test]
    fn a_file_of_too_many_lines_stays_whole() {
        let (text, starter) = ("x\n".repeat(1 << 15), "x\n".repeat(1 << 10));
        assert_eq!(own_lines(&text, &starter), text);
    }
}
