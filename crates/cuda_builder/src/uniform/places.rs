//! Debug locations: the Rust file and line of an instruction, in the kernel crate.
//!
//! An inlined instruction has a chain of locations, from the line that it was written at to the
//! line of the kernel. Messages name the innermost one in the kernel crate, as the PTX does.

use std::collections::HashMap;

/// The module's metadata by number.
pub(super) struct Places<'a> {
    nodes: HashMap<u32, &'a str>,
    crate_prefix: &'a str,
}

/// A place in the sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place<'a> {
    file: &'a str,
    line: u32,
    /// The function called there, whose inlined body the instruction is in.
    pub calls: Option<Call<'a>>,
}

/// A function that is called and inlined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call<'a> {
    pub file: &'a str,
    pub name: &'a str,
}

impl Place<'_> {
    /// `kernels/src/a.rs:12`
    pub fn full(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// `line 12`, or the full place if it is in another file than `other`.
    pub fn beside(&self, other: Option<&Place<'_>>) -> String {
        match other {
            Some(other) if other.file == self.file => format!("line {}", self.line),
            _ => self.full(),
        }
    }
}

impl<'a> Places<'a> {
    pub fn of(ir: &'a str, crate_prefix: &'a str) -> Self {
        let lines = ir.lines().filter(|line| line.starts_with('!'));
        let nodes = lines.filter_map(|line| {
            let (number, node) = line[1..].split_once(" = ")?;
            Some((number.parse().ok()?, node.strip_prefix("distinct ").unwrap_or(node)))
        });
        Places { nodes: nodes.collect(), crate_prefix }
    }

    /// The place of a debug location.
    pub fn find(&self, location: Option<u32>) -> Option<Place<'a>> {
        let mut next = location;
        let mut calls = None;
        let mut outermost = None;
        // A chain is never longer than this; malformed metadata may have circles.
        for _ in 0..1000 {
            let Some(number) = next else { break };
            let node = *self.nodes.get(&number)?;
            let line = field(node, "line: ").and_then(|line| line.parse().ok()).unwrap_or(0);
            let call = self.scope(field(node, "scope: !")?.parse().ok()?)?;
            let place = Place { file: call.file, line, calls };
            if line > 0 {
                if call.file.starts_with(self.crate_prefix) {
                    return Some(place);
                }
                outermost = Some(place);
            }
            calls = Some(call);
            next = field(node, "inlinedAt: !").and_then(|number| number.parse().ok());
        }
        outermost
    }

    /// The function of a scope.
    fn scope(&self, mut number: u32) -> Option<Call<'a>> {
        let mut file = None;
        for _ in 0..1000 {
            let node = *self.nodes.get(&number)?;
            file = file.or_else(|| field(node, "file: !").and_then(|number| number.parse::<u32>().ok()));
            if node.starts_with("!DISubprogram(") {
                let name = node.split_once("(name: \"")?.1;
                let name = name.split(['"', '<']).next()?;
                let file = *self.nodes.get(&file?)?;
                let file = file.split_once("filename: \"")?.1.split('"').next()?;
                return Some(Call { file, name });
            }
            number = field(node, "scope: !")?.parse().ok()?;
        }
        None
    }
}

/// The text of a field up to its end: `12` of `!DILocation(line: 12, column: 5)`.
fn field<'a>(node: &'a str, name: &str) -> Option<&'a str> {
    let start = node.find(name)? + name.len();
    node[start..].split([',', ')']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: &str = "\
!1 = !DIFile(filename: \"kernels/src/a.rs\", directory: \"\")
!2 = !DIFile(filename: \"rust/core/src/x.rs\", directory: \"\")
!3 = distinct !DISubprogram(name: \"kernel\", linkageName: \"k\", scope: !9, file: !1, line: 3)
!4 = distinct !DISubprogram(name: \"get<f32>\", scope: !9, file: !2, line: 30)
!5 = !DILexicalBlock(scope: !3, file: !1, line: 4, column: 1)
!6 = !DILocation(line: 33, column: 2, scope: !4, inlinedAt: !7)
!7 = distinct !DILocation(line: 5, column: 2, scope: !5)
!8 = !DILocation(line: 33, column: 2, scope: !4)
!10 = !DILocation(line: 33, column: 2, scope: !11)
!11 = !DILexicalBlock(scope: !11, file: !1)
";

    #[test]
    fn the_place_is_in_the_kernel_crate() {
        let places = Places::of(NODES, "kernels/");
        let place = places.find(Some(6)).unwrap();
        assert_eq!((place.full().as_str(), place.calls.unwrap().name), ("kernels/src/a.rs:5", "get"));
        assert_eq!(places.find(Some(7)).unwrap().calls, None);
    }

    #[test]
    fn what_is_not_inlined_keeps_its_place_and_circles_end() {
        let places = Places::of(NODES, "kernels/");
        assert_eq!(places.find(Some(8)).unwrap().full(), "rust/core/src/x.rs:33");
        assert_eq!((places.find(Some(10)), places.find(Some(12)), places.find(None)), (None, None, None));
    }
}
