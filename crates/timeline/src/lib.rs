//! How a result comes to depend on the order of blocks and warps: a simple order in which it
//! differs ([`simplest`]), and the accesses of two or three threads to the bytes that decide it
//! ([`explain`]), as data, text and SVG ([`Timeline`]). It launches nothing: callers run orders,
//! and say what differs.

mod explain;
mod simple;

use picture::{Race, RaceStep};
use serde::Serialize;

pub use explain::{Names, explain};
pub use simple::{Differing, likewise, simplest};

/// Threads that are shown, at most.
const THREADS: usize = 3;

/// A word as a number: also as a float, if it is likely one.
pub fn word(word: u32) -> String {
    let float = f32::from_bits(word);
    match float.is_normal() && (1e-9..1e9).contains(&float.abs()) {
        true => format!("{word} (as a float: {float})"),
        false => word.to_string(),
    }
}

/// The accesses of few threads to the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timeline {
    /// Which bytes.
    pub bytes: String,
    /// The accesses.
    pub accesses: Vec<Access>,
    /// What the first thread reads in the usual order, if that is what differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usually: Option<String>,
}

/// An access.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Access {
    /// The block: x, y, z.
    pub block: [u32; 3],
    /// The thread in its block: x, y, z.
    pub thread: [u32; 3],
    /// What it does, with the value.
    pub what: String,
    /// The source file, or the PTX file if the PTX has no line information.
    pub file: String,
    /// The line in it, from 1.
    pub line: u32,
}

impl Timeline {
    /// The timeline as text, each line with this indent: a column for each thread, and the source
    /// line. If that is wider than `width`, a line for each access instead.
    pub fn text(&self, indent: &str, width: usize) -> String {
        let mut text = format!("{indent}How it comes about, at {}:\n", self.bytes);
        let table = self.table();
        let lines = match table.iter().all(|line| indent.len() + 2 + line.len() <= width) {
            true => table,
            false => self.accesses.iter().map(Access::line_of_text).collect(),
        };
        for line in lines {
            text += &format!("{indent}  {line}\n");
        }
        if let Some(usually) = &self.usually {
            text += &format!("{indent}In the usual order {usually} is read.\n");
        }
        text
    }

    /// The timeline as SVG, which plays where the reader does not mind motion.
    pub fn svg(&self) -> String {
        let threads = self.threads();
        let step = |access: &Access| RaceStep {
            thread: threads.iter().position(|thread| *thread == access.thread()),
            what: access.what.clone(),
            place: access.place(),
        };
        picture::playing(&picture::race_svg(&Race {
            title: format!("How it comes about, at {}", self.bytes),
            steps: self.accesses.iter().map(step).collect(),
            note: self.usually.as_ref().map(|usually| format!("In the usual order {usually} is read.")),
            threads,
        }))
    }

    /// The threads that have a column.
    fn threads(&self) -> Vec<String> {
        let mut threads: Vec<String> = Vec::new();
        for thread in self.accesses.iter().map(Access::thread) {
            if !threads.contains(&thread) && threads.len() < THREADS {
                threads.push(thread);
            }
        }
        threads
    }

    /// The lines of the table.
    fn table(&self) -> Vec<String> {
        let threads = self.threads();
        let longest = threads.iter().chain(self.accesses.iter().map(|access| &access.what)).map(String::len).max();
        let width = longest.unwrap_or(0) + 2;
        let line = |cells: &[String], end: &str| {
            let cells: String = cells.iter().map(|cell| format!("{cell:width$}")).collect();
            format!("{cells}{end}").trim_end().to_owned()
        };
        let mut lines = vec![line(&threads, "")];
        for access in &self.accesses {
            let thread = access.thread();
            let cell = |column: &String| if *column == thread { access.what.clone() } else { String::new() };
            let cells: Vec<String> = threads.iter().map(cell).collect();
            lines.push(line(&cells, &access.place()));
        }
        lines
    }
}

impl Access {
    fn thread(&self) -> String {
        let number = |[x, y, z]: [u32; 3]| match (y, z) {
            (0, 0) => x.to_string(),
            _ => format!("({x}, {y}, {z})"),
        };
        format!("block {}, thread {}", number(self.block), number(self.thread))
    }

    fn place(&self) -> String {
        let file = self.file.rsplit(['/', '\\']).next().unwrap_or(&self.file);
        format!("{file}:{}", self.line)
    }

    fn line_of_text(&self) -> String {
        format!("{} {} ({})", self.thread(), self.what, self.place())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_a_column_and_a_fourth_none() {
        let access = |block: u32, what: &str, line| Access {
            block: [block, 0, 0],
            thread: [1, if block == 2 { 5 } else { 0 }, 0],
            what: what.into(),
            file: "folder/k.rs".into(),
            line,
        };
        let accesses = vec![
            access(0, "reads 0", 3),
            access(2, "reads 0", 3),
            access(2, "writes 1, over 0", 4),
            access(0, "writes 1, over 1", 4),
            access(7, "reads 1", 3),
            access(8, "reads 1", 3),
        ];
        let timeline = Timeline { bytes: "count[0]".into(), accesses, usually: Some("1".into()) };
        let expected = "\
  How it comes about, at count[0]:
    block 0, thread 1  block 2, thread (1, 5, 0)  block 7, thread 1
";
        let text = timeline.text("  ", 100);
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = text.lines().map(squeezed).collect();
        assert_eq!(lines[..2], expected.lines().map(squeezed).collect::<Vec<_>>());
        assert_eq!(
            lines[2..6],
            ["reads 0 k.rs:3", "reads 0 k.rs:3", "writes 1, over 0 k.rs:4", "writes 1, over 1 k.rs:4"]
        );
        let column = |line: &str, word: &str| line.find(word);
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(column(rows[3], "reads"), column(rows[1], "block 2"));
        assert_eq!(column(rows[5], "writes"), column(rows[1], "block 0"));
        assert_eq!(column(rows[7], "reads"), None, "a fourth thread has no column: {text}");
        assert_eq!(lines[8], "In the usual order 1 is read.");
        let svg = timeline.svg();
        for part in
            ["writes 1, over 1</text>", "k.rs:4</text>", "another thread reads 1, at k.rs:3.", "@keyframes plays6-5"]
        {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        let narrow = timeline.text("", 60);
        assert!(narrow.contains("\n  block 2, thread (1, 5, 0) writes 1, over 0 (k.rs:4)\n"), "{narrow}");
        assert!(narrow.lines().all(|line| line.len() <= 60), "{narrow}");
    }
}
