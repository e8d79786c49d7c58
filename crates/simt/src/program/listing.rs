//! Instructions as reports and traps show them: text, line, source position.

use std::collections::HashMap;
use std::sync::Arc;

use ptx::{AtomicOp, Function, Handle, Kind, Location, Module, Op, Space};

use super::facts::facts;
use crate::CountsDiffer;
use crate::error::span_text;
use crate::instruction::{AccessKind, InstructionClass, InstructionInfo, SourceLine};
use crate::own_code::is_library;
use crate::site::SourcePosition;

/// The most frames of an inlined call that are looked at.
const DEEPEST: usize = 1000;

/// What reports show of the instructions at these positions. `kinds` has those of atomic operations
/// that the hardware makes otherwise, by place, and `differs` branches after which it can count
/// otherwise.
pub(super) fn places(
    module: &Module,
    positions: &[(Handle<Function>, u32)],
    kinds: &HashMap<u32, AccessKind>,
    differs: &HashMap<u32, CountsDiffer>,
) -> Arc<[InstructionInfo]> {
    let mut names: HashMap<Handle<Function>, Arc<str>> = HashMap::new();
    let mut files: HashMap<usize, Arc<str>> = HashMap::new();
    let mut libraries = HashMap::new();
    let mut list = Vec::with_capacity(positions.len());
    for &(handle, index) in positions {
        let function = &module.functions[handle];
        let Some(instruction) = function.body.as_ref().and_then(|body| body.get(index as usize)) else { continue };
        let source = instruction.location.and_then(|location| blamed(module, location, &mut libraries));
        list.push(InstructionInfo {
            function: names.entry(handle).or_insert_with(|| function.name.as_str().into()).clone(),
            text: span_text(module, instruction.span).into(),
            ptx_line: module.line(instruction.span.start),
            source: source.map(|place| SourceLine {
                file: files
                    .entry(place.file.index())
                    .or_insert_with(|| module.files[place.file].path.as_str().into())
                    .clone(),
                line: place.line,
            }),
            differs: match is_retried(&instruction.op) {
                true => Some(CountsDiffer::Retried),
                false => differs.get(&(list.len() as u32)).copied(),
            },
            class: match kinds.get(&(list.len() as u32)) {
                Some(&kind) => InstructionClass::Access(kind),
                None => facts(&instruction.op).class(instruction.guard.is_some()),
            },
        });
    }
    list.into()
}

/// Whether the hardware makes an instruction as a loop, if it accesses shared memory: it has sums
/// of floats, and operations on 64 bits, in other memory alone.
fn is_retried(op: &Op) -> bool {
    let Op::Atomic { space: Space::Shared | Space::ClusterShared | Space::Generic, op, ty, .. } = op else {
        return false;
    };
    let is_swap = matches!(op, AtomicOp::Exchange | AtomicOp::CompareAndSwap);
    !is_swap && (ty.kind() == Kind::Float || ty.bits() != 32)
}

/// The frame that is the reader's own code, of those with a line: code without a line in its
/// function may still belong to the line of an inlined call.
fn blamed(module: &Module, location: Handle<Location>, known: &mut HashMap<[usize; 2], bool>) -> Option<Location> {
    let frames = || module.inline_chain(location).take(DEEPEST).filter(|place| place.line > 0);
    let kernels = frames().last()?.file;
    let path = |file: Handle<ptx::SourceFile>| module.files[file].path.as_str();
    frames().find(|place| {
        let is_library = || is_library(path(place.file), path(kernels));
        !*known.entry([place.file.index(), kernels.index()]).or_insert_with(is_library)
    })
}

/// The source position of an instruction, then those of the calls that it was inlined through,
/// innermost first.
pub(crate) fn source(module: &Module, handle: Handle<Function>, index: u32) -> Vec<SourcePosition> {
    let body = module.functions[handle].body.as_deref().unwrap_or_default();
    let location = body.get(index as usize).and_then(|instruction| instruction.location);
    let frames = location.into_iter().flat_map(|location| module.inline_chain(location)).take(DEEPEST);
    let position = |Location { file, line, column, .. }: Location| SourcePosition {
        file: module.files[file].path.clone(),
        line,
        column,
    };
    frames.filter(|place| place.line > 0).map(position).collect()
}
