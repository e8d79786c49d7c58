//! The accesses of two or three threads to the bytes that decide a result, as data and as text.
//! `host run` makes one. Plain data.

use serde::Serialize;

/// Threads that are shown, at most.
const THREADS: usize = 3;

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
    /// The timeline as text: a column for each thread, and the source line.
    pub fn text(&self) -> String {
        let mut threads: Vec<([u32; 3], [u32; 3])> = Vec::new();
        for access in &self.accesses {
            let thread = (access.block, access.thread);
            if !threads.contains(&thread) && threads.len() < THREADS {
                threads.push(thread);
            }
        }
        let number = |[x, y, z]: [u32; 3]| match (y, z) {
            (0, 0) => x.to_string(),
            _ => format!("({x}, {y}, {z})"),
        };
        let title =
            |(block, thread): ([u32; 3], [u32; 3])| format!("block {}, thread {}", number(block), number(thread));
        let titles: Vec<String> = threads.iter().map(|&thread| title(thread)).collect();
        let longest = titles.iter().chain(self.accesses.iter().map(|access| &access.what)).map(String::len).max();
        let width = longest.unwrap_or(0) + 2;
        let mut text = format!("  How it comes about, at {}:\n", self.bytes);
        let mut line = |cells: &[String], end: &str| {
            let cells: String = cells.iter().map(|cell| format!("{cell:width$}")).collect();
            text += format!("    {cells}{end}").trim_end();
            text.push('\n');
        };
        line(&titles, "");
        for access in &self.accesses {
            let thread = (access.block, access.thread);
            let cell = |&column: &_| if column == thread { access.what.clone() } else { String::new() };
            let cells: Vec<String> = threads.iter().map(cell).collect();
            let file = access.file.rsplit(['/', '\\']).next().unwrap_or(&access.file);
            line(&cells, &format!("{file}:{}", access.line));
        }
        if let Some(usually) = &self.usually {
            text += &format!("  In the usual order {usually} is read.\n");
        }
        text
    }
}
