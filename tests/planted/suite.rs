//! Parses the suite of planted bugs from the comments in its sources, whose format `src/lib.rs` describes. It only
//! reads files.
//!
//! Two packages share this file: the tests of the program, which judge the simulator by it, and `cargo xtask
//! compute-sanitizer`, which runs the suite on a GPU.

use std::fs;
use std::io;
use std::path::Path;

/// The folder of the suite, from the root of the workspace.
pub const FOLDER: &str = "tests/planted";

/// A kernel.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub kernel: String,
    /// What is wrong with it, or what was done about that: the first line of its documentation.
    pub title: String,
    /// The file that it stands in, from the root of the workspace.
    pub file: String,
    /// The PTX file to run, from the root of the workspace.
    pub ptx: String,
    /// The arguments of `host run` after the kernel's name.
    pub arguments: Vec<String>,
    /// What must be found, line by line. Empty: the kernel is clean.
    pub marks: Vec<Mark>,
}

/// A line that a finding must blame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The line, from 1.
    pub line: u32,
    /// The kind: memory, init, race, sync or undefined.
    pub kind: String,
    /// What the finding's message has in it.
    pub words: String,
}

impl Case {
    /// Whether it has a planted bug.
    pub fn is_planted(&self) -> bool {
        !self.marks.is_empty()
    }

    /// The name of its corrected twin.
    pub fn twin(&self) -> String {
        format!("{}_fixed", self.kernel)
    }

    /// The arguments of the program that run it, on any device.
    pub fn command(&self) -> Vec<String> {
        let start = ["run".to_owned(), self.ptx.clone(), self.kernel.clone()];
        start.into_iter().chain(self.arguments.iter().cloned()).collect()
    }
}

/// All kernels of the suite, in the order of its files.
///
/// # Errors
///
/// When a file cannot be read.
///
/// # Panics
///
/// When a comment cannot be understood: the message names the file and the line.
pub fn cases(root: &Path) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (folder, extension) in [("src", "rs"), ("ptx", "ptx")] {
        let entries = fs::read_dir(root.join(FOLDER).join(folder))?;
        let mut names: Vec<String> =
            entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect::<io::Result<_>>()?;
        names.sort_unstable();
        for name in names.iter().filter(|name| name.ends_with(&format!(".{extension}"))) {
            let file = format!("{FOLDER}/{folder}/{name}");
            let text = fs::read_to_string(root.join(&file))?;
            // What the compiler made has no comments; what it was made of has.
            let ptx = if folder == "ptx" { file.clone() } else { format!("{FOLDER}/ptx/planted.sm_75.ptx") };
            read(&file, &ptx, &text, &mut cases);
        }
    }
    Ok(cases)
}

/// Reads the kernels of one file.
fn read(file: &str, ptx: &str, text: &str, cases: &mut Vec<Case>) {
    let mut title: Option<&str> = None;
    let mut run: Option<&str> = None;
    let mut in_kernel = false;
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |what: &str| -> ! { panic!("{file}:{number}: {what}") };
        if line.starts_with("//!") {
            continue;
        }
        if let Some(text) = line.strip_prefix("/// ") {
            title = title.or(Some(text));
        } else if let Some(arguments) = line.strip_prefix("// run: ") {
            run = Some(arguments);
        } else if let Some(kernel) = kernel_name(line) {
            // A helper function has no run line.
            if let Some(arguments) = run.take() {
                cases.push(Case {
                    kernel: kernel.to_owned(),
                    title: title.unwrap_or_else(|| wrong("a kernel without a title")).to_owned(),
                    file: file.to_owned(),
                    ptx: ptx.to_owned(),
                    arguments: arguments.split_whitespace().map(str::to_owned).collect(),
                    marks: Vec::new(),
                });
                in_kernel = true;
            }
            title = None;
        } else if line == "}" {
            in_kernel = false;
            title = None;
        }
        if let Some((_, mark)) = line.split_once("//~ ") {
            let Some((kind, words)) = mark.split_once(": ") else { wrong("write `//~ KIND: WORDS`") };
            if !["memory", "init", "race", "sync", "undefined"].contains(&kind) {
                wrong("a mark is of the kind memory, init, race, sync or undefined");
            }
            let Some(case) = cases.last_mut().filter(|_| in_kernel) else { wrong("a mark outside of a kernel") };
            case.marks.push(Mark { line: number, kind: kind.to_owned(), words: words.trim().to_owned() });
        }
    }
    assert!(run.is_none(), "{file}: a run line without a kernel");
}

/// The kernel that a line of Rust or PTX begins.
fn kernel_name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub unsafe fn ").or_else(|| line.strip_prefix(".visible .entry "))?;
    rest.split(['(', '<']).next()
}
