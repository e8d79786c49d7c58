//! A fault of the kernel as data, for the JSON reports. The flow of labs and `host run` make it of
//! errors and findings.

use device::Error;
use serde::Serialize;
use simt::faults::{AllocationSpan, SourcePosition, own_frame};
use simt::{Finding, Trap, TrapKind};
use wording::one_line;

/// What the kernel did wrong, and where, as far as the device reports it. A GPU reports only the
/// kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fault {
    /// Its kind, as a word that programs can compare.
    pub kind: &'static str,
    /// The check that found it: `memory`, `init`, `race`, `sync` or `undefined`; `None` if it
    /// stopped the kernel.
    pub check: Option<&'static str>,
    /// The message for people.
    pub message: String,
    /// What happened, without where: the part of the message that no other part of the fault says.
    #[serde(skip)]
    pub what: String,
    /// The kernel that was launched.
    pub kernel: String,
    /// The source file, or the PTX file if the PTX has no line information.
    pub file: Option<String>,
    /// The line in that file, from 1.
    pub line: Option<u32>,
    /// If the instruction was inlined, the calls that it was inlined through, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
    /// The block: x, y, z.
    pub block: Option<[u32; 3]>,
    /// The thread in its block: x, y, z.
    pub thread: Option<[u32; 3]>,
    /// The address that was accessed.
    pub address: Option<u64>,
    /// Bytes of that access.
    pub width: Option<u32>,
    /// The line in the PTX file, from 1.
    pub ptx_line: Option<u32>,
    /// The PTX instruction.
    pub instruction: Option<String>,
    /// How many times it happened.
    pub count: u64,
    /// The allocation concerned: address and size.
    pub allocation: Option<Allocation>,
    /// The other access of a race, or the asynchronous copy.
    pub other: Option<Other>,
}

/// An allocation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Allocation {
    /// The address of its first byte.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
}

/// The earlier access.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Other {
    /// As in [`Fault`].
    pub file: String,
    /// As in [`Fault`].
    pub line: u32,
    /// As in [`Fault`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
    /// As in [`Fault`].
    pub block: [u32; 3],
    /// As in [`Fault`].
    pub thread: [u32; 3],
    /// As in [`Fault`].
    pub ptx_line: u32,
    /// As in [`Fault`].
    pub instruction: String,
}

/// A frame of an inlined call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Frame {
    /// The file.
    pub file: String,
    /// The line in it, from 1.
    pub line: u32,
    /// The column, from 1; 0 if the compiler did not say.
    pub column: u32,
}

/// The frames of an instruction that was inlined, innermost first; none if it was not.
fn frames(source: &[SourcePosition]) -> Vec<Frame> {
    let frame = |SourcePosition { file, line, column }: &SourcePosition| Frame {
        file: file.clone(),
        line: *line,
        column: *column,
    };
    if source.len() > 1 { source.iter().map(frame).collect() } else { Vec::new() }
}

/// File and line of an instruction: in the reader's own code, or in the PTX if that has no line
/// information.
fn place(source: &[SourcePosition], module: &str, ptx_line: u32) -> (String, u32) {
    let own = own_frame(source).map(|at| &source[at]);
    own.map_or((module.to_owned(), ptx_line), |source| (source.file.clone(), source.line))
}

impl Fault {
    /// The fault that an error reports, if any.
    pub fn of(error: &Error) -> Option<Self> {
        let Error::Fault { kernel, fault, trap } = error else {
            return None;
        };
        let trap = trap.as_deref();
        let place = trap.map(|trap| place(&trap.source, &trap.module, trap.ptx_line));
        let (address, width) = match trap.map(|trap| &trap.kind) {
            Some(&TrapKind::Access { address, width, .. }) => (Some(address), Some(width)),
            Some(&TrapKind::Free { address, .. }) => (Some(address), None),
            _ => (None, None),
        };
        Some(Self {
            kind: trap.map_or("gpu", |trap| trap.kind.name()),
            message: fault.clone(),
            what: trap.map_or_else(|| fault.clone(), |trap| trap.what() + around(trap, fault).1),
            kernel: kernel.clone(),
            check: None,
            line: place.as_ref().map(|(_, line)| *line),
            file: place.map(|(file, _)| file),
            frames: trap.map(|trap| frames(&trap.source)).unwrap_or_default(),
            block: trap.map(|trap| trap.block),
            thread: trap.map(|trap| trap.thread),
            address,
            width,
            ptx_line: trap.map(|trap| trap.ptx_line),
            instruction: trap.map(|trap: &Trap| trap.instruction.clone()),
            count: 1,
            allocation: None,
            other: None,
        })
    }

    /// A fault that the sanitizer found.
    pub fn found(finding: &Finding) -> Self {
        let Finding { kind, kernel, module, first, second, count } = finding;
        let (file, line) = place(&first.source, module, first.ptx_line);
        Self {
            kind: kind.name(),
            check: Some(kind.check()),
            message: finding.to_string(),
            what: kind.to_string(),
            kernel: kernel.clone(),
            file: Some(file),
            line: Some(line),
            frames: frames(&first.source),
            block: Some(first.block),
            thread: Some(first.thread),
            address: kind.address(),
            width: kind.width(),
            ptx_line: Some(first.ptx_line),
            instruction: Some(first.instruction.clone()),
            count: *count,
            allocation: kind.allocation().map(|AllocationSpan { address, bytes }| Allocation { address, bytes }),
            other: second.as_ref().map(|site| {
                let (file, line) = place(&site.source, module, site.ptx_line);
                Other {
                    file,
                    line,
                    frames: frames(&site.source),
                    block: site.block,
                    thread: site.thread,
                    ptx_line: site.ptx_line,
                    instruction: site.instruction.clone(),
                }
            }),
        }
    }
}

/// What stands before and after the trap's own text in an error's message: which launch it was,
/// and advice.
pub(super) fn around<'m>(trap: &Trap, message: &'m str) -> (&'m str, &'m str) {
    message.split_once(&one_line(&trap.to_string())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_gpu_the_kernel_and_the_message_are_known() {
        let error = Error::Fault { kernel: "k".into(), fault: "kernel k: illegal address".into(), trap: None };
        let fault = Fault::of(&error).unwrap();
        assert_eq!(
            (fault.kind, fault.kernel.as_str(), fault.message.as_str()),
            ("gpu", "k", "kernel k: illegal address")
        );
        assert_eq!((fault.file, fault.line, fault.block, fault.address), (None, None, None, None));
    }

    #[test]
    fn other_errors_are_no_faults() {
        assert_eq!(Fault::of(&Error::NoGpu("there is none".into())), None);
    }

    #[test]
    fn the_source_is_named_before_the_ptx() {
        let trap = Trap {
            kind: TrapKind::TrapInstruction,
            kernel: "k".into(),
            function: "k".into(),
            instruction: "trap;".into(),
            module: "k.ptx".into(),
            ptx_line: 30,
            source: vec![simt::faults::SourcePosition { file: "k.rs".into(), line: 7, column: 1 }],
            block: [1, 2, 3],
            thread: [4, 5, 6],
            warp: 0,
            lane: 4,
            findings: Vec::new(),
        };
        let of = |trap: &Trap| {
            let error =
                Error::Fault { kernel: "k".into(), fault: trap.to_string(), trap: Some(Box::new(trap.clone())) };
            Fault::of(&error).unwrap()
        };
        let fault = of(&trap);
        assert_eq!((fault.kind, fault.file.as_deref(), fault.line), ("trap", Some("k.rs"), Some(7)));
        assert_eq!((fault.ptx_line, fault.block, fault.thread), (Some(30), Some([1, 2, 3]), Some([4, 5, 6])));
        assert_eq!((fault.address, fault.width), (None, None));
        assert_eq!(fault.what, "trap instruction (a panic, usually)");
        let fault = of(&Trap { source: Vec::new(), ..trap });
        assert_eq!((fault.file.as_deref(), fault.line), (Some("k.ptx"), Some(30)));
    }
}
