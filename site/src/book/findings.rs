//! What was measured of a lab: the lines and tables of `docs/RESULTS.md` that are about it.

/// The page's parts.
pub struct Findings {
    text: String,
}

impl Findings {
    /// Those of this text.
    pub fn new(text: String) -> Self {
        Self { text }
    }

    /// Where and when it was measured: the paragraph before the command, without its last words.
    pub fn measured(&self) -> String {
        let said = self.text.split("\n\n").find_map(|paragraph| paragraph.strip_suffix("; the command:"));
        said.map_or(String::new(), |said| format!("{said}."))
    }

    /// What is said of a lab, as Markdown: its item of the list of labs, then the sections with
    /// commands that run it.
    pub fn of(&self, lab: &str) -> String {
        let begin = format!("- **{lab}**: ");
        let item = self.text.split(&begin).nth(1).map(|rest| rest.split("\n- ").next().unwrap_or_default());
        let item = item.map(|rest| rest.split("\n#").next().unwrap_or_default()).unwrap_or_default();
        let command = format!("-p host -- {lab} ");
        let sections = self.text.split("\n### ").skip(1).filter(|section| section.contains(&command));
        let sections = sections.map(|section| format!("\n\n### {}", section.split("\n## ").next().unwrap_or_default()));
        std::iter::once(item.to_owned()).chain(sections).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_has_its_line_and_its_tables() {
        let text = "# Results\n\nFor you.\n\nOn one; the command:\n\n### T\n\n    -p host -- a --x\n\n### U\n\n    -p host -- b --x\n\n## The labs\n\n- **a**: One\n  line.\n- **b**: Two.\n";
        let findings = Findings::new(text.to_owned());
        assert_eq!(findings.measured(), "On one.");
        assert_eq!(findings.of("a"), "One\n  line.\n\n### T\n\n    -p host -- a --x\n");
        assert!(findings.of("b").starts_with("Two.\n\n\n### U"), "{}", findings.of("b"));
    }
}
