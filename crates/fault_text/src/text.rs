//! Faults as text: what happened, where, the source line, the calls that inlined it, the other
//! access, and how often. Reads sources through [`crate::sources`] and returns text.

use std::fmt::Write;
use std::path::PathBuf;

use device::names;
use simt::faults::{AccessAction, Site, SourcePosition, own_frame};
use simt::{Finding, Trap};
use wording::printable;

use crate::sources::{LINES_BY_COMPILERS, Sources};

/// The most frames of an inlined call that are shown on either side of the reader's own line.
const MOST_FRAMES: usize = 4;

/// All findings in this many columns, one below the other, and how many occurrences of other faults
/// there are beyond; their sources may also be in these folders.
pub fn findings(list: &[Finding], beyond: u64, width: usize, folders: &[PathBuf]) -> String {
    let mut page = Page::new(width, folders);
    for finding in list {
        page.finding(finding);
        page.text.push('\n');
    }
    let nowhere = |finding: &Finding| finding.first.source.is_empty();
    if !list.is_empty() && list.iter().all(nowhere) {
        page.text += &(wording::wrapped(LINES_BY_COMPILERS, width, "", "") + "\n\n");
    }
    if beyond > 0 {
        let _ = writeln!(page.text, "{beyond} more occurrences of other faults are not shown.");
    }
    page.text
}

/// The trap that stopped a kernel, in this many columns, between which launch it was and advice.
/// Its source may also be in these folders.
pub fn trap(trap: &Trap, (launch, advice): (&str, &str), width: usize, folders: &[PathBuf]) -> String {
    let mut page = Page::new(width, folders);
    page.paragraph(
        "",
        "    ",
        &format!("error: {launch}kernel `{}`: {}{advice}", names::shown(&trap.kernel), trap.what()),
    );
    page.place(&trap.source, &trap.module, trap.ptx_line);
    page.note(&format!("{}: `{}`", who(trap.thread, trap.block), trap.instruction));
    if trap.function != trap.kernel {
        page.note(&format!("in function `{}`", names::shown(&trap.function)));
    }
    match trap.source.is_empty() {
        true => page.note(LINES_BY_COMPILERS),
        false => page.note(&format!("{}:{}", trap.module, trap.ptx_line)),
    }
    page.text
}

fn who(thread: [u32; 3], block: [u32; 3]) -> String {
    let triple = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
    format!("thread {} of block {}", triple(thread), triple(block))
}

/// A text of faults that is being written, and the sources that it quotes.
struct Page {
    text: String,
    sources: Sources,
    width: usize,
}

impl Page {
    fn new(width: usize, folders: &[PathBuf]) -> Self {
        Self { text: String::new(), sources: Sources::also_in(folders), width }
    }

    fn finding(&mut self, finding: &Finding) {
        let Finding { kind, first, second, count, kernel, module } = finding;
        self.paragraph("", "    ", &format!("fault[{}]: {kind}", kind.check()));
        let does = |site: &Site| {
            let does = site.action.map_or("executes", |action| match action {
                AccessAction::Read => "reads",
                AccessAction::Write => "writes",
                AccessAction::Atomic => "updates",
            });
            format!("{} {does}: `{}`", who(site.thread, site.block), site.instruction)
        };
        self.place(&first.source, module, first.ptx_line);
        self.note(&does(first));
        if let Some(second) = second {
            self.place(&second.source, module, second.ptx_line);
            self.note(&format!("before, {}", does(second)));
        }
        let allocation = kind.allocation().zip(kind.address());
        let known = |(allocation, _): &(simt::faults::AllocationSpan, u64)| second.is_some() && allocation.bytes > 0;
        if let Some((allocation, address)) = allocation.filter(known) {
            let at = address.saturating_sub(allocation.address);
            self.note(&format!("byte {at} of {} bytes at {:#x}", allocation.bytes, allocation.address));
        }
        let times = if *count == 1 { "once".to_owned() } else { format!("{count} times") };
        self.note(&format!("in kernel `{}`, {times}", names::shown(kernel)));
    }

    /// The file and line in the reader's own code, the line's text if the source was found, and
    /// the calls that were inlined there.
    fn place(&mut self, frames: &[SourcePosition], module: &str, ptx_line: u32) {
        let Some(own) = own_frame(frames) else {
            let _ = writeln!(self.text, "  --> {}", printable(&format!("{module}:{ptx_line}")));
            return;
        };
        let source = &frames[own];
        let _ = writeln!(self.text, "  --> {}", printable(&source.to_string()));
        self.sources.find(&source.file, module);
        if let Some(line) = self.sources.line(&source.file, source.line) {
            let number = source.line.to_string();
            let room = self.width.saturating_sub(number.len().max(4) + 3);
            let code: String = printable(&line.trim().replace('\t', " ")).chars().take(room).collect();
            let _ = writeln!(self.text, "{number:>4} | {code}");
        }
        self.frames("which inlines", frames[..own].iter().rev());
        self.frames("inlined at", frames[own + 1..].iter());
    }

    /// The frames on one side of the reader's own, the nearest first.
    fn frames<'f>(&mut self, what: &str, frames: impl ExactSizeIterator<Item = &'f SourcePosition>) {
        let more = frames.len().saturating_sub(MOST_FRAMES);
        let mut shown: Vec<String> = frames.take(MOST_FRAMES).map(ToString::to_string).collect();
        if more > 0 {
            shown.push(format!("{more} more"));
        }
        if !shown.is_empty() {
            self.note(&format!("{what} {}", shown.join(", ")));
        }
    }

    fn note(&mut self, note: &str) {
        self.paragraph("   = ", "     ", note);
    }

    fn paragraph(&mut self, first: &str, others: &str, words: &str) {
        self.text += &wording::wrapped(&printable(words), self.width, first, others);
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt::faults::{AllocationSpan, Conflict, FindingKind, RaceScope};
    use wording::WIDTH;

    #[test]
    fn both_parties_are_shown_within_a_hundred_columns() {
        let site = |line, thread, action| Site {
            action: Some(action),
            function: "k".into(),
            instruction: "ld.shared.f32 %f1, [%r5];".into(),
            ptx_line: 30 + line,
            source: vec![SourcePosition { file: "no/such/kernel.rs".into(), line, column: 5 }],
            block: [2, 0, 0],
            thread,
        };
        let finding = Finding {
            kind: FindingKind::Race {
                scope: RaceScope::Block,
                conflict: Conflict {
                    space: ptx::Space::Shared,
                    address: 0x84,
                    width: 4,
                    actions: [AccessAction::Read, AccessAction::Write],
                    allocation: AllocationSpan { address: 0, bytes: 4224 },
                },
            },
            kernel: "k".into(),
            module: "k.ptx".into(),
            first: site(9, [1, 0, 0], AccessAction::Read),
            second: Some(site(7, [0, 1, 0], AccessAction::Write)),
            count: 992,
        };
        let text = findings(&[finding], 3, WIDTH, &[]);
        let expected = "\
fault[race]: race in a block: read of 4 bytes at shared address 0x84 after another thread's write,
    with no barrier between them
  --> no/such/kernel.rs:9:5
   = thread (1, 0, 0) of block (2, 0, 0) reads: `ld.shared.f32 %f1, [%r5];`
  --> no/such/kernel.rs:7:5
   = before, thread (0, 1, 0) of block (2, 0, 0) writes: `ld.shared.f32 %f1, [%r5];`
   = byte 132 of 4224 bytes at 0x0
   = in kernel `k`, 992 times

3 more occurrences of other faults are not shown.
";
        assert_eq!(text, expected);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
    }
}
