//! Findings as text: what happened, where, the source line, the other access, and how often. [`super`] calls it. Reads
//! sources through [`crate::sources`] and returns text.

use std::fmt::Write;

use device::names;
use simt::{Finding, Site};
use wording::{WIDTH, printable};

use super::Findings;
use crate::sources::Sources;

/// All findings, one below the other.
pub(super) fn of(findings: &Findings) -> String {
    let mut sources = Sources::default();
    let mut text = String::new();
    for finding in &findings.list {
        push(&mut text, finding, &mut sources);
        text.push('\n');
    }
    if findings.beyond > 0 {
        let _ = writeln!(text, "{} more occurrences of other faults are not shown.", findings.beyond);
    }
    text
}

fn push(text: &mut String, finding: &Finding, sources: &mut Sources) {
    let Finding { kind, first, second, count, kernel, module } = finding;
    push_paragraph(text, "", "    ", &format!("fault[{}]: {kind}", kind.check()));
    let does = |site: &Site| {
        site.action.map_or("executes", |action| match action {
            simt::AccessAction::Read => "reads",
            simt::AccessAction::Write => "writes",
            simt::AccessAction::Atomic => "updates",
        })
    };
    push_site(text, first, module, sources);
    note(text, &format!("{} {}: `{}`", who(first), does(first), first.instruction));
    if let Some(second) = second {
        push_site(text, second, module, sources);
        note(text, &format!("before, {} {}: `{}`", who(second), does(second), second.instruction));
    }
    let allocation = kind.allocation().zip(kind.address());
    if let Some((allocation, address)) = allocation.filter(|(allocation, _)| second.is_some() && allocation.bytes > 0) {
        let at = address.saturating_sub(allocation.address);
        note(text, &format!("byte {at} of {} bytes at {:#x}", allocation.bytes, allocation.address));
    }
    let times = if *count == 1 { "once".to_owned() } else { format!("{count} times") };
    note(text, &format!("in kernel `{}`, {times}", names::shown(kernel)));
}

fn who(site: &Site) -> String {
    let triple = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
    format!("thread {} of block {}", triple(site.thread), triple(site.block))
}

/// The file and line, and the line's text if the source was found.
fn push_site(text: &mut String, site: &Site, module: &str, sources: &mut Sources) {
    let place = match site.source.first() {
        Some(source) => source.to_string(),
        None => format!("{module}:{}", site.ptx_line),
    };
    let _ = writeln!(text, "  --> {}", printable(&place));
    let Some(source) = site.source.first() else { return };
    sources.find(&source.file, module);
    if let Some(line) = sources.line(&source.file, source.line) {
        let number = source.line.to_string();
        let code: String = printable(&line.trim().replace('\t', " ")).chars().take(WIDTH - number.len() - 5).collect();
        let _ = writeln!(text, "{number:>4} | {code}");
    }
}

fn note(text: &mut String, note: &str) {
    push_paragraph(text, "   = ", "     ", note);
}

fn push_paragraph(text: &mut String, first: &str, others: &str, words: &str) {
    *text += &wording::wrapped(&printable(words), WIDTH, first, others);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt::{AccessAction, AllocationSpan, Conflict, FindingKind, RaceScope, SourcePosition};

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
        let text = of(&Findings { list: vec![finding], beyond: 3 });
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
