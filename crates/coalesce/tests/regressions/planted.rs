//! Kernels with planted changes, from files: PTX whose comments say how it is launched, and below
//! it which lines a change takes away (`// -`) and puts in their places (`// +`).

use std::fmt::Write as _;
use std::path::Path;

/// A kernel.
pub struct Kernel {
    /// The name, which the file has, too.
    pub name: String,
    /// The PTX, with the comments before it.
    pub text: String,
    pub grid: [u32; 2],
    pub block: [u32; 2],
    pub arguments: Vec<Argument>,
    pub changes: Vec<Change>,
}

/// A buffer: `NAME=TYPE[LENGTH]`, with `<BOUND` if values are below a bound, and `:ROLE` if it is
/// not only read.
pub struct Argument {
    name: String,
    ty: String,
    pub length: usize,
    pub below: Option<u32>,
    role: String,
}

/// A change.
#[derive(Default)]
pub struct Change {
    pub what: String,
    pub kind: Planted,
    /// Lines that go, and lines that come, each in one piece.
    edits: Vec<[String; 2]>,
}

/// What a change is.
#[derive(Default, PartialEq)]
pub enum Planted {
    /// This counter is worse.
    Regression(String),
    #[default]
    Refactoring,
}

/// The kernels of the folder.
pub fn kernels() -> Vec<Kernel> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/regressions/kernels");
    let files = std::fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    let of = |path: &std::path::PathBuf| {
        let name = path.file_stem().expect("a name").to_str().expect("UTF-8");
        Kernel::of(name, &std::fs::read_to_string(path).expect("a file"))
    };
    files.iter().map(of).collect()
}

impl Kernel {
    /// The kernel of a file's text.
    pub fn of(name: &str, text: &str) -> Self {
        let of = |what: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(what));
            line.unwrap_or_else(|| panic!("{name}: no line `{what}`")).split_whitespace()
        };
        let launch: Vec<&str> = of("// launch:").collect();
        let extents = |what: &str| {
            let from = launch.iter().position(|&word| word == what).expect("it says both");
            let mut numbers = launch[from + 1..].iter().map_while(|word| word.parse().ok());
            [numbers.next().expect("a number"), numbers.next().unwrap_or(1)]
        };
        let (ptx, changes) = text.split_at(text.find("\n// re").map_or(text.len(), |at| at + 1));
        let entry = ptx.split(".entry ").nth(1).and_then(|rest| rest.split('(').next()).expect("a kernel");
        Self {
            name: entry.to_owned(),
            text: ptx.to_owned(),
            grid: extents("grid"),
            block: extents("block"),
            arguments: of("// arguments:").map(Argument::of).collect(),
            changes: changes_of(changes),
        }
    }

    /// The text after a change.
    pub fn changed(&self, change: &Change) -> String {
        change.edits.iter().fold(self.text.clone(), |text, [from, to]| {
            assert_eq!(text.matches(from).count(), 1, "{}, {}:\n{from}", self.name, change.what);
            text.replace(from, to)
        })
    }

    /// The contract for `coalesce judge`.
    pub fn contract(&self) -> String {
        let mut text = "[sizes]\none = { min = 1, max = 1 }\n".to_owned();
        for Argument { name, ty, length, below, role } in &self.arguments {
            let _ = writeln!(text, "[[argument]]\nname = '{name}'\ntype = '{ty}'\nlength = {length}\nrole = '{role}'");
            below.iter().for_each(|below| _ = writeln!(text, "below = {below}"));
        }
        let ([x, y], [width, height]) = (self.grid, self.block);
        let _ = writeln!(text, "[[launch]]\nkernel = '{}'\ngrid = [{x}, {y}]\nblock = [{width}, {height}]", self.name);
        text
    }
}

impl Argument {
    fn of(text: &str) -> Self {
        let (name, rest) = text.split_once('=').expect("NAME=");
        let (rest, role) = rest.split_once(':').unwrap_or((rest, "in"));
        let (rest, below) = rest.split_once('<').map_or((rest, None), |(rest, below)| (rest, below.parse().ok()));
        let (ty, length) = rest.trim_end_matches(']').split_once('[').expect("TYPE[LENGTH]");
        let length = length.parse().expect("a length");
        Self { name: name.to_owned(), ty: ty.to_owned(), length, below, role: role.to_owned() }
    }
}

fn changes_of(text: &str) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut removes = false;
    for line in text.lines() {
        if let Some(what) = line.strip_prefix("// regression: ") {
            let (what, counter) = what.split_once("; ").expect("a counter");
            let kind = Planted::Regression(counter.to_owned());
            changes.push(Change { what: what.to_owned(), kind, ..Change::default() });
        } else if let Some(what) = line.strip_prefix("// refactoring: ") {
            changes.push(Change { what: what.to_owned(), ..Change::default() });
        } else {
            let edits = &mut changes.last_mut().expect("a change").edits;
            let (line, side) = match (line.strip_prefix("// -"), line.strip_prefix("// +")) {
                (Some(gone), _) => (gone, 0),
                (None, come) => (come.expect("a line of a change"), 1),
            };
            if side == 0 && !removes {
                edits.push(Default::default());
            }
            removes = side == 0;
            edits.last_mut().expect("what goes comes first")[side] += &format!("{line}\n");
        }
        if line.starts_with("// re") {
            removes = false;
        }
    }
    changes
}
