//! What checks found, or what stopped a kernel: each fault once, by its parts. Pure.

use maud::{Markup, html};

use crate::faults::{Allocation, Fault, Frame, Other};

/// The faults, one below the other. Several rows may have one fault.
pub(super) fn list(faults: &[Fault]) -> Markup {
    let once = super::each_once(faults.iter().map(|fault| &fault.message));
    let faults = once.into_iter().filter_map(|message| faults.iter().find(|fault| fault.message == *message));
    html! { @for fault in faults { (entry(fault)) } }
}

fn entry(fault: &Fault) -> Markup {
    html! {
        div.fault {
            p.finding { (fault.what) }
            dl { @for (name, value) in parts(fault) { dt { (name) } dd { (value) } } }
        }
    }
}

/// What is known of it, by name.
fn parts(fault: &Fault) -> Vec<(&'static str, Markup)> {
    let known = [
        ("kind", Some(html! { code { (fault.kind) } @if let Some(check) = fault.check { ", of --check " (check) } })),
        ("line", fault.file.as_ref().zip(fault.line).map(|(file, line)| html! { code { (file) ":" (line) } })),
        ("inlined", (!fault.frames.is_empty()).then(|| inlined(fault))),
        ("thread", fault.thread.zip(fault.block).map(|(thread, block)| who(thread, block))),
        ("address", fault.address.map(|address| at(address, fault))),
        ("instruction", fault.instruction.as_ref().map(|text| instruction(text, fault.ptx_line))),
        ("before it", fault.other.as_ref().map(other)),
        ("kernel", Some(html! { code { (fault.kernel) } })),
        ("how often", (fault.count > 1).then(|| html! { (fault.count) " times" })),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn who([x, y, z]: [u32; 3], block: [u32; 3]) -> Markup {
    html! { "(" (x) ", " (y) ", " (z) ") of block (" (block[0]) ", " (block[1]) ", " (block[2]) ")" }
}

fn at(address: u64, fault: &Fault) -> Markup {
    html! {
        code { (format!("{address:#x}")) }
        @if let Some(width) = fault.width { ", " (width) @if width == 1 { " byte" } @else { " bytes" } }
        @if let Some(Allocation { address: first, bytes }) = fault.allocation.filter(|it| it.bytes > 0) {
            @match address.checked_sub(first).filter(|&offset| offset < bytes) {
                Some(offset) => { "; byte " (offset) " of " (bytes) " at " }
                None => { "; outside of the " (bytes) " bytes at " }
            }
            code { (format!("{first:#x}")) }
        }
    }
}

fn instruction(text: &str, line: Option<u32>) -> Markup {
    html! { code { (text) } @if let Some(line) = line { " in line " (line) " of the PTX" } }
}

/// The calls that it was inlined through, innermost first.
fn inlined(fault: &Fault) -> Markup {
    let frames = fault.frames.iter().map(|Frame { file, line, .. }| format!("{file}:{line}"));
    html! { code { (frames.collect::<Vec<_>>().join(", in ")) } }
}

/// The earlier access.
fn other(other: &Other) -> Markup {
    let Other { file, line, block, thread, ptx_line, instruction: text, .. } = other;
    html! { "thread " (who(*thread, *block)) ", " code { (file) ":" (line) } ": " (instruction(text, Some(*ptx_line))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(address: u64) -> Fault {
        Fault {
            kind: "out_of_bounds",
            check: Some("memory"),
            message: format!("kernel `k`: at {address:#x}"),
            what: "out of bounds".into(),
            kernel: "k".into(),
            file: Some("k.rs".into()),
            line: Some(7),
            frames: Vec::new(),
            block: Some([1, 0, 0]),
            thread: Some([2, 0, 0]),
            address: Some(address),
            width: Some(4),
            ptx_line: Some(30),
            instruction: Some("ld.global.f32 %f1, [%rd1];".into()),
            count: 1,
            allocation: Some(Allocation { address: 0x100, bytes: 16 }),
            other: None,
        }
    }

    #[test]
    fn a_fault_has_its_parts_once() {
        let text = list(&[fault(0x108), fault(0x108)]).into_string();
        assert_eq!(text.matches("out of bounds").count(), 1);
        for part in [
            "<dt>line</dt><dd><code>k.rs:7</code></dd>",
            "<dt>thread</dt><dd>(2, 0, 0) of block (1, 0, 0)</dd>",
            "<code>0x108</code>, 4 bytes; byte 8 of 16 at <code>0x100</code>",
            "[%rd1];</code> in line 30 of the PTX",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("how often") && !text.contains("before it"), "{text}");
    }

    #[test]
    fn an_address_beyond_an_allocation_is_outside_of_it() {
        for address in [0xfc, 0x110] {
            let text = list(&[fault(address)]).into_string();
            assert!(text.contains("; outside of the 16 bytes at <code>0x100</code>"), "{text}");
        }
    }
}
