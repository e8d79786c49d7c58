//! Rewrites the line information that `llc` prints, so that each instruction has a line of the
//! kernel crate.
//!
//! `llc` gives an inlined instruction the line that it was written at: `*out.add(i)` adds in
//! `core`'s `mut_ptr.rs`. The comment beside such a `.loc` holds the whole chain of calls:
//!
//! ```text
//! .loc  2 961 18    // rust/core/src/ptr/mut_ptr.rs:961:18 @[ kernels/src/transpose.rs:63:75 ]
//! ```
//!
//! Students need the line of the kernel, and so do the simulator's reports, debuggers and
//! profilers. So the innermost location of the chain in the kernel crate becomes the `.loc`. The
//! comment keeps the part of the chain within the workspace, but only once in each function,
//! because an unrolled loop would repeat it hundreds of times. The table of files moves to the top.
//! `llc`'s other comments are removed, and so are labels that only debug sections use.
//!
//! LLVM gives line 0 to what it moves out of branches and loops, or shares between lines
//! (addresses, constants, `ld.param`). These instructions keep no line: `--lines` shows them as a
//! row of their own.

use std::collections::HashSet;
use std::fmt::Write as _;

/// The prefixes of the paths of `core` and of crates from registries, in the PTX.
const LIBRARIES: [&str; 2] = ["rust/", "registry/"];

/// A location in the chain of a `.loc` comment.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Location<'a> {
    file: &'a str,
    line: u32,
    column: u32,
}

/// The tidied form of `ptx`. `crate_prefix` is the prefix of the paths of the kernel crate's files.
pub(crate) fn tidy(ptx: &str, crate_prefix: &str) -> String {
    let referenced = referenced_labels(ptx);
    let mut files = Files::of(ptx);
    let (mut head, mut body) = (String::new(), String::with_capacity(ptx.len()));
    let mut last = String::new();
    let mut shown = HashSet::new();
    for line in ptx.lines() {
        let (code, chain) = line.split_once("//").map_or((line, ""), |(code, comment)| (code, comment.trim()));
        let code = code.trim_end();
        let word = code.trim_start();
        let is_idle_label =
            word.strip_suffix(':').is_some_and(|label| is_debug_label(label) && !referenced.contains(label));
        if word.is_empty() || is_idle_label || word.starts_with(".file") || word.starts_with(".section") {
            continue;
        }
        if word.split_whitespace().next() == Some(".loc") {
            if let Some(directive) = files.location(word, chain, crate_prefix)
                && directive != last
            {
                let comment = shown_chain(chain);
                let written = format!("\t{directive}{comment}");
                if shown.contains(&written) {
                    let _ = writeln!(body, "\t{directive}");
                } else {
                    let _ = writeln!(body, "{written}");
                    shown.insert(written);
                }
                last = directive;
            }
            continue;
        }
        if begins_function(word) {
            body.push('\n');
            last.clear();
            shown.clear();
        }
        let is_head = [".version", ".target", ".address_size"].iter().any(|name| word.starts_with(name));
        let _ = writeln!(if is_head { &mut head } else { &mut body }, "{code}");
    }
    format!("{head}{}{body}", files.table())
}

/// Whether this is the first line of a function or kernel, or the declaration of one.
fn begins_function(code: &str) -> bool {
    code.starts_with('.') && (code.contains(".entry ") || code.contains(".func "))
}

/// The files that `.loc`s name, numbered in the order of their first use.
struct Files<'a> {
    /// The files with `llc`'s numbers.
    given: Vec<(&'a str, &'a str)>,
    used: Vec<String>,
}

impl<'a> Files<'a> {
    fn of(ptx: &'a str) -> Self {
        let file = |line: &'a str| {
            let (number, path) = line.trim().strip_prefix(".file")?.trim().split_once(char::is_whitespace)?;
            Some((number, path.trim().trim_matches('"')))
        };
        Files { given: ptx.lines().filter_map(file).collect(), used: Vec::new() }
    }

    /// The directive for a `.loc` line. `None` if the chain has no line of the kernel crate, so
    /// that the previous one still applies.
    fn location(&mut self, code: &str, chain: &str, crate_prefix: &str) -> Option<String> {
        let chain: Vec<Location<'_>> = chain.split("@[").filter_map(place).collect();
        // Line 0 means that several lines became one instruction.
        let is_own = |place: &&Location<'_>| place.file.starts_with(crate_prefix);
        let blamed = chain.iter().filter(is_own).find(|place| place.line > 0);
        let blamed = blamed.or_else(|| chain.iter().find(is_own)).or(chain.last());
        if blamed.is_some_and(|place| place.line == 0 && !is_own(&place)) {
            return None;
        }
        let (file, line, column) = match blamed {
            Some(place) => (place.file.to_owned(), place.line, place.column),
            None => {
                let mut words = code.split_whitespace().skip(1);
                let number = words.next().unwrap_or_default();
                let file = self.given.iter().find(|(given, _)| *given == number).map_or("unknown", |(_, path)| *path);
                let mut next = || words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
                (file.to_owned(), next(), next())
            }
        };
        let number = self.used.iter().position(|used| *used == file).unwrap_or_else(|| {
            self.used.push(file);
            self.used.len() - 1
        });
        Some(format!(".loc\t{} {line} {column}", number + 1))
    }

    /// The `.file` directives.
    fn table(&self) -> String {
        let mut table = String::new();
        for (index, path) in self.used.iter().enumerate() {
            let _ = writeln!(table, ".file\t{} \"{path}\"", index + 1);
        }
        table
    }
}

/// The comment beside a `.loc`: the chain of calls within the workspace. Calls within `core` and
/// other libraries are omitted, because they differ between versions.
fn shown_chain(chain: &str) -> String {
    let places: Vec<_> = chain.split("@[").map(|place| place.trim_matches([' ', ']', '\t'])).collect();
    let is_own = |place: &&str| !LIBRARIES.iter().any(|library| place.starts_with(library));
    let own: Vec<_> = places.iter().copied().filter(is_own).filter(|place| !place.is_empty()).collect();
    if own.is_empty() {
        return String::new();
    }
    format!("\t// {}{}", own.join(" @[ "), " ]".repeat(own.len() - 1))
}

/// Parses `path:line:column`, followed by ` ]`s at the end of a chain.
fn place(text: &str) -> Option<Location<'_>> {
    let text = text.trim_end_matches([' ', ']', '\t']).trim_start();
    let (rest, last) = text.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    match rest.rsplit_once(':').map(|(file, line)| (file, line.parse::<u32>())) {
        Some((file, Ok(line))) => Some(Location { file, line, column: last }),
        _ => Some(Location { file: rest, line: last, column: 0 }),
    }
}

/// Whether LLVM made this label for debug sections.
fn is_debug_label(label: &str) -> bool {
    ["$L__tmp", "$L__func_begin", "$L__func_end"].iter().any(|prefix| label.starts_with(prefix))
}

/// The labels that something refers to.
fn referenced_labels(ptx: &str) -> HashSet<&str> {
    let is_label = |c: char| c.is_ascii_alphanumeric() || matches!(c, '$' | '_');
    let code = ptx.lines().map(|line| line.split("//").next().unwrap_or("").trim());
    code.filter(|code| !code.ends_with(':'))
        .flat_map(move |code| code.split(move |c| !is_label(c)))
        .filter(|word| word.starts_with("$L__"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
//
// Generated by LLVM NVPTX Back-End
//

.version 6.3
.target sm_75
.address_size 64

\t// .globl\tk                 // -- Begin function k
.visible .entry k(
\t.param .u64 .ptr .align 1 k_param_0
)
{
\t.reg .b64 \t%rd<4>;
$L__func_begin0:
\t.loc\t1 61 0                          // kernels/src/lib.rs:61:0

// %bb.0:                               // %start
$L__tmp0:
\t.loc\t2 961 18                        // rust/core/src/ptr/mut_ptr.rs:961:18 @[ kernels/src/lib.rs:63:75 ]
\tadd.s64 \t%rd6, %rd4, %rd5;
\t.loc\t2 999 1                         // rust/core/src/ptr/mut_ptr.rs:999:1 @[ kernels/src/lib.rs:63:75 ]
\tadd.s64 \t%rd7, %rd4, %rd5;
\t.loc\t3 5 9                           // crates/cuda_std/src/a.rs:5:9 @[ kernels/src/help.rs:7:2 @[ kernels/src/lib.rs:64:3 ] ]
\tst.b32 \t[%rd6], 1077936128;
\tbra.uni \t$L__tmp4;
$L__tmp4:
\tret;
$L__tmp5:
$L__func_end0:
                                        // -- End function
}
\t.section\t.debug_macinfo\t{\t}
\t.file\t1 \"kernels/src/lib.rs\"
\t.file\t2 \"rust/core/src/ptr/mut_ptr.rs\"
\t.file\t3 \"crates/cuda_std/src/a.rs\"
";

    #[test]
    fn a_chain_is_shown_once_in_a_function() {
        let turn = "\t.loc\t1 5 9 // kernels/src/lib.rs:5:9 @[ kernels/src/lib.rs:7:2 ]\n\tret;\n\t.loc\t1 6 9 // kernels/src/lib.rs:6:9\n\tret;\n";
        let printed = format!(
            "\t.file\t1 \"kernels/src/lib.rs\"\n.visible .entry k()\n{{\n{turn}{turn}}}\n.visible .entry l()\n{{\n{turn}}}\n"
        );
        let tidied = tidy(&printed, "kernels/");
        let locations: Vec<_> = tidied.lines().filter(|line| line.contains(".loc")).collect();
        let (first, second) = (
            "\t.loc\t1 5 9\t// kernels/src/lib.rs:5:9 @[ kernels/src/lib.rs:7:2 ]",
            "\t.loc\t1 6 9\t// kernels/src/lib.rs:6:9",
        );
        assert_eq!(locations, [first, second, "\t.loc\t1 5 9", "\t.loc\t1 6 9", first, second]);
    }

    #[test]
    fn instructions_are_blamed_on_the_kernel_crate() {
        assert_eq!(
            tidy(PRINTED, "kernels/"),
            "\
.version 6.3
.target sm_75
.address_size 64
.file\t1 \"kernels/src/lib.rs\"
.file\t2 \"kernels/src/help.rs\"

.visible .entry k(
\t.param .u64 .ptr .align 1 k_param_0
)
{
\t.reg .b64 \t%rd<4>;
\t.loc\t1 61 0\t// kernels/src/lib.rs:61:0
\t.loc\t1 63 75\t// kernels/src/lib.rs:63:75
\tadd.s64 \t%rd6, %rd4, %rd5;
\tadd.s64 \t%rd7, %rd4, %rd5;
\t.loc\t2 7 2\t// crates/cuda_std/src/a.rs:5:9 @[ kernels/src/help.rs:7:2 @[ kernels/src/lib.rs:64:3 ] ]
\tst.b32 \t[%rd6], 1077936128;
\tbra.uni \t$L__tmp4;
$L__tmp4:
\tret;
}
"
        );
    }

    #[test]
    fn places_in_libraries_are_not_shown() {
        assert_eq!(shown_chain("rust/core/src/a.rs:1:2 @[ kernels/src/b.rs:3:4 ]"), "\t// kernels/src/b.rs:3:4");
        assert_eq!(
            shown_chain(
                "rust/core/src/a.rs:1:2 @[ crates/c.rs:3:4 @[ registry/libm-1/src/d.rs:5:6 @[ kernels/src/b.rs:7:8 ] ] ]"
            ),
            "\t// crates/c.rs:3:4 @[ kernels/src/b.rs:7:8 ]"
        );
        assert_eq!(shown_chain("rust/core/src/a.rs:1:2"), "");
        assert_eq!(shown_chain(""), "");
    }

    #[test]
    fn a_chain_outside_the_crate_keeps_its_outermost_place() {
        let ptx = ".version 6.3\n.address_size 64\n\t.loc\t1 5 9 // libm/src/a.rs:5:9 @[ libm/src/b.rs:6:1 ]\n\t.file\t1 \"libm/src/a.rs\"\n";
        assert_eq!(
            tidy(ptx, "kernels/"),
            ".version 6.3\n.address_size 64\n.file\t1 \"libm/src/b.rs\"\n\t.loc\t1 6 1\t// libm/src/a.rs:5:9 @[ libm/src/b.rs:6:1 ]\n"
        );
    }

    #[test]
    fn line_0_gives_way_to_the_line_of_the_call() {
        let location =
            |chain: &str| Files { given: Vec::new(), used: Vec::new() }.location(".loc 1 0 3", chain, "kernels/");
        let own = "kernels/src/a.rs:0:3 @[ kernels/src/b.rs:6:1 ]";
        assert_eq!(location(own), Some(".loc\t1 6 1".to_owned()));
        assert_eq!(location("kernels/src/a.rs:0:3"), Some(".loc\t1 0 3".to_owned()));
        assert_eq!(location("rust/core/src/a.rs:0:3"), None);
    }

    #[test]
    fn places_are_read_with_and_without_a_column() {
        let place_of = |text| place(text).map(|place| (place.file.to_owned(), place.line, place.column));
        assert_eq!(place_of(" a/b.rs:5:9 "), Some(("a/b.rs".to_owned(), 5, 9)));
        assert_eq!(place_of(" C:\\b.rs:5:9 ] ]"), Some(("C:\\b.rs".to_owned(), 5, 9)));
        assert_eq!(place_of("a.rs:5"), Some(("a.rs".to_owned(), 5, 0)));
        assert_eq!(place_of("a.rs"), None);
    }

    #[test]
    fn a_location_without_a_comment_keeps_its_numbers() {
        let ptx = ".address_size 64\n\t.loc\t1 5 9\n\t.file\t1 \"a.rs\"\n";
        assert_eq!(tidy(ptx, "kernels/"), ".address_size 64\n.file\t1 \"a.rs\"\n\t.loc\t1 5 9\n");
    }

    #[test]
    fn arrays_on_the_stack_keep_their_declaration() {
        let ptx = ".address_size 64\n\t.local .align 16 .b8 \t__local_depot0[16];\n";
        assert_eq!(tidy(ptx, "kernels/"), ptx);
    }
}
