//! What checks found, or what stopped a kernel: each fault once, by its parts. Pure.

use maud::{Markup, html};

use crate::faults::{Allocation, Fault, Other};

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
            @match address.checked_sub(first) {
                Some(offset) => { "; byte " (offset) " of " (bytes) " at " code { (format!("{first:#x}")) } }
                None => { "; " (first - address) " before the " (bytes) " bytes at " code { (format!("{first:#x}")) } }
            }
        }
    }
}

fn instruction(text: &str, line: Option<u32>) -> Markup {
    html! { code { (text) } @if let Some(line) = line { " in line " (line) " of the PTX" } }
}

/// The earlier access.
fn other(other: &Other) -> Markup {
    let Other { file, line, block, thread, ptx_line, instruction: text } = other;
    html! { "thread " (who(*thread, *block)) ", " code { (file) ":" (line) } ": " (instruction(text, Some(*ptx_line))) }
}
